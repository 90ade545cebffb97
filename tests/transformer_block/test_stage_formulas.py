"""The lines of a stage say what was computed, with numbers that are right."""

from typing import Any

import numpy as np
import pytest

from transformer_block import in_python
from transformer_block._stage_formulas import explain, number, vector
from transformer_block._stage_knowledge import Knowledge
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.parameters import initialize, perturb
from transformer_block.stepper import Step, step

X = np.random.default_rng(8).normal(size=(5, 6))


def block(**choices: Any) -> Block:
    config = BlockConfig(**{"d_model": 6, "n_heads": 2, "d_ff": 8, **choices})
    return Block(config, perturb(initialize(config, seed=1), seed=2))


def steps(*arguments: Any, token: int | str = 2, **inputs: Any) -> dict[str, Step]:
    ((_, walk),) = step(*arguments, token=token, **inputs).walks
    return {each.stage: each for each in walk}


def parts(found: Step) -> list[str]:
    return [name for name, _ in found.how.parts]


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0004, "0.000"), (-0.3956, "−0.396"), (2.0, "2.000"), (np.inf, "inf")]
)
def test_numbers_have_three_decimals_and_a_true_minus(value: float, text: str) -> None:
    assert number(value) == text


def test_a_vector_says_how_many_features_it_leaves_out() -> None:
    assert vector(np.array([1.0, -2.0, 3.0]), shown=2) == "[1.000, −2.000, … 1 more]"


def test_the_walk_in_python_is_put_in_numbers() -> None:
    walk = steps(in_python, token="it")

    assert walk["add_1"].how.lines[1:] == ["1.597 + 0.452 = 2.049", "0.526 − 0.396 = 0.130"]
    assert walk["norm_1"].how.lines[1:] == [
        "(2.049 − 1.089) / 0.959 = 1.000",
        "(0.130 − 1.089) / 0.959 = −1.000",
    ]
    assert walk["feed_forward"].how.lines == [
        "inner features [1.100, 0.000, 0.000, 0.700]",
        "each feature: down · inner + bias",
        "0.500 · 1.100 − 0.300 · 0.000 + 0.200 · 0.000 + 0.400 · 0.700 + 0.000 = 0.830",
        "−0.200 · 1.100 + 0.600 · 0.000 + 0.100 · 0.000 − 0.500 · 0.700 + 0.100 = −0.470",
    ]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("placed", [False, True])
def test_the_python_walks_attention_sums_to_its_result(causal: bool, placed: bool) -> None:
    found = steps(in_python, token="it", causal=causal, positions_in_attention=placed)["attention"]

    assert parts(found) == ["add_position" if placed else "embedding"]
    for line, value in zip(found.how.lines[-2:], found.value, strict=True):
        terms, _, result = line.replace("−", "-").replace("- ", "-").rpartition(" = ")
        products = [term.strip("+ ").split(" · ") for term in terms.split(" + ")]
        total = sum(float(left) * float(right.strip("()")) for left, right in products)
        assert total == pytest.approx(value, abs=0.01)
        assert float(result) == pytest.approx(value, abs=0.0006)


@pytest.mark.parametrize(
    ("placement", "sums"),
    [
        ("pre", {"add_1": ["x", "+ attention"], "add_2": ["add_1", "+ feed_forward"]}),
        ("post", {"add_1": ["x", "+ attention"], "add_2": ["norm_1", "+ feed_forward"]}),
        ("sandwich", {"add_1": ["x", "+ norm_1_out"], "add_2": ["add_1", "+ norm_2_out"]}),
        ("parallel", {"add_1": ["x", "+ attention"], "add_2": ["add_1", "+ feed_forward"]}),
    ],
)
def test_each_add_names_what_it_added(placement: str, sums: dict[str, list[str]]) -> None:
    walk = steps(block(placement=placement), X)

    for name, names in sums.items():
        assert parts(walk[name]) == names
        (_, stream), (_, update) = walk[name].how.parts
        np.testing.assert_allclose(stream + update, walk[name].value)
        assert walk[name].how.before is stream


def test_an_add_that_scales_its_branch_shows_the_difference() -> None:
    walk = steps(block(residual_scaling="rezero"), X)

    assert parts(walk["add_1"]) == ["x", "+ difference"]
    np.testing.assert_array_equal(walk["add_1"].how.parts[1][1], walk["add_1"].value - X[2])


def test_a_wrong_add_is_shown_for_what_it_is() -> None:
    normed, update = X / 2, X**2

    walk = steps([("norm_1", normed), ("attention", update), ("add_1", normed + update)], X)

    assert parts(walk["add_1"]) == ["norm_1", "+ attention"]


@pytest.mark.parametrize(
    ("placement", "reads"),
    [
        ("pre", ["norm_1", "norm_2"]),
        ("post", ["x", "norm_1"]),
        ("sandwich", ["norm_1", "norm_2"]),
        ("parallel", ["norm_1", "norm_1"]),
    ],
)
def test_each_branch_names_what_it_read(placement: str, reads: list[str]) -> None:
    walk = steps(block(placement=placement), X)

    assert [parts(walk[name])[0] for name in ("attention", "feed_forward")] == reads


@pytest.mark.parametrize(
    ("choices", "first"),
    [({}, "mean "), ({"norm": "rms_norm"}, "mean of the squares "), ({"norm_weight": False}, "mean ")],
)
def test_a_norm_is_put_in_numbers(choices: dict[str, Any], first: str) -> None:
    found = steps(block(eps=0.01, **choices), X)["norm_1"]

    assert found.how.lines[0].startswith(first)
    assert found.how.lines[-2].endswith(f"= {number(found.value[3])}")


def test_a_norm_with_a_weight_shows_weight_and_bias() -> None:
    model = block()

    found = steps(model, X)["norm_1"]

    gamma, beta = (number(model.parameters[f"norm_1.{kind}"][1]) for kind in ("weight", "bias"))
    assert found.how.lines[8].startswith(f"{gamma} · ")
    assert beta.strip("−") in found.how.lines[8]


def test_a_norm_of_another_kind_is_not_taken_for_one() -> None:
    wrong = (X - X.mean(axis=-1, keepdims=True)) / X.std(axis=-1, ddof=1, keepdims=True)

    found = steps([("norm_1", wrong)], X)["norm_1"]

    assert found.how.lines[-1] == "no plain layer norm or RMS norm of these numbers"


def test_attention_names_the_tokens_that_get_most_and_sums_the_rest() -> None:
    long = np.random.default_rng(9).normal(size=(8, 6))
    saved: dict[str, Any] = {}
    model = block()
    list(model.stages(long, saved=saved))

    found = steps(model, long, tokens=list("abcdefgh"), token="c")["attention"]

    shares = saved["attention"]["weights"][1, 2]
    best, *_, last = found.how.lines[1].removeprefix("weights of head 2: ").split(", ")
    assert best == f"{'abcdefgh'[shares.argmax()]} {number(shares.max())}"
    assert last == f"3 more {number(np.sort(shares)[:3].sum())}"


def test_many_heads_are_counted() -> None:
    assert steps(block(n_heads=6), X)["attention"].how.lines[-1] == "… 2 more heads"


def test_a_memory_has_no_names_of_tokens() -> None:
    memory = np.random.default_rng(7).normal(size=(5, 6))

    found = steps(block(cross_attention=True), X, tokens=list("abcde"), memory=memory)

    assert found["cross_attention"].how.lines[0].startswith("weights of head 1: key ")


def test_wide_inner_features_show_their_three_largest_terms() -> None:
    lines = steps(block(d_ff=13, feed_forward_bias=False), X)["feed_forward"].how.lines

    assert "… 3 more]" in lines[0]
    assert lines[2].partition(" = ")[0].endswith(" + 10 more terms")
    assert lines[-1] == "… 2 more features"


def test_stages_that_nothing_is_known_of_show_their_value_alone() -> None:
    walk = steps([("x", X), ("widen", X.repeat(2, axis=-1)), ("attention", X), ("feed_forward", X)])

    assert all(not walk[name].how.lines for name in ("widen", "attention", "feed_forward"))


def test_an_add_of_another_width_shows_its_value_alone() -> None:
    walk = steps([("x", X), ("add_1", np.concatenate([X, X], axis=-1))])

    assert parts(walk["add_1"]) == []


def test_a_norm_may_have_a_bias_and_no_weight() -> None:
    model = block(norm_weight=False, norm_bias=True)

    lines = steps(model, X)["norm_1"].how.lines

    beta = number(model.parameters["norm_1.bias"][0])
    assert lines[-5].split(" = ")[0].endswith(beta.strip("−"))


def test_inner_features_without_a_known_matrix_are_shown_alone() -> None:
    known = Knowledge(["a"], inner=np.array([[1.0, 2.0]]))

    found = explain("feed_forward", np.ones(2), [("x", np.ones(2))], 0, known)

    assert found.lines == ["inner features [1.000, 2.000]"]


def test_a_norm_of_another_width_is_not_taken_for_one() -> None:
    walk = steps([("x", X), ("norm_1", np.concatenate([X, X], axis=-1))])

    assert walk["norm_1"].how.lines[-1] == "no plain layer norm or RMS norm of these numbers"
