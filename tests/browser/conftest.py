"""Elements of the book on a page of their own: a file, opened with the network cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.built import book
from tests.needs import chromium

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser, Page

__all__ = ["book"]  # a fixture

Open = Callable[..., "Page"]
HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>page</title>'
    '<meta name="viewport" content="width=device-width">'
)


class Shown(Protocol):
    def _repr_html_(self) -> str:
        """What a notebook puts in its page."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Write elements into a page, as a notebook does, and open the file; no error may occur in it."""
    errors: list[str] = []
    contexts = []

    def open_page(*elements: Shown, wide: int = 360, **choices: object) -> Page:
        file = tmp_path / "page.html"
        body = "".join(f"<div>{each._repr_html_()}</div>" for each in elements)
        file.write_text(f"{HEAD}<body>{body}</body></html>", encoding="utf-8")
        context = browser.new_context(viewport={"width": wide, "height": 800}, offline=True, **choices)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
