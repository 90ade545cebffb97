"""Explorables in a real browser: each computes what the package does, by mouse, by keys and by finger."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.browser.conftest import Open
from tests.browser.explored import ELEMENTS, SCORES, TOKEN, numbers, only, press, says
from transformer_block import cost
from transformer_block.explore.placement import streams
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.scaled_dot_product import softmax
from transformer_block.presets import preset

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]


def test_a_shift_of_all_features_moves_the_token_and_not_the_result(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["layer-norm"]))
    before = says(element, "after layer norm")

    press(element, "all + 1", times=3)

    assert numbers(says(element, "token")) == [4, 5, 6, 7]
    assert says(element, "after layer norm") == before
    assert says(element, "last move") == "the token by up to 1.000, the result by up to 0.000000"


def test_one_feature_moved_by_a_key_moves_all_results(open_page: Open) -> None:
    page = open_page(ELEMENTS["layer-norm"])
    element = only(page)

    element.get_by_role("slider", name="feature 2").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")

    moved = np.array([1.0, 2.5, 3.0, 4.0])
    assert numbers(says(element, "token")) == moved.tolist()
    np.testing.assert_allclose(numbers(says(element, "after layer norm")), layer_norm(moved), atol=0.0006)


def test_halving_lets_eps_be_seen_and_a_larger_eps_too(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["layer-norm"]))

    press(element, "all ÷ 2", times=7)
    small = np.array(TOKEN) / 2**7
    assert numbers(says(element, "variance after")) == [pytest.approx(layer_norm(small).var(), abs=1e-6)]

    press(element, "start again")
    element.get_by_role("combobox", name="eps").select_option("1")
    expected = layer_norm(np.array(TOKEN), eps=1.0)
    np.testing.assert_allclose(numbers(says(element, "after layer norm")), expected, atol=0.0006)


def test_a_token_that_outgrows_its_sliders_takes_them_along(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["layer-norm"]))

    press(element, "all × 2", times=9)

    slider = element.get_by_role("slider", name="feature 4")
    assert float(slider.input_value()) == numbers(says(element, "token"))[3] == 4 * 2**9


def test_one_open_cell_leaks_more_with_every_block(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["masks"]))
    element.get_by_role("button", name=re.compile("query 0 sees key 4:")).click()

    leaks = []
    for depth in (1, 2, 3):
        element.get_by_role("slider", name="blocks").fill(str(depth))
        leaks.append(numbers(says(element, "hears a later input"))[0])

    assert leaks == [1, 7, 10]
    visible = causal_mask(5)
    visible[0, 4] = True
    future = softmax(SCORES, visible)[~causal_mask(5)].sum()
    assert numbers(says(element, "attention on later keys")) == [pytest.approx(future, abs=0.0006)]


def test_arrows_walk_over_the_cells_and_space_opens_one(open_page: Open) -> None:
    page = open_page(ELEMENTS["masks"])
    element = only(page)

    element.get_by_role("button", name=re.compile("query 0 sees key 0:")).focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "Space"):
        page.keyboard.press(key)

    opened = element.get_by_role("button", name=re.compile("query 0 sees key 2:"))
    assert opened.get_attribute("aria-pressed") == "true"
    assert opened.evaluate("cell => cell.getRootNode().activeElement === cell")
    assert element.locator(".grid button[tabindex='0']").count() == 1


def test_numbers_in_the_cells_are_the_weights_under_the_mask(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["masks"]))

    press(element, "window")

    expected = softmax(SCORES, causal_mask(5, window=2))
    shown = [0 if text == "·" else float(text) for text in element.locator(".grid button").all_inner_texts()]
    np.testing.assert_allclose(np.reshape(shown, (5, 5)), expected, atol=0.006)


def test_queries_that_see_nothing_gather_nothing(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["masks"]))

    press(element, "none")

    assert says(element, "queries that see nothing").startswith("0, 1, 2, 3, 4:")
    assert "NaN" not in element.locator(".frame").inner_text()
    assert element.locator(".heard td [aria-label='itself']").count() == 5


def test_the_stream_is_that_of_the_packages_stack_in_every_placement(open_page: Open) -> None:
    page = open_page(ELEMENTS["placement"])
    element = only(page)
    element.get_by_role("slider", name="blocks").focus()
    page.keyboard.press("ArrowRight")

    for name, placement in {"pre-norm": "pre", "post-norm": "post", "sandwich": "sandwich"}.items():
        press(element, name)
        expected = streams(placement, 13, seed=0)[-1].std()
        assert numbers(says(element, "after 13 blocks")) == [pytest.approx(expected, abs=0.006)]


def test_smaller_matrices_and_other_weights_are_computed_anew(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["placement"]))

    element.get_by_role("slider", name="matrices").fill("1")
    press(element, "draw other weights")

    expected = streams("pre", 12, seed=1, gain=0.25)[-1].std()
    assert numbers(says(element, "after 12 blocks")) == [pytest.approx(expected, abs=0.006)]


def test_counts_of_a_known_block_are_the_packages(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["cost"]))

    press(element, "Llama 3 8B")
    element.get_by_role("combobox", name="numbers of").select_option("float32")

    llama3 = preset("llama3")
    assert numbers(says(element, "parameters")) == [sum(cost.parameters(llama3).values())]
    assert numbers(says(element, "operations forward")) == [sum(cost.forward_flops(llama3, 1024).values())]
    assert numbers(says(element, "cache")) == [cost.cache_bytes(llama3, 1024, dtype="float32")]


def test_heads_take_their_keys_along_and_fewer_keys_cut_the_cache(open_page: Open) -> None:
    page = open_page(ELEMENTS["cost"])
    element = only(page)
    press(element, "Llama 7B")
    before = element.locator("dl").inner_text()

    element.get_by_role("slider", name="H, heads").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert element.locator("dl").inner_text() == before

    element.get_by_role("slider", name="G, kv heads").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    assert numbers(says(element, "cache")) == [cost.cache_bytes(preset("llama"), 1024, dtype="bfloat16") / 8]


def test_sizes_that_make_no_block_are_refused_in_the_packages_words(open_page: Open) -> None:
    element = only(open_page(ELEMENTS["cost"]))

    element.get_by_role("slider", name="D, width").fill("2")

    with pytest.raises(ValueError, match="divisible") as refused:
        type(preset("gpt2"))(d_model=128, n_heads=12, d_ff=3072)
    assert says(element, "no such block") == str(refused.value)
    assert not element.locator(".live").is_visible()


def test_a_finger_drags_a_slider(open_page: Open) -> None:
    page = open_page(ELEMENTS["placement"], has_touch=True)
    element = only(page)
    slider = element.get_by_role("slider", name="blocks")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None

    page.touchscreen.tap(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)

    assert slider.input_value() == "32"
    assert numbers(says(element, "after 32 blocks")) == [
        pytest.approx(streams("pre", 32, 0)[-1].std(), abs=0.006)
    ]
