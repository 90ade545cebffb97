"""The built book as a site: what weighs what, what is found, what is remembered, what can be clicked."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.serving import Site, served
from tests.browser.test_every_page import names
from tests.browser.visiting import opened

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

PHONE = {"viewport": {"width": 390, "height": 844}}
DESKTOP = {"viewport": {"width": 1280, "height": 844}}
FIRST_VISIT, LATER_PAGE, REQUESTS = 600_000, 120_000, 25


@pytest.fixture(scope="module")
def site(book: Path) -> Iterator[Site]:
    with served(book) as site:
        yield site


def heaviest(book: Path, count: int) -> list[str]:
    """The pages whose own text is largest as it is sent, and the first page."""
    sizes = {name: len(gzip.compress((book / f"{name}.html").read_bytes())) for name in names()}
    assert max(sizes.values()) <= LATER_PAGE
    return [names()[0], *sorted(sizes, key=sizes.__getitem__)[-count:]]


def test_first_visits_and_later_pages_are_light(book: Path, site: Site, browser: Browser) -> None:
    heavy = []
    for name in heaviest(book, 4):
        site.sent.clear()
        with opened(browser, f"{site.address}/{name}.html", **PHONE) as (page, troubles):
            page.wait_for_load_state("networkidle")
            assert troubles == []
        shared = sum(size for path, size in site.sent if "/_static/" in path)
        page_alone = site.weight() - shared
        if site.weight() > FIRST_VISIT or len(site.sent) > REQUESTS or page_alone > LATER_PAGE:
            heavy.append((name, site.weight(), len(site.sent), page_alone))

    assert heavy == []


def test_what_is_below_the_first_view_is_laid_out_later_and_moves_little(
    site: Site, browser: Browser
) -> None:
    shifts = """() => new Promise(done => {
      new PerformanceObserver(list => done(list.getEntries().map(each => each.value)))
        .observe({type: "layout-shift", buffered: true});
      setTimeout(() => done([]), 500);
    })"""
    passed_over = "getComputedStyle(document.querySelector('.bd-article > section > section:last-child'))"
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html", **PHONE) as (page, _):
        page.locator("html.laid-out").wait_for(state="attached")

        assert page.evaluate(f"{passed_over}.contentVisibility") == "visible"
        assert sum(page.evaluate(shifts)) < 0.05

    unscripted = {**PHONE, "java_script_enabled": False}
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html", **unscripted) as (page, _):
        assert page.evaluate(f"{passed_over}.contentVisibility") == "auto"


def test_an_address_with_a_place_opens_at_that_place(site: Site, browser: Browser) -> None:
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html", **PHONE) as (page, _):
        place = page.locator(".bd-article > section > section").nth(3).get_attribute("id")
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html#{place}", **PHONE) as (page, _):
        page.wait_for_load_state("networkidle")
        top = page.evaluate(f"document.getElementById({place!r}).getBoundingClientRect().top")

        assert 0 <= top < 150


def test_a_link_to_a_place_in_a_page_leads_there_at_once(site: Site, browser: Browser) -> None:
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html", **DESKTOP) as (page, _):
        place = page.locator(".bd-article > section > section").nth(3).get_attribute("id")
        assert page.locator("html.laid-out").count() == 0
        page.locator(f"#pst-page-toc-nav a[href='#{place}']").click()
        page.wait_for_function("scrollY > 0")
        top = page.evaluate(f"document.getElementById({place!r}).getBoundingClientRect().top")

        assert 0 <= top < 150


def test_the_table_of_contents_follows_the_reader(site: Site, browser: Browser) -> None:
    follows = "name => document.querySelector(`#pst-page-toc-nav .nav-link.active[href='#${name}']`)"
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html#main-content", **DESKTOP) as (page, _):
        page.locator("html.laid-out").wait_for(state="attached")
        for section in page.locator(".bd-article > section > section").all()[1:4]:
            name = section.get_attribute("id")
            section.evaluate("each => each.scrollIntoView({behavior: 'instant'})")
            read_on = f"name => {{ scrollBy(0, 5); return ({follows})(name); }}"

            page.wait_for_function(read_on, arg=name, polling=100)


def test_a_search_over_http_finds_a_page_and_shows_its_lines(site: Site, browser: Browser) -> None:
    with opened(browser, f"{site.address}/search.html?q=variance", **PHONE) as (page, troubles):
        result = page.locator("#search-results li", has_text="Layer norm").first
        result.wait_for()

        assert result.locator(".context").first.inner_text() != ""
        assert not page.locator("#search-on-file").is_visible()
        assert troubles == []


def test_a_search_on_file_names_pages_and_says_what_is_missing(book: Path, browser: Browser) -> None:
    with opened(browser, (book / "search.html").as_uri() + "?q=variance", **PHONE) as (page, troubles):
        page.locator("#search-results li", has_text="Layer norm").first.wait_for()

        assert "opened as files" in page.locator("#search-on-file").inner_text()
        assert troubles == []


@pytest.mark.parametrize("view", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_sidebars_button_hides_and_shows_it(
    book: Path, browser: Browser, view: dict[str, object]
) -> None:
    with opened(browser, (book / "chapters/03_layer_norm.html").as_uri(), **view) as (page, _):
        chapter = page.locator("nav.bd-links a", has_text="Attention").first
        button = page.locator("button.primary-toggle")
        before = chapter.is_visible()

        button.click()
        chapter.wait_for(state="hidden" if before else "visible")
        if before:
            button.click()
        else:
            page.keyboard.press("Escape")
        chapter.wait_for(state="visible" if before else "hidden")

        assert before == (view is DESKTOP)


def test_a_tab_is_remembered_on_the_next_page(site: Site, browser: Browser) -> None:
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html", **DESKTOP) as (page, troubles):
        page.locator("label.sd-tab-label", has_text="PyTorch").first.click()
        page.goto(f"{site.address}/chapters/05_attention.html")
        label = page.locator("label.sd-tab-label", has_text="PyTorch").first

        assert page.locator(f"#{label.get_attribute('for')}").is_checked()
        assert troubles == []


def test_the_mode_button_darkens_the_page_and_the_next(site: Site, browser: Browser) -> None:
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html", **DESKTOP) as (page, _):
        ground = "getComputedStyle(document.body).backgroundColor"
        button = page.locator("button.theme-switch-button").first
        for _ in range(3):
            if page.evaluate("document.documentElement.dataset.mode") != "dark":
                button.click()
        dark = page.evaluate(ground)
        page.goto(f"{site.address}/chapters/05_attention.html")

        assert page.evaluate(ground) == dark
        assert max(int(each) for each in re.findall(r"\d+", dark)[:3]) < 60


def test_the_first_tab_stop_leads_past_the_sidebar(book: Path, browser: Browser) -> None:
    with opened(browser, (book / "chapters/03_layer_norm.html").as_uri(), **DESKTOP) as (page, _):
        page.keyboard.press("Tab")
        first = page.locator(":focus")

        assert first.inner_text() == "Skip to main content"
        assert first.is_visible()
        first.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_code_is_copied_without_its_results(site: Site, browser: Browser) -> None:
    with opened(browser, f"{site.address}/chapters/03_layer_norm.html", **DESKTOP) as (page, _):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        cell = page.locator("div.cell", has=page.locator(".cell_output")).first
        cell.hover()
        cell.locator("button.copybtn").first.click()

        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.strip() == cell.locator(".cell_input pre").inner_text().strip()
