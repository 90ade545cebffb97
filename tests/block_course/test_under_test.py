import numpy as np
import pytest

from block_course.exercise import Subject
from block_course.under_test import MOST_NUMBERS, MOST_QUESTIONS, MOST_TOKENS, Block, Interview, TooMuch
from tests.block_course.judging import LENGTH, WIDTH, running_mean, subject

X = np.random.default_rng(0).normal(size=(LENGTH, WIDTH))


def block(made=None):
    return Block(Interview(made or subject(running_mean, True)).ask)


def test_a_block_answers_with_its_output_and_its_gradients() -> None:
    np.testing.assert_array_equal(block()(X), running_mean(X))
    np.testing.assert_allclose(block().gradients(X, np.ones_like(X))[-1], np.full(WIDTH, 1 / LENGTH))


def test_a_mask_is_handed_over_where_one_is_given() -> None:
    asked = []
    made = Subject(right=True, answers={"forward": lambda *arrays: asked.append(len(arrays)) or arrays[0]})

    block(made)(X)
    block(made)(X, np.ones((LENGTH, LENGTH), bool))

    assert asked == [1, 2]


def test_neither_side_can_change_the_arrays_of_the_other() -> None:
    kept = {}

    def forward(x):
        kept["x"] = x
        x += 1.0
        return x

    given = X.copy()
    answered = block(Subject(right=True, answers={"forward": forward}))(given)
    answered += 1.0

    np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(kept["x"], X + 1.0)


def test_a_block_is_asked_so_often_and_no_more() -> None:
    asked = block()

    for _ in range(MOST_QUESTIONS):
        asked(X)

    with pytest.raises(ValueError, match="a test may call its block 200 times"):
        asked(X)


def test_a_call_hands_over_so_many_numbers_and_no_more() -> None:
    with pytest.raises(ValueError, match="a call may hand over 16,384 numbers"):
        block()(np.zeros(MOST_NUMBERS + 1))


def test_what_a_block_cannot_answer_is_said() -> None:
    made = Subject(right=True, answers={"forward": running_mean})

    with pytest.raises(ValueError, match="this block has no gradients; it has forward"):
        block(made).gradients(X, X)
    with pytest.raises(ValueError, match=r"this block has no answer \(forward\) to \(2, 3\)"):
        block(made)(X[:2])


@pytest.mark.parametrize("given", ["x", {}, object(), np.array(["x"])])
def test_a_block_takes_arrays_alone(given) -> None:
    with pytest.raises(TypeError, match=r"a block takes arrays; got an? "):
        block()(given)


def test_an_empty_batch_of_endless_sequences_is_many_numbers_too() -> None:
    with pytest.raises(ValueError, match="a call may hand over 16,384 numbers"):
        block()(np.zeros((0, MOST_NUMBERS + 1, WIDTH)))


def test_a_sequence_has_so_many_tokens_and_no_more() -> None:
    asked = block(Subject(right=True, answers={"forward": lambda x: x}))
    asked(np.zeros((1, MOST_TOKENS, WIDTH)))
    asked(np.zeros((MOST_TOKENS + 1, 1, WIDTH)))  # many short ones are no sequence

    with pytest.raises(ValueError, match="a call may hand over sequences of 256 tokens"):
        asked(np.zeros((1, MOST_TOKENS + 1, WIDTH)))


def test_a_mask_of_many_items_is_no_sequence() -> None:
    def masked(x, visible):
        return x * visible[..., None]

    made = Subject(right=True, answers={"forward": masked})

    assert block(made)(np.zeros((300, 2, 4)), np.ones((300, 2), dtype=bool)).shape == (300, 2, 4)


def test_a_block_says_itself_what_is_too_much_for_it() -> None:
    def costly(x):
        raise TooMuch("a call may ask for 3 numbers")

    with pytest.raises(ValueError, match="a call may ask for 3 numbers"):
        block(Subject(right=True, answers={"forward": costly}))(X)


def test_two_designs_refuse_in_the_same_words() -> None:
    def wrong_norm(x):
        raise TypeError(f"wrong_norm does not take {x}")

    told = []
    for forward in (running_mean, wrong_norm, lambda: None):
        with pytest.raises(ValueError, match="this block has no answer") as refused:
            block(Subject(right=True, answers={"forward": forward}))(X[:2])
        told.append((str(refused.value), refused.value.__cause__))

    assert len({*told}) == 1
