"""A learner's feedback in a real browser: it shows hostile texts, runs nothing and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.grading.classes import gallery

from block_course.grading.report import feedback
from tests.block_course.grading.hand_ins import edited
from tests.block_course.grading.report.hostile import PIECES, submission

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

TEXTS = ["".join(PIECES[start : start + 9]) for start in range(0, len(PIECES), 9)]
KNOWN = frozenset(edited().decode().replace("\\n", "\n").split("\n"))
IMAGE = "http://127.0.0.1:9/x.png"
INTRUDER = f"<script>document.title = 'ran'</script><img src='{IMAGE}' onerror=\"document.title = 'ran'\">"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def pages(folder: Path) -> list[Path]:
    feedback.write(folder, [submission(f"{text} {number}") for number, text in enumerate(TEXTS)], {})
    found = sorted(folder.rglob("*.html"))
    assert len(found) == len(TEXTS)
    return found


def own_text(path: Path) -> str:
    """What a hand-in has that the solution has not: the cells that were changed or added."""
    text = path.read_bytes().decode("utf-8", "replace")
    lines = [line for line in text.replace("\\n", "\n").split("\n") if line not in KNOWN]
    return "\n".join(lines)[-2000:]


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


def test_the_whole_gallery_runs_nothing_and_asks_for_nothing(page: Page, tmp_path: Path) -> None:
    """Each hand-in's own text is printed in full, which is more than a grading lets out; ten to a page."""
    noticed: list[str] = []
    page.on("request", lambda request: noticed.append(request.url))
    page.on("dialog", lambda dialog: noticed.append(dialog.message))
    said = [own_text(path) for path in sorted(gallery(tmp_path / "gallery").rglob("*.ipynb"))]
    texts = ["\n".join(said[start : start + 10]) for start in range(0, len(said), 10)]
    results = [{**submission(str(number)), "printed": text} for number, text in enumerate(texts)]
    feedback.write(tmp_path, results, {})  # type: ignore[arg-type]
    found = sorted((tmp_path / feedback.FOLDER).rglob("*.html"))

    for path in found:
        page.goto(path.as_uri())
        assert page.locator("script, img, iframe, svg, base, link, a, form").count() == 0

    assert len(found) == len(texts)
    assert noticed == [path.as_uri() for path in found]


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
