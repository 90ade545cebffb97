"""What is looked for in every page is found in a page that has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import axe
from tests.browser.serving import served
from tests.browser.visiting import focus_faults, layout_faults, opened

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>page</title>'
    '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
    "<style>body{{margin:0;background:#fff;color:#222}}{style}</style></head>"
    "<body><main><h1>Page</h1>{body}</main></body></html>"
)
GOOD = HEAD.format(style="", body='<p>Text and <a href="#x">a link</a>.</p><button>Press</button>')
FORMULA = (
    '<div style="width:300px"><div class="katex-display" style="overflow-x:auto"><p style="width:500px">x'
    "<annotation>\\text{wide}</annotation></p></div></div>"
)
WRONG = {
    "scrolls sideways at 360": ("", '<div style="width:375px">wide</div>'),
    "a formula is wider than a phone": ("", FORMULA),
    "scrolls without a cue": ("", '<pre style="overflow-x:auto">' + "wide " * 99 + "</pre>"),
    "a broken image": ("", '<img alt="none" src="data:image/png;base64,AAAA">'),
    "not typeset": ("", '<code class="katex-error">\\bogus</code>'),
    "focus does not show": ("button:focus{outline:none}", "<button>Press</button>"),
    "axe: color-contrast": ("p{color:#aaa}", "<p>Too faint.</p>"),
    "axe: button-name": ("", "<button></button>"),
    "asks https://127.0.0.1:9/": ("", '<img alt="far" src="https://127.0.0.1:9/x.svg">'),
    "did not get file:": ("", '<script src="missing.js"></script>'),
    "a script failed": ("", "<script>missing()</script>"),
}


def faults(browser: Browser, tmp_path: Path, page_source: str) -> list[str]:
    file = tmp_path / "page.html"
    file.write_text(page_source, encoding="utf-8")
    with opened(browser, file.as_uri(), viewport={"width": 390, "height": 844}) as (page, troubles):
        found = [*layout_faults(page), *focus_faults(page)]
        axe.load(page)
        return troubles + found + axe.violations(page) + axe.color_violations(page, set())


def test_a_good_page_has_no_fault(browser: Browser, tmp_path: Path) -> None:
    assert faults(browser, tmp_path, GOOD) == []


@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_is_found(browser: Browser, tmp_path: Path, fault: str) -> None:
    style, body = WRONG[fault]

    found = faults(browser, tmp_path, HEAD.format(style=style, body=body))

    assert any(each.startswith(fault) for each in found), found


def test_a_color_is_judged_again_on_another_ground_only(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    faint = '<p class="a">One.</p><p class="b">Two.</p><div class="dark"><p class="a">Three.</p></div>'
    file.write_text(HEAD.format(style="p{color:#777}.dark{background:#333}", body=faint))
    known: set[str] = set()
    with opened(browser, file.as_uri()) as (page, _):
        axe.load(page)
        first, second = axe.color_violations(page, known), axe.color_violations(page, known)

    assert len(first) == 2, "the paragraph on white, which stands for its like, and the one on gray"
    assert second == []


def test_the_server_compresses_text_and_notes_what_it_sent(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(GOOD + "<!-- " + "again " * 5000 + "-->")
    with served(tmp_path) as site, opened(browser, f"{site.address}/page.html") as (page, troubles):
        assert page.title() == "page"
        assert troubles == []

    assert [path for path, _ in site.sent] == ["/page.html"]
    assert 100 < site.weight() < 1500


def test_what_the_server_does_not_have_is_a_trouble(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(GOOD.replace("<h1>", '<script src="no.js"></script><h1>'))
    with served(tmp_path) as site, opened(browser, f"{site.address}/page.html") as (_, troubles):
        assert f"404 {site.address}/no.js" in troubles
