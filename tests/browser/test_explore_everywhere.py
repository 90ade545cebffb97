"""What all explorables owe: keys, a voice, no sideways scroll, and a table in print and without a script."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Open
from tests.browser.explored import ELEMENTS, TOKEN, numbers, only, press, says
from transformer_block.explore._element import Explorable

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

every = pytest.mark.parametrize("element", ELEMENTS.values(), ids=ELEMENTS)


@every
def test_a_result_is_said_once_the_hand_rests(open_page: Open, element: Explorable) -> None:
    page = open_page(element)
    spoken = only(page).locator("[aria-live='polite']")
    assert spoken.inner_text() == ""

    only(page).get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")

    from playwright.sync_api import expect

    expect(spoken).to_have_text(re.compile(r"\d"))


@every
def test_keys_alone_reach_every_control_and_show_where_they_are(open_page: Open, element: Explorable) -> None:
    page = open_page(element)
    frame = only(page).locator(".frame")
    controls = frame.locator("input, select, button:not([tabindex='-1']), [tabindex='0']:not(button)")

    reached = set()
    for _ in range(controls.count()):
        page.keyboard.press("Tab")
        focused = only(page).evaluate(
            """element => {
              const inside = element.shadowRoot.activeElement;
              const controls = [...element.shadowRoot.querySelectorAll("input, select, button, [tabindex]")];
              return [controls.indexOf(inside), getComputedStyle(inside).outlineStyle];
            }"""
        )
        reached.add(focused[0])
        assert focused[1] == "solid"
    assert len(reached) == controls.count()


@every
@pytest.mark.parametrize("wide", [360, 1280])
def test_the_page_never_scrolls_sideways(open_page: Open, element: Explorable, wide: int) -> None:
    page = open_page(element, wide=wide)

    for slider in only(page).get_by_role("slider").all():
        slider.fill(slider.get_attribute("max") or "")
        assert page.evaluate("document.documentElement.scrollWidth") <= wide
    press(only(page), "worked examples as a table")
    assert only(page).locator("table").last.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= wide


@every
def test_without_a_script_the_worked_examples_stand_there(open_page: Open, element: Explorable) -> None:
    page = open_page(element, java_script_enabled=False, wide=1280)

    rows = page.locator("tbody tr")
    assert rows.count() == len(element.rows)
    assert rows.last.is_visible()
    assert tuple(rows.last.locator("th, td").all_inner_texts()) == tuple(element.rows[-1])


@every
def test_print_shows_the_worked_examples_and_no_controls(open_page: Open, element: Explorable) -> None:
    page = open_page(element, wide=1280)

    page.emulate_media(media="print")

    assert page.locator("[data-start] > table").is_visible()
    assert not only(page).locator(".frame").is_visible()


def test_all_on_one_page_move_apart_and_one_put_in_later_moves_too(open_page: Open) -> None:
    page = open_page(ELEMENTS["layer-norm"], *ELEMENTS.values())
    first, second = page.locator("explore-layer-norm").all()

    press(first, "all × 2")
    assert numbers(says(second, "token")) == TOKEN

    page.evaluate(
        """() => {
          const old = document.querySelector("explore-masks");
          const div = document.createElement("div");
          div.innerHTML = old.outerHTML;
          document.body.append(div, old);
        }"""
    )
    for each in page.locator("explore-masks").all():
        press(each, "none")
        assert says(each, "queries that see nothing") != "none"


@every
def test_an_output_that_jupyterlab_puts_in_place_comes_to_life(open_page: Open, element: Explorable) -> None:
    page = open_page()

    page.evaluate(
        """output => {
          document.body.innerHTML = output; // runs no script: JupyterLab makes each one anew
          for (const script of document.querySelectorAll("script")) {
            const again = document.createElement("script");
            for (const { name, value } of script.attributes) again.setAttribute(name, value);
            again.textContent = script.textContent;
            script.replaceWith(again);
          }
        }""",
        element._repr_html_(),
    )

    assert only(page).get_by_role("slider").first.is_visible()
    assert only(page).get_attribute("data-lm-suppress-shortcuts") == "true"


def test_who_wants_less_motion_gets_none(open_page: Open) -> None:
    page = open_page(ELEMENTS["placement"], reduced_motion="reduce")

    duration = page.locator(".now").first.evaluate("bar => getComputedStyle(bar).transitionDuration")

    assert float(duration.split("s")[0]) == 0
