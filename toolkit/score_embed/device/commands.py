"""The commands of a profile: flash, reset, power, safe state. Their placeholders are filled in, the image is converted
to what they want, and their failure is told with their own last words."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from score_embed.board import desk
from score_embed.command import run_command
from score_embed.errors import TargetError

DEADLINE = 300.0  # seconds
_LAST = 8  # lines of a failed command's output that are shown
_FORMATS = {"bin": "binary", "hex": "ihex"}


class Commands:
    """Runs commands about one image on one port."""

    def __init__(self, elf: Path, compiler: str, port: str, probe: str) -> None:
        self._values = {"elf": str(elf.absolute()), "port": port, "probe": probe}
        self._compiler = compiler
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # for the image in other formats

    def fill(self, command: desk.Command) -> list[str]:
        """The words of the command with every placeholder filled in. Raises TargetError."""
        if desk.uses(command, "probe") and not self._values["probe"]:
            hint = "Add `probe: NUMBER` to the device in the lab file, or to `serial` of the profile."
            raise TargetError("this command wants to know the debug probe's serial number", " ".join(command), hint)
        for name in _FORMATS:
            if desk.uses(command, name) and name not in self._values:
                self._values[name] = self._converted(name)
        return desk.fill(command, self._values)

    def run(self, what: str, command: desk.Command) -> None:
        """Run one to its end. Raises TargetError if that is no success."""
        self._run(what, self.fill(command))

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def _run(self, what: str, words: list[str]) -> None:
        try:
            # It has a group of its own: a terminal's Ctrl-C must not interrupt the flashing of a board.
            done = run_command(words, DEADLINE, merged=True, scratch=False)
        except subprocess.TimeoutExpired:
            raise TargetError(f"the {what} command did not end within {DEADLINE:.0f} s", words[0]) from None
        except OSError as error:
            hint = "Install it, or correct the profile."
            raise TargetError(f"the {what} command cannot be run: {error.strerror}", words[0], hint) from None
        if done.returncode:
            output = done.stdout.decode(errors="replace")
            said = [line for line in output.splitlines() if line.strip()][-_LAST:] or ["(nothing)"]
            hint = "It said:\n" + "\n".join(f"    {line}" for line in said)
            raise TargetError(f"the {what} command failed with exit status {done.returncode}", " ".join(words), hint)

    def _converted(self, name: str) -> str:
        """The image as .bin or .hex, made by the objcopy that belongs to the compiler."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="score-embed-")
        output = Path(self._folder.name) / f"image.{name}"
        own = re.sub(r"(gcc|clang|cc)(-[0-9]+)?$", "objcopy", self._compiler)
        tool = own if shutil.which(own) else "objcopy"
        self._run("objcopy", [tool, "-O", _FORMATS[name], self._values["elf"], str(output)])
        return str(output)
