"""A learner's feedback in a real browser: it shows hostile texts, runs nothing and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from block_course.grading.report import feedback
from tests.block_course.grading.report.hostile import PIECES, submission
from tests.needs import chromium

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

TEXTS = ["".join(PIECES[start : start + 9]) for start in range(0, len(PIECES), 9)]
IMAGE = "http://127.0.0.1:9/x.png"
INTRUDER = f"<script>document.title = 'ran'</script><img src='{IMAGE}' onerror=\"document.title = 'ran'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def pages(folder: Path) -> list[Path]:
    feedback.write(folder, [submission(f"{text} {number}") for number, text in enumerate(TEXTS)], {})
    found = sorted(folder.rglob("*.html"))
    assert len(found) == len(TEXTS)
    return found


def opened(page: Page, path: Path) -> list[str]:
    """What the page asked for besides itself, and what it said or wanted to show."""
    noticed: list[str] = []
    page.on("request", lambda request: noticed.append(request.url))
    page.on("dialog", lambda dialog: noticed.append(dialog.message))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    noticed.remove(path.as_uri())
    return noticed


def test_hostile_texts_run_nothing_and_ask_for_nothing(page: Page, tmp_path: Path) -> None:
    for path in pages(tmp_path):
        assert opened(page, path) == []
        assert page.title() == "Feedback on 00_tiny"
        assert page.locator("script, img, iframe, svg, base, link, a, form").count() == 0


def test_what_a_learner_wrote_is_shown_as_it_is(page: Page, tmp_path: Path) -> None:
    (path,) = (each for each in pages(tmp_path) if "&lt;script&gt;alert" in each.read_text())

    opened(page, path)

    assert "<script>alert(1)</script>" in page.locator("main").inner_text()


def test_the_policy_would_stop_a_script_and_a_request_and_lets_our_style_through(
    page: Page, tmp_path: Path
) -> None:
    path = pages(tmp_path)[0]
    path.write_text(path.read_text().replace("<main>", f"<main>{INTRUDER}"))
    stopped: list[str | None] = []
    page.on("requestfailed", lambda request: stopped.append(request.failure))

    assert opened(page, path) == [IMAGE]  # asked for by the page, and refused before it went out

    assert stopped == ["csp"]
    assert page.locator("img").count() == 1
    assert page.title() == "Feedback on 00_tiny"
    assert (
        page.locator("blockquote").first.evaluate("each => getComputedStyle(each).whiteSpace") == "pre-wrap"
    )
