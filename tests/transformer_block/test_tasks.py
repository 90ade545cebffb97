"""The tasks ask what they say."""

import numpy as np
import pytest

from transformer_block.tasks import reversal


def test_the_answer_is_the_sequence_from_back_to_front() -> None:
    tokens, answers = reversal(3, 5, 7, np.random.default_rng(0))

    assert tokens.shape == answers.shape == (3, 5)
    for position in range(5):
        np.testing.assert_array_equal(answers[:, position], tokens[:, 4 - position])


def test_every_symbol_is_drawn_and_no_other_as_often_as_the_rest() -> None:
    tokens, _ = reversal(1000, 6, 7, np.random.default_rng(1))

    symbols, counts = np.unique(tokens, return_counts=True)

    np.testing.assert_array_equal(symbols, np.arange(7))
    assert np.abs(counts / tokens.size - 1 / 7).max() < 0.02


def test_sequences_follow_from_the_generator() -> None:
    first, again, other = (reversal(4, 5, 9, np.random.default_rng(seed)) for seed in (2, 2, 3))

    np.testing.assert_array_equal(first.tokens, again.tokens)
    assert (first.tokens != other.tokens).any()


@pytest.mark.parametrize("sizes", [(0, 2, 3), (2, 0, 3), (2, 3, 0)])
def test_a_size_below_one_is_refused_by_name(sizes: tuple[int, int, int]) -> None:
    name = ("batch", "length", "symbols")[sizes.index(0)]

    with pytest.raises(ValueError, match=f"{name} must be at least 1; got 0"):
        reversal(*sizes, np.random.default_rng(0))
