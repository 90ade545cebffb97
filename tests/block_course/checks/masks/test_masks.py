"""The exercises on masks: what a panel says, and that their cases mean what their names say."""

import numpy as np
import pytest

from block_course.check import attempt, open_cases
from block_course.checks import exercise
from block_course.checks.masks.padding import BATCH, EXAMPLE
from block_course.verdict import judge
from transformer_block.in_numpy.masks import causal_mask, multihead_attention_mask, padding_mask
from transformer_block.in_numpy.scaled_dot_product import softmax


def judged(id, answer):
    found = exercise(id)
    return judge(found, attempt(found, answer, open_cases(found)))


def outcomes(verdict):
    return {each.name: each.outcome for each in verdict.findings}


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        ("masks.causal", causal_mask),
        ("masks.softmax", softmax),
        ("masks.padding", lambda scores, lengths: softmax(scores, padding_mask(lengths, scores.shape[-1]))),
    ],
)
def test_an_answer_by_the_package_is_forbidden(id, answer) -> None:
    assert judged(id, answer).status == "forbidden"


@pytest.mark.parametrize("seed", range(5))
def test_the_references_agree_with_the_package(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for case in exercise("masks.causal").cases(rng):
        np.testing.assert_array_equal(
            exercise("masks.causal").reference(**case.arguments), causal_mask(*case.arguments.values())
        )
    for case in exercise("masks.softmax").cases(rng):
        scores, visible = case.arguments.values()
        mine = exercise("masks.softmax").reference(scores, visible)
        np.testing.assert_allclose(mine, softmax(scores.astype(np.float64), visible), atol=1e-12)
    for case in exercise("masks.convert").cases(rng):
        _, for_module = exercise("masks.convert").reference(**case.arguments)
        np.testing.assert_array_equal(for_module, multihead_attention_mask(*case.arguments.values()))


def test_what_learners_get_wrong_at_the_empty_row_costs_that_row_alone() -> None:
    def with_nan(scores, visible):
        lowered = np.where(visible, scores, -np.inf)
        e = np.exp(lowered - lowered.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    verdict = judged("masks.softmax", with_nan)

    assert [name for name, outcome in outcomes(verdict).items() if outcome != "holds"] == ["empty"]
    assert "[NaN NaN" in verdict.first_failure.message


def test_weight_on_padding_is_reported_in_the_learners_numbers() -> None:
    verdict = judged("masks.padding", lambda scores, lengths: softmax_of(scores))

    assert verdict.first_failure.case == EXAMPLE
    assert verdict.first_failure.message.endswith("its queries spend 1.600 on the rest; it should be 0")


def softmax_of(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_no_item_of_a_padded_batch_is_as_long_as_another_or_full() -> None:
    for seed in range(20):
        cases = {each.name: each for each in exercise("masks.padding").cases(np.random.default_rng(seed))}
        scores, lengths = cases[BATCH].arguments.values()

        assert len(set(lengths.tolist())) == len(lengths)
        assert 1 <= lengths.min() <= lengths.max() < scores.shape[-1] - 1


def test_a_float_in_a_mask_is_called_one() -> None:
    verdict = judged("masks.causal", lambda T, S=None: np.full((T, S or T), 0.5))

    assert verdict.first_failure.message == "query 0, key 0: your entry is 0.500; a mask holds True and False"


def test_the_test_that_adds_a_hundred_earns_little_and_is_told_of_the_block_that_it_lets_through() -> None:
    def adds_a_hundred(block, x):
        changed = x.copy()
        changed[:, -1] += 100
        return np.allclose(block(changed)[:, :-1], block(x)[:, :-1])

    verdict = judged("masks.is_causal", adds_a_hundred)

    assert verdict.points == 1.25
    assert verdict.diagnosis.name == "a change that the norm takes away"
    assert verdict.diagnosis.message.startswith("The block “pre-norm without a mask” gets through")


@pytest.mark.parametrize("answer", [True, False])
def test_a_test_that_always_says_the_same_earns_nothing(answer: bool) -> None:
    assert judged("masks.is_causal", lambda block, x: answer).points == 0.0
