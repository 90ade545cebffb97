"""A NumPy block as contracts see it: how it is called, read, copied and moved."""

import dataclasses

import numpy as np
import pytest

from transformer_block.audit.facts import LOWEST, Facts
from transformer_block.audit.subject import (
    Nonsense,
    Subject,
    Unable,
    first,
    kind,
)

D, S = 6, 5
WIDE = Facts(d_model=D)
X = np.random.default_rng(1).normal(size=(2, 4, D))
VISIBLE = np.random.default_rng(2).random((2, 4, 4)) < 0.5


class Recorder:
    """A block with parameters that answers with its tokens and keeps what it was called with."""

    def __init__(self, dtype=np.float32):
        rng = np.random.default_rng(3)
        self.parameters = {"w": rng.normal(size=(9, D)).astype(dtype), "b": rng.normal(size=D).astype(dtype)}
        self.calls = []

    def __call__(self, x, *args, **named):
        self.calls.append((x, args, named))
        return x


def named(x, mask=None, memory=None):
    return x, mask, memory


def test_a_subject_is_run_in_the_blocks_dtype_and_answers_in_float64():
    block = Recorder()
    y = Subject(block, WIDE, dtype="float32")(X)
    ((x, args, more),) = block.calls
    assert (x.dtype, args, more) == (np.float32, (), {})
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, X.astype(np.float32))
    assert not np.shares_memory(y, x)


def test_a_subject_is_of_numpy_in_float64_and_for_good():
    subject = Subject(abs, WIDE)
    assert (subject.framework, subject.dtype, subject.width) == ("numpy", "float64", D)
    with pytest.raises(dataclasses.FrozenInstanceError):
        subject.dtype = "float32"


def test_a_block_is_called_with_its_tokens_its_mask_and_its_memory():
    facts = Facts(d_model=D, mask="seen", memory=True)
    by_place, by_name = Recorder(), []
    Subject(by_place, facts)(X, VISIBLE)
    Subject(lambda x, *, seen, memory: by_name.append((seen, memory)) or x, facts)(X, VISIBLE)
    ((_, (mask,), more),) = by_place.calls
    ((seen, memory),) = by_name
    np.testing.assert_array_equal([mask, seen], [VISIBLE, VISIBLE])
    np.testing.assert_array_equal(more["memory"], memory)
    assert memory.shape == (2, S, D)


def test_tokens_reach_the_block_as_a_copy():
    given = X.copy()
    Subject(lambda x: x.__imul__(2), WIDE)(given)
    np.testing.assert_array_equal(given, X)


def test_a_width_that_nobody_tells_is_asked_for():
    with pytest.raises(Unable, match=r"^nothing tells the width of its stream: say Facts\(d_model=…\)$"):
        Subject(abs, Facts()).width  # noqa: B018


@pytest.mark.parametrize("output", [lambda x: (x, "more"), lambda x: [x], lambda x: x])
def test_the_stream_is_what_a_block_returns_or_the_first_of_it(output):
    np.testing.assert_array_equal(Subject(output, WIDE)(X), X)


@pytest.mark.parametrize(
    ("output", "stream"), [((1, 2), 1), ([3], 3), ((), ()), ([], []), (4, 4), ("ab", "ab")]
)
def test_an_empty_tuple_has_no_first_and_words_are_no_tuple(output, stream):
    assert first(output) == stream


def test_how_the_caller_calls_it_replaces_masks_and_memories():
    received = []

    def call(block, x, visible):
        received.append((block, x, visible))
        return x, "a cache"

    subject = Subject("the block", Facts(d_model=D, call=call, memory=True, mask="mask"), dtype="float16")
    assert subject(X).shape == X.shape
    subject(X, VISIBLE)
    assert [block for block, _, _ in received] == ["the block", "the block"]
    assert [x.dtype for _, x, _ in received] == [np.float16, np.float16]
    assert received[0][2] is None
    assert received[1][2].dtype == bool
    np.testing.assert_array_equal(received[1][2], VISIBLE)


def test_a_mask_is_passed_by_its_name_where_the_block_has_one():
    args, more = Subject(named, Facts(d_model=D, mask="mask")).beside(2, VISIBLE)
    assert args == []
    assert [*more] == ["mask"]
    assert more["mask"].dtype == bool
    np.testing.assert_array_equal(more["mask"], VISIBLE)


def test_a_mask_is_passed_by_place_where_no_argument_has_its_name():
    args, more = Subject(Recorder(), Facts(d_model=D, mask="seen")).beside(2, VISIBLE)
    assert more == {}
    np.testing.assert_array_equal(args, [VISIBLE])


def test_a_mask_has_the_axes_and_the_meaning_that_are_told():
    facts = Facts(d_model=D, mask="mask", mask_means="additive", mask_axes="BS")
    _, more = Subject(named, facts, dtype="float32").beside(2, VISIBLE)
    assert more["mask"].dtype == np.float32
    np.testing.assert_array_equal(more["mask"], np.where(VISIBLE[:, -1], 0, LOWEST))


def test_without_a_mask_nothing_is_passed_and_a_block_without_one_is_given_none():
    assert Subject(named, Facts(d_model=D, mask="mask")).beside(2) == ([], {})
    with pytest.raises(Unable, match=r"^it takes no mask$"):
        Subject(named, WIDE).beside(2, VISIBLE)


def test_a_memory_is_random_and_the_same_for_all_sequences_and_calls():
    facts = Facts(d_model=D, memory=True, mask="mask")
    subject = Subject(named, facts, dtype="float32")
    args, more = subject.beside(4)
    memory = more["memory"]
    assert (args, [*more], memory.shape, memory.dtype) == ([], ["memory"], (4, S, D), np.float32)
    assert np.unique(memory[0]).size == S * D
    np.testing.assert_array_equal(memory, np.broadcast_to(memory[0], memory.shape))
    again = subject.beside(2, VISIBLE)[1]
    np.testing.assert_array_equal(again["memory"], memory[:2])
    np.testing.assert_array_equal(again["mask"], VISIBLE)


@pytest.mark.parametrize(
    ("facts", "takes"),
    [(Facts(), False), (Facts(mask=""), False), (Facts(mask="m"), True), (Facts(call=named), True)],
)
def test_a_mask_can_be_passed_by_its_name_or_by_the_callers_way(facts, takes):
    assert Subject(abs, facts).takes_mask is takes


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "returned None, not an array"),
        ([1.0], "returned list, not an array"),
        (np.ones((4, D)), r"returned shape \(4, 6\) for an input of \(2, 4, 6\)"),
        (np.ones((2, 4, D), int), "returned int64, which is no floating dtype"),
        (np.ones((2, 4, D), complex), "returned complex128, which is no floating dtype"),
    ],
)
def test_an_output_that_is_not_that_of_a_block_is_nonsense(output, words):
    with pytest.raises(Nonsense, match=f"^{words}$"):
        Subject(lambda x: (output, 0), WIDE)(X)


def test_a_value_is_told_in_a_word():
    assert (kind(None), kind(1.0), kind(X)) == ("None", "float", "ndarray")


@pytest.mark.parametrize(("dtype", "unit"), [("float16", 2**-10), ("float32", 2**-23), ("float64", 2**-52)])
def test_rounding_grows_with_the_units_the_width_and_the_largest_value(dtype, unit):
    subject = Subject(abs, WIDE, dtype=dtype)
    assert subject.unit == unit
    least = pytest.approx(32 * unit * np.sqrt(D), rel=1e-12)
    assert subject.rounding(np.array([])) == least
    assert subject.rounding(np.array([-0.5])) == least
    assert subject.rounding(np.array([2.0, -3.0]), np.array([[1.0]])) / 3 == least
    assert subject.rounding(np.array([1.5]), np.array([2.5])) / 2.5 == least


def test_a_seed_starts_numpys_global_stream_anew():
    subject = Subject(abs, WIDE)
    drawn = []
    for seed in (4, 4, 5):
        subject.seed(seed)
        drawn.append(np.random.random())
    assert drawn[0] == drawn[1] != drawn[2]


def test_parameters_are_read_in_float64():
    read = Subject(Recorder(), WIDE).parameters()
    assert {name: value.dtype for name, value in read.items()} == {"w": np.float64, "b": np.float64}
    np.testing.assert_array_equal(read["w"], Recorder().parameters["w"])


@pytest.mark.parametrize("block", [abs, named])
def test_parameters_that_are_not_there_cannot_be_read(block):
    with pytest.raises(Unable, match=r"^its parameters cannot be read and set from outside$"):
        Subject(block, WIDE).parameters()


def test_a_copy_with_other_parameters_has_their_dtypes_and_leaves_the_block_alone():
    subject = Subject(Recorder(), Facts(d_model=D, mask="seen"), dtype="float32")
    before = {name: value.copy() for name, value in subject.block.parameters.items()}
    other = subject.with_parameters({name: value * 2 for name, value in subject.parameters().items()})
    assert other == dataclasses.replace(subject, block=other.block)
    for name, value in before.items():
        assert other.block.parameters[name].dtype == np.float32
        np.testing.assert_array_equal(other.block.parameters[name], 2 * value)
        np.testing.assert_array_equal(subject.block.parameters[name], value)


def test_a_block_that_cannot_be_copied_is_remade():
    subject = Subject(Recorder(), Facts(d_model=D, remake=lambda given: ("remade", given)))
    mark, given = subject.with_parameters(subject.parameters()).block
    assert mark == "remade"
    np.testing.assert_array_equal(given["w"], subject.block.parameters["w"])


def test_a_copy_in_another_dtype_holds_its_parameters_in_it():
    subject = Subject(Recorder(), WIDE, dtype="float32").to("float16")
    assert subject.dtype == "float16"
    assert {value.dtype for value in subject.block.parameters.values()} == {np.dtype("float16")}
    np.testing.assert_array_equal(subject.block.parameters["w"], Recorder().parameters["w"].astype("float16"))


def test_dtypes_that_cannot_be():
    with pytest.raises(Unable, match=r"^NumPy has no bfloat16$"):
        Subject(Recorder(), WIDE).to("bfloat16")
    with pytest.raises(Unable, match="cannot be read and set"):
        Subject(abs, WIDE).to("float32")


def test_a_numpy_block_is_in_evaluation_and_knows_no_training():
    subject = Subject(abs, WIDE)
    assert subject.modes == ("eval",)
    assert subject.mode(training=False) is subject.in_mode("eval") is subject
    for ask in (lambda: subject.mode(training=True), subject.calm, lambda: subject.in_mode("train")):
        with pytest.raises(Unable, match=r"^it knows no training mode$"):
            ask()
