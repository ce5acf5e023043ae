"""What a firmware brings of its own: linker script, vector table, start-up, objects, a watch-dog that runs.

The runtime keeps reset, faults, the UART and the test loop; the firmware's script says where things go, and its
table keeps its interrupt handlers. docs/firmware.md shows it, docs/design/runtime.md says why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from score_embed import places, yamlfile
from score_embed.board.hardware import Region
from score_embed.errors import UsageError

KEYS = ("linker-script", "vectors", "init", "objects", "watchdog", "feed", "restore")
KEEP = "keep"  # of `vectors`: the table is where flash begins
NO_INIT = "none"  # of `init`: nothing is called
WATCHDOGS = ("systick", "timer", "none")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Firmware:
    """Everything is optional: a plain program brings nothing of this. `places`: where the profile says each key."""

    script: Path | None = None
    vectors: str = ""  # a symbol, or KEEP
    init: str = ""  # the function that is called once after a reset, or NO_INIT
    objects: tuple[Path, ...] = ()
    watchdog: str = ""  # one of WATCHDOGS; empty: what the port has
    feed: tuple[tuple[int, int], ...] = ()  # registers and values that feed a watch-dog which runs already
    restore: tuple[str | Region, ...] = ()  # sections besides .data and .bss, and memory, that each test finds anew
    places: dict[str, str] = field(default_factory=dict, compare=False)

    def macros(self) -> dict[str, str]:
        """The C macros that tell the runtime."""
        found: dict[str, str] = {}
        if self.script is not None:
            found["SC_OWN_LAYOUT"] = "1"
        if self.vectors:
            found["SC_OWN_VECTORS"] = "1"
            found |= {"SC_INIT": "SystemInit", "SC_INIT_WEAK": "1"}
        if self.init:
            found.pop("SC_INIT_WEAK", None)
            found["SC_INIT"] = self.init
        if self.init == NO_INIT:
            found.pop("SC_INIT")
        if self.watchdog:
            found[f"SC_WATCHDOG_{self.watchdog.upper()}"] = "1"
        if self.feed:
            found["SC_FEED"] = ",".join(f"{{{at:#x},{value:#x}}}" for at, value in self.feed)
        return found


def read_firmware(doc: yamlfile.Section, runtime: str) -> tuple[str | None, Firmware]:
    """The port's linker script, if the profile names that one, and the keys above. Files are looked for beside the
    profile that names them."""
    shipped, script = _script(doc)
    found = Firmware(
        script=script,
        vectors=_symbol(doc, "vectors"),
        init=_symbol(doc, "init"),
        objects=tuple(_file(doc, "objects", name) for name in doc.texts("objects")),
        watchdog=doc.word("watchdog", WATCHDOGS, "systick") if "watchdog" in doc.values else "",
        feed=_feed(doc),
        restore=_restore(doc),
        places={key: doc.where(key) for key in KEYS if key in doc.values},
    )
    _check(doc, found, runtime)
    return shipped, found


def _check(doc: yamlfile.Section, found: Firmware, runtime: str) -> None:
    for key in ("vectors", "init", "watchdog", *(("linker-script",) if found.script else ())):
        if key in doc.values and runtime != "arm":
            what = f"{key!r} is for Cortex-M only, not for the runtime {runtime!r}"
            raise UsageError(what, doc.where(key), "Leave it out.")
    for key in ("vectors", "restore"):
        if key in doc.values and found.script is None:
            what = f"{key!r} needs a linker script of your own"
            raise UsageError(what, doc.where(key), "Add `linker-script: FILE.ld`, or leave it out.")
    if found.watchdog == "timer" and "timer" not in doc.values:
        hint = "Add `timer: {kind: stm32, at: 0x40000000, irq: 28, clock: 16MHz}`."
        raise UsageError("`watchdog: timer` needs a timer", doc.where("watchdog"), hint)


def _script(doc: yamlfile.Section) -> tuple[str | None, Path | None]:
    name = doc.text("linker-script", "")
    if not name:
        return None, None
    own = _beside(doc, "linker-script", name)
    if own.is_file():
        return None, own
    # the port's, or what ports share
    if "/" not in name and any((port / name).is_file() for port in places.shipped("runtime").iterdir()):
        return name, None
    raise UsageError(f"there is no linker script {name!r}", doc.where("linker-script"), f"Looked for {own}.")


def _beside(doc: yamlfile.Section, key: str, name: str) -> Path:
    return Path(doc.where(key).rpartition(":")[0]).absolute().parent / doc.file_name(key, name)


def _file(doc: yamlfile.Section, key: str, name: str) -> Path:
    path = _beside(doc, key, name)
    if not path.is_file():
        raise UsageError(f"{key}: there is no file {name!r}", doc.where(key), f"Looked for {path}.")
    return path


def _symbol(doc: yamlfile.Section, key: str) -> str:
    name = doc.text(key, "")
    if name and not _SYMBOL.fullmatch(name):
        raise UsageError(f"{key}: {name!r} is no symbol", doc.where(key), "Give its name in C.")
    return name


def _groups(doc: yamlfile.Section, key: str, hint: str) -> list[object]:
    value = doc.values.get(key)
    items = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(item, (yamlfile.Section, str)) for item in items):
        raise UsageError(f"{key!r} cannot be read", doc.where(key), hint)
    return items


def _feed(doc: yamlfile.Section) -> tuple[tuple[int, int], ...]:
    hint = "Write `feed: {at: 0x40003000, value: 0xAAAA}`, or a list of these."
    found: list[tuple[int, int]] = []
    for item in _groups(doc, "feed", hint):
        if not isinstance(item, yamlfile.Section):
            raise UsageError("'feed' is a register and a value", doc.where("feed"), hint)
        item.check_keys(("at", "value"), "key of `feed`")
        found.append((item.number("at"), item.number("value")))
    return tuple(found)


def _restore(doc: yamlfile.Section) -> tuple[str | Region, ...]:
    hint = "Write `restore: [.ccmram, .noinit, {at: 0x10000000, size: 1K}]`."
    found: list[str | Region] = []
    for item in _groups(doc, "restore", hint):
        if isinstance(item, yamlfile.Section):
            item.check_keys(("at", "size"), "key of `restore`")
            found.append(Region(item.number("at"), item.number("size")))
        else:
            found.append(str(item))
    return tuple(found)
