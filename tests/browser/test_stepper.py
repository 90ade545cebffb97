"""The stepper in a real browser: every way to move it, and what stands there without a script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.browser.conftest import Open
from transformer_block import in_python
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.parameters import initialize, perturb
from transformer_block.stepper import Stepper, step

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Locator

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

CONFIG = BlockConfig(d_model=10, n_heads=2, d_ff=16)
X = np.random.default_rng(6).normal(size=(3, 10))


def walk_of_it() -> Stepper:
    return step(in_python, token="it")


def walk_of_three() -> Stepper:
    block = Block(CONFIG, perturb(initialize(CONFIG, seed=1), seed=2))
    return step(block, X, tokens=["a", "<b>", "c"])


def stage(stepper: Locator) -> str:
    return stepper.locator(".name strong").inner_text()


def result(stepper: Locator) -> str:
    return stepper.locator("dd").filter(has_text=re.compile(r"^\[")).first.inner_text()


def test_buttons_walk_on_and_back_and_stop_at_the_ends(open_page: Open) -> None:
    stepper = open_page(walk_of_it()).locator("block-stepper")
    walk = in_python.walk("it")

    seen = [stage(stepper)]
    for _ in range(8):  # one more than there are: by force, because the last button counts as disabled
        stepper.get_by_role("button", name="one stage on").click(force=True)
        seen.append(stage(stepper))
    assert seen == [*(name for name, _ in walk), "norm_2"]

    stepper.get_by_role("button", name="one stage back").click()
    assert (stage(stepper), result(stepper)) == ("add_2", "[1.830, −1.470]")
    assert stepper.get_by_role("button", name="one stage on").get_attribute("aria-disabled") == "false"


def test_keys_walk_from_a_button_and_from_the_slider(open_page: Open) -> None:
    page = open_page(walk_of_it())
    stepper = page.locator("block-stepper")

    stepper.get_by_role("button", name="one stage on").focus()
    page.keyboard.press("ArrowRight")
    assert (stage(stepper), result(stepper)) == ("add_position", "[1.597, 0.526]")
    page.keyboard.press("End")
    assert (stage(stepper), result(stepper)) == ("norm_2", "[1.000, −1.000]")
    stepper.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    assert stage(stepper) == "add_2"
    page.keyboard.press("Home")
    assert (stage(stepper), result(stepper)) == ("embedding", "[1.400, 0.300]")


def test_the_slider_goes_to_any_stage_and_says_which(open_page: Open) -> None:
    stepper = open_page(walk_of_it()).locator("block-stepper")
    slider = stepper.get_by_role("slider")

    slider.fill("2")

    assert (stage(stepper), result(stepper)) == ("attention", "[0.452, −0.396]")
    assert slider.get_attribute("aria-valuetext") == "stage 3 of 8: attention"
    assert stepper.locator("[aria-live]").inner_text() == "stage 3 of 8: attention [0.452, −0.396]"


def test_a_swipe_walks_and_a_tap_does_not(open_page: Open) -> None:
    page = open_page(walk_of_it(), has_touch=True)
    stepper = page.locator("block-stepper")
    box = stepper.locator(".bars").bounding_box()
    assert box is not None
    touch = page.context.new_cdp_session(page)

    def swipe(across: float) -> None:
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for kind, shift in (("touchStart", 0.0), ("touchMove", across / 2), ("touchMove", across)):
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x + shift, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    swipe(-90)
    assert stage(stepper) == "add_position"
    swipe(5)
    assert stage(stepper) == "add_position"
    swipe(90)
    assert stage(stepper) == "embedding"


def test_jupyterlab_is_told_that_keys_inside_are_not_its_own(open_page: Open) -> None:
    stepper = open_page(walk_of_it()).locator("block-stepper")

    assert stepper.get_attribute("data-lm-suppress-shortcuts") == "true"


def test_another_token_is_shown_at_the_same_stage(open_page: Open) -> None:
    walk = walk_of_three()
    stepper = open_page(walk).locator("block-stepper")

    stepper.get_by_role("slider").fill("3")
    stepper.get_by_role("combobox", name="token").select_option("<b>")

    (name, steps) = walk.walks[1]
    assert name == "<b>"
    assert stage(stepper) == steps[3].stage == "add_1"
    numbers = [float(text.replace("−", "-")) for text in result(stepper).strip("[]").split(", ")]
    np.testing.assert_allclose(numbers, steps[3].value, atol=0.0006)


def test_bars_stand_where_the_numbers_say(open_page: Open) -> None:
    stepper = open_page(walk_of_it(), reduced_motion="reduce").locator("block-stepper")

    stepper.get_by_role("slider").fill("6")  # add_2 = [1.830, −1.470], from norm_1 = [1, −1]

    tall, low = (bar.bounding_box() for bar in stepper.locator(".after").all())
    dashed, _ = (bar.bounding_box() for bar in stepper.locator(".before").all())
    assert tall is not None
    assert low is not None
    assert dashed is not None
    assert tall["y"] + tall["height"] == pytest.approx(low["y"], abs=1)
    assert tall["height"] / low["height"] == pytest.approx(1.83 / 1.47, rel=0.03)
    assert tall["height"] / dashed["height"] == pytest.approx(1.83, rel=0.03)


def test_two_on_a_page_walk_apart(open_page: Open) -> None:
    page = open_page(walk_of_it(), walk_of_three(), walk_of_it())
    first, second, third = page.locator("block-stepper").all()

    first.get_by_role("slider").fill("2")
    second.get_by_role("button", name="one stage on").click()

    assert [stage(each) for each in (first, second, third)] == ["attention", "norm_1", "embedding"]


@pytest.mark.parametrize("wide", [360, 1280])
def test_the_page_never_scrolls_sideways(open_page: Open, wide: int) -> None:
    page = open_page(walk_of_it(), walk_of_three(), wide=wide)

    for stepper in page.locator("block-stepper").all():
        for place in range(6):
            stepper.get_by_role("slider").fill(str(place))
            assert page.evaluate("document.documentElement.scrollWidth") <= wide
        stepper.get_by_role("button", name="all stages as a table").click()
        assert stepper.locator("table").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= wide


def test_an_element_put_in_later_and_moved_goes_on(open_page: Open) -> None:
    page = open_page(walk_of_it())

    page.evaluate(
        """() => {
          const old = document.querySelector("block-stepper");
          const div = document.createElement("div");
          div.innerHTML = old.outerHTML;
          document.body.append(div, old);
        }"""
    )

    moved, late = page.locator("block-stepper").nth(1), page.locator("block-stepper").nth(0)
    for stepper in (moved, late):
        stepper.get_by_role("slider").fill("1")
        assert stage(stepper) == "add_position"


def test_without_a_script_the_table_stands_there(open_page: Open) -> None:
    page = open_page(walk_of_it(), java_script_enabled=False, wide=1280)

    rows = page.locator("tbody tr")
    assert rows.count() == 8
    assert rows.nth(3).is_visible()
    assert rows.nth(3).locator("td").nth(1).inner_text() == "[2.049, 0.130]"


def test_print_shows_the_table_and_no_buttons(open_page: Open) -> None:
    page = open_page(walk_of_it(), wide=1280)

    page.emulate_media(media="print")

    assert page.locator("block-stepper table").is_visible()
    assert not page.locator("block-stepper button.on").is_visible()


def test_who_wants_less_motion_gets_none(open_page: Open) -> None:
    page = open_page(walk_of_it(), reduced_motion="reduce")

    duration = page.locator(".after").first.evaluate("bar => getComputedStyle(bar).transitionDuration")

    assert float(duration.split("s")[0]) == 0


@pytest.mark.parametrize(("ink", "paper"), [("#1f2328", "#fdfdfb"), ("#dadde0", "#15181c")])
def test_names_of_stages_have_contrast_in_the_light_and_in_the_dark(
    open_page: Open, ink: str, paper: str
) -> None:
    page = open_page(walk_of_it())
    page.evaluate(f'Object.assign(document.body.style, {{color: "{ink}", background: "{paper}"}})')
    stepper = page.locator("block-stepper")

    for place in (0, 2, 4, 5):
        stepper.get_by_role("slider").fill(str(place))
        color = stepper.locator(".name strong").evaluate("name => getComputedStyle(name).color")
        assert contrast(rgb(color), np.array([int(paper[i : i + 2], 16) for i in (1, 3, 5)]) / 255) >= 4.5


def rgb(color: str) -> np.ndarray:
    """Red, green and blue in [0, 1] of `color(srgb r g b)` or `rgb(r, g, b)`."""
    numbers = np.array([float(each) for each in re.findall(r"[0-9.]+", color)[:3]])
    return numbers if color.startswith("color") else numbers / 255


def contrast(first: np.ndarray, second: np.ndarray) -> float:
    """WCAG's ratio of relative luminances."""
    light = [
        np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
        for each in (first, second)
    ]
    return float((max(light) + 0.05) / (min(light) + 0.05))
