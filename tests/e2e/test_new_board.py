"""docs/new-board.md does what it says, in at most 25 lines of YAML, over both links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runner import score_embed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "new-board.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["semihosting", "uart"])
def test_the_page_makes_a_board(link: str, tmp_path: Path) -> None:
    ((profile,), (command,)) = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("yaml", "sh"))
    assert len(profile.splitlines()) <= 25
    (tmp_path / "boards").mkdir()
    text = profile.replace("qemu: {", f"qemu: {{link: {link}, ")
    (tmp_path / "boards" / "lm3s811evb.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = score_embed(*command.split()[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for said in re.findall(r"`(max3 on [^`]*|\d paths[^`]*)`", PAGE):
        assert said in done.stdout
