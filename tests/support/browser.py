"""A real browser that opens pages from disk, and whatever it complains about or asks anybody for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Dialog, Page, Request, sync_playwright

PROGRAMS = ("chromium-headless-shell", "chromium")  # Debian's; tools/setup-tests.sh installs the first
DESK, PHONE, NARROW = (1280, 900), (390, 844), (320, 640)
DEADLINE = 60_000  # milliseconds, on a busy machine too
RULES = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}


@dataclass
class Opened:
    """A page in the browser. `said`: on the console, errors too; `asked`: requests to anybody but for the page
    itself."""

    page: Page
    address: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)

    def _dialog(self, dialog: Dialog) -> None:
        self.said.append(dialog.message)
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if request.url.partition("#")[0] != self.address:
            self.asked.append(request.url)

    def is_quiet(self) -> bool:
        """Raises AssertionError that says what there was."""
        assert not self.said, self.said
        assert not self.asked, self.asked
        return True

    def width(self) -> int:
        """Pixels by which it is wider than the screen."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def violations(self) -> list[str]:
        """Of the rules of accessibility, with the elements."""
        return [
            f"{found['id']}: {', '.join(node['html'][:120] for node in found['nodes'][:4])}"
            for found in _axe().run(self.page, options=RULES).response["violations"]
        ]

    def shown(self, table: str) -> list[str]:
        """The rows of a table that are not filtered away."""
        rows: Sequence[str] = self.page.locator(f"#{table} tbody tr:visible").all_inner_texts()
        return [" ".join(row.split()) for row in rows]


@contextmanager
def browser() -> Iterator[Browser]:
    """The browser, without a network. Skips the test where there is none."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here: tools/setup-tests.sh could not install it")
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=[*root, "--disable-dev-shm-usage"])
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def opened(
    browser: Browser, file: Path, size: tuple[int, int] = DESK, dark: bool = False, fragment: str = ""
) -> Iterator[Opened]:
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", offline=True
    )
    context.set_default_timeout(DEADLINE)
    try:
        made = Opened(context.new_page(), file.absolute().as_uri())
        made.listen()
        made.page.goto(made.address + fragment)
        yield made
    finally:
        context.close()


@cache
def _axe() -> Axe:
    return Axe()
