"""The exercises on the feed-forward part: their references agree with the package, which may not be used."""

import numpy as np
import pytest

from block_course.check import attempt, open_cases
from block_course.checks import exercise
from block_course.verdict import judge
from transformer_block.config import BlockConfig
from transformer_block.in_numpy import activations
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.parameters import shapes


def judged(id, answer):
    found = exercise(id)
    return judge(found, attempt(found, answer, open_cases(found)))


def arguments(id):
    return [
        [each.astype(np.float64) for each in case.arguments.values()]
        for case in exercise(id).cases(np.random.default_rng(0))
    ]


def test_the_reference_is_the_packages_feed_forward_part() -> None:
    for given in arguments("feed_forward.forward"):
        right = exercise("feed_forward.forward").reference(*given)
        np.testing.assert_allclose(right, feed_forward(*given), atol=1e-12)


def test_the_references_bends_are_the_packages() -> None:
    for (u,) in arguments("feed_forward.activations"):
        right = exercise("feed_forward.activations").reference(u)
        for mine, name in zip(right, ("relu", "gelu", "gelu_tanh"), strict=True):
            np.testing.assert_allclose(mine, activations.ACTIVATIONS[name](u), atol=1e-11)


def test_the_references_gate_is_the_packages() -> None:
    for x, gate, up, down in arguments("feed_forward.swiglu"):
        right = exercise("feed_forward.swiglu").reference(x, gate, up, down)
        theirs = feed_forward(x, up, None, down, None, "swiglu", gate=gate)
        np.testing.assert_allclose(right, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("D", "F"), [(768, 3072), (96, 250)])
def test_the_counts_are_those_of_the_packages_parameters(D: int, F: int) -> None:
    table = exercise("feed_forward.counts").reference(D, F)

    def count(part, **choices):
        named = shapes(BlockConfig(d_model=D, n_heads=4, **choices)).items()
        return sum(int(np.prod(sides)) for name, sides in named if name.startswith(f"{part}."))

    gated = {"d_ff": table["gated_width"], "activation": "swiglu", "feed_forward_bias": False}
    assert table["plain"] == count("feed_forward", d_ff=F)
    assert table["attention"] == count("attention", d_ff=F)
    assert table["gated"] == count("feed_forward", **gated) <= 2 * D * F


def test_an_answer_by_the_package_is_forbidden() -> None:
    assert judged("feed_forward.forward", feed_forward).status == "forbidden"


def test_a_slip_about_biases_keeps_the_points_for_the_rest() -> None:
    verdict = judged("feed_forward.forward", lambda x, w1, b1, w2, b2: np.maximum(x @ w1.T, 0) @ w2.T)

    assert [each.name for each in verdict.findings if each.outcome != "holds"] == ["biases"]


def test_an_exception_on_a_sequence_alone_is_not_blamed_on_the_transpose() -> None:
    def for_batches(x, w1, b1, w2, b2):
        inner = np.einsum("btd,fd->btf", x, w1) + b1
        return np.einsum("btf,df->btd", np.maximum(inner, 0), w2) + b2

    assert judged("feed_forward.forward", for_batches).diagnosis is None
