"""Every page of the built book, opened as a file with the network cut: whole, fitting, accessible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.browser import axe
from tests.browser.visiting import DESKTOP, focus_faults, layout_faults, opened
from tests.built import COURSE

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]


def names() -> list[str]:
    """Every page by its name: those of the table of contents, and the two that Sphinx adds."""
    toc = yaml.safe_load((COURSE / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [toc["root"], *chapters, "genindex", "search"]


@pytest.fixture(scope="module")
def known() -> set[str]:
    """The kinds of text whose color has been judged on an earlier page."""
    return set()


@pytest.mark.parametrize("name", names())
def test_a_page_has_no_fault(book: Path, browser: Browser, known: set[str], name: str) -> None:
    whole = (book / f"{name}.html").as_uri() + "#main-content"  # who asks for a place gets all of a page
    with opened(browser, whole, viewport={"width": 390, "height": 844}) as (page, troubles):
        page.locator("html.laid-out").wait_for(state="attached")
        faults = [*layout_faults(page), *focus_faults(page)]
        axe.load(page)
        faults += axe.violations(page)
        for width in (390, DESKTOP):
            page.set_viewport_size({"width": width, "height": 844})
            for mode in ("light", "dark"):
                page.evaluate(f"document.documentElement.dataset.theme = '{mode}'")
                faults += [f"{mode}, {width}: {each}" for each in axe.color_violations(page, known)]
        faults += [f"{DESKTOP}: {each}" for each in axe.violations(page)]
        assert troubles + faults == []
