import dataclasses

import numpy as np
import pytest

from tests.transformer_block.numerics import small_config
from transformer_block.audit.facts import LOWEST, Facts, in_their_form, of_config

VISIBLE = np.random.default_rng(0).random((2, 5, 5)) < 0.6


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("framework", "numpy, torch"),
        ("mask_means", "visible, hidden, additive"),
        ("mask_axes", "BTS, B1TS, TS, BS"),
        ("positions", "none, relative, added"),
        ("placement", "pre, post"),
    ],
)
def test_a_choice_is_one_of_those_that_its_refusal_names(name, choices, unchecked):
    for choice in choices.split(", "):
        assert getattr(Facts(**{name: choice}), name) == choice
    with pytest.raises(ValueError, match=f"^{name} must be one of {choices}; got 'else'$"):
        Facts(**{name: "else"})


@pytest.mark.parametrize("half", [{"new_cache": dict}, {"call_cached": print}])
def test_a_cache_is_of_no_use_without_a_call_that_reads_it(half):
    with pytest.raises(ValueError, match=r"^new_cache and call_cached are given together$"):
        Facts(**half)


def test_facts_say_nothing_until_they_are_told_and_then_by_name_and_for_good():
    facts = Facts()
    assert set(dataclasses.asdict(facts).values()) == {None}
    with pytest.raises(dataclasses.FrozenInstanceError):
        facts.d_model = 8
    with pytest.raises(TypeError, match="positional"):
        Facts(8)


@pytest.mark.parametrize("width", [True, 8.0, "8"])
def test_a_width_is_an_int(width, unchecked):
    with pytest.raises(TypeError, match="d_model must be an int; got"):
        Facts(d_model=width)


def test_what_is_said_stands_over_what_is_known():
    said, known = Facts(causal=False, mask=""), Facts(causal=True, d_model=8, mask="visible")
    assert said.over(known) == Facts(causal=False, d_model=8, mask="")


def test_a_configuration_tells_what_its_block_is():
    assert of_config(small_config(causal=True)) == Facts(
        d_model=12, causal=True, placement="pre", positions="none"
    )
    turned = of_config(small_config(positions="rotary", placement="post"))
    assert (turned.positions, turned.placement, turned.causal) == ("relative", "post", False)
    # sinusoidal positions are added where a stack begins, and not in a block
    assert of_config(small_config(positions="sinusoidal", placement="sandwich")).positions == "none"


def test_masks_take_the_axes_asked_for():
    np.testing.assert_array_equal(in_their_form(VISIBLE, "visible", "BTS"), VISIBLE)
    np.testing.assert_array_equal(in_their_form(VISIBLE, "visible", "B1TS"), VISIBLE[:, None])
    np.testing.assert_array_equal(in_their_form(VISIBLE, "visible", "TS"), VISIBLE[0])
    np.testing.assert_array_equal(in_their_form(VISIBLE, "visible", "BS"), VISIBLE[:, 4])


def test_masks_mean_what_is_asked_for():
    np.testing.assert_array_equal(in_their_form(VISIBLE, "hidden", "BTS"), ~VISIBLE)
    added = in_their_form(VISIBLE, "additive", "TS")
    assert added.dtype.kind == "f"
    np.testing.assert_array_equal(added == 0, VISIBLE[0])
    np.testing.assert_array_equal(added == LOWEST, ~VISIBLE[0])
