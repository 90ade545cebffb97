"""A PyTorch block as contracts see it: its dtype and device, its modes, its parameters."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from transformer_block.audit.facts import Facts
from transformer_block.audit.subject import Nonsense, Unable
from transformer_block.audit.torch_subject import TorchSubject, dtype_of

D = 6
WIDE = Facts(d_model=D)
X = np.random.default_rng(1).normal(size=(2, 4, D))
VISIBLE = np.random.default_rng(3).random((2, 4, 4)) < 0.5


class Block(nn.Module):
    """One parameter that is learned, one that is frozen, one that is forgotten, and a buffer."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(D))
        self.frozen = nn.Parameter(torch.randn(D), requires_grad=False)
        self.forgotten = nn.Parameter(torch.randn(5))
        self.register_buffer("shift", torch.randn(D))

    def forward(self, x, visible=None):
        y = x**2 * self.w + self.frozen + self.shift
        return y if visible is None else y + visible.to(y.dtype).sum(-1, keepdim=True)


class Dropping(nn.Module):
    """Rates of dropout under each of the names that they go by, and numbers that are none."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.own = Dropout2Own()
        self.attention = nn.MultiheadAttention(D, 2, dropout=0.5)
        self.dropout_rate = 0.5
        self.dropout_kind = "plain"
        self.p = 0.5
        self.rate = 0.5

    def forward(self, x):
        return self.drop(x)


class Dropout2Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 0.25
        self.scale = 0.25


def seen(block):
    """A function that keeps what it is called with, and whether gradients are recorded."""
    kept = []

    def call(x, *more):
        kept.append((x, more, torch.is_grad_enabled()))
        return block(x)

    return call, kept


def test_a_subject_is_of_torch_in_float32_and_for_good():
    subject = TorchSubject(nn.Identity(), WIDE)
    assert (subject.framework, subject.dtype) == ("torch", "float32")
    with pytest.raises(dataclasses.FrozenInstanceError):
        subject.dtype = "float64"


def test_a_block_is_run_in_its_dtype_without_gradients_and_answers_in_float64():
    call, kept = seen(lambda x: (x, "more"))
    y = TorchSubject(call, WIDE, dtype="bfloat16")(X)
    ((x, more, recorded),) = kept
    assert (x.dtype, more, recorded) == (torch.bfloat16, (), False)
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, torch.tensor(X).bfloat16().double().numpy())


def test_an_answer_is_a_copy_of_the_blocks_output():
    call, kept = seen(lambda x: x)
    y = TorchSubject(call, WIDE, dtype="float64")(X)
    assert not np.shares_memory(y, kept[0][0].numpy())


def test_a_mask_stays_boolean_whatever_its_strides():
    call, kept = seen(lambda x: x)
    TorchSubject(call, Facts(d_model=D, mask="seen"))(X[:, ::-1], VISIBLE[:, ::-1])
    ((x, (mask,), _),) = kept
    assert mask.dtype == torch.bool
    np.testing.assert_array_equal(mask.numpy(), VISIBLE[:, ::-1])
    np.testing.assert_array_equal(x.numpy(), X[:, ::-1].astype(np.float32))


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "returned None, not a tensor"),
        (X, "returned ndarray, not a tensor"),
        (torch.ones(4, D), r"returned shape \(4, 6\) for an input of \(2, 4, 6\)"),
        (torch.ones(2, 4, D, dtype=torch.int32), "returned torch.int32, which is no floating dtype"),
        (torch.ones(2, 4, D, dtype=torch.bool), "returned torch.bool, which is no floating dtype"),
    ],
)
def test_an_output_that_is_not_that_of_a_block_is_nonsense(output, words):
    with pytest.raises(Nonsense, match=f"^{words}$"):
        TorchSubject(lambda x: (output, 0), WIDE)(X)


@pytest.mark.parametrize(("dtype", "unit"), [("bfloat16", 2**-7), ("float16", 2**-10), ("float64", 2**-52)])
def test_the_unit_is_that_of_the_blocks_dtype(dtype, unit):
    assert TorchSubject(abs, WIDE, dtype=dtype).unit == unit


def test_tensors_are_made_on_the_device_of_the_blocks_parameters_or_else_on_the_cpu():
    subject = TorchSubject(nn.Linear(D, D, device="meta"), WIDE)
    assert subject.device == torch.device("meta")
    assert subject.native(X).device == torch.device("meta")
    buffered = nn.Module()
    buffered.register_buffer("held", torch.ones(1, device="meta"))
    assert TorchSubject(buffered, WIDE).device == torch.device("meta")
    for block in (nn.Identity(), abs):
        assert TorchSubject(block, WIDE).device == torch.device("cpu")


def test_a_seed_starts_the_global_streams_of_both_frameworks_anew():
    subject = TorchSubject(nn.Identity(), WIDE)
    drawn = []
    for seed in (4, 4, 5):
        subject.seed(seed)
        drawn.append((np.random.random(), torch.rand(()).item()))
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[2][0]
    assert drawn[0][1] != drawn[2][1]


def test_parameters_are_read_as_copies_in_float64():
    block = Block()
    read = TorchSubject(block, WIDE).parameters()
    assert [*read] == ["w", "frozen", "forgotten"]
    assert read["w"].dtype == np.float64
    np.testing.assert_array_equal(read["w"], block.w.detach().double())
    double = Block().double()
    read = TorchSubject(double, WIDE, dtype="float64").parameters()
    assert not np.shares_memory(read["w"], double.w.detach().numpy())


def test_a_function_has_no_parameters_and_modes_that_could_be_set():
    subject = TorchSubject(abs, WIDE)
    asks = [
        subject.parameters,
        subject.calm,
        lambda: subject.to("float16"),
        lambda: subject.mode(training=True),
    ]
    for ask in asks:
        with pytest.raises(Unable, match=r"^it is a function: its parameters and modes are its own$"):
            ask()
    assert subject.mode(training=False) is subject
    assert subject.modes == ("eval",)


def test_a_copy_with_other_parameters_leaves_the_block_alone():
    subject = TorchSubject(Block(), WIDE, dtype="float64")
    before = subject.parameters()
    other = subject.with_parameters({name: 2 * value for name, value in before.items()})
    assert other == dataclasses.replace(subject, block=other.block)
    assert all(each.dtype == torch.float32 for each in other.block.parameters())
    assert [each.requires_grad for each in other.block.parameters()] == [True, False, True]
    for name, value in before.items():
        np.testing.assert_array_equal(other.parameters()[name], 2 * value)
        np.testing.assert_array_equal(subject.parameters()[name], value)


def test_a_copy_in_another_dtype_leaves_the_block_alone():
    subject = TorchSubject(Block(), WIDE)
    half = subject.to("float16")
    assert (half.dtype, half.block.w.dtype, half.block.shift.dtype) == (
        "float16",
        torch.float16,
        torch.float16,
    )
    assert (subject.dtype, subject.block.w.dtype) == ("float32", torch.float32)


@pytest.mark.parametrize("training", [True, False])
def test_a_copy_in_a_mode_leaves_the_block_in_its_own(training):
    subject = TorchSubject(Dropping().train(not training), WIDE)
    assert subject.modes == ("eval", "train")
    moved = subject.mode(training=training)
    assert {part.training for part in moved.block.modules()} == {training}
    assert {part.training for part in subject.block.modules()} == {not training}
    assert moved.block.drop.p == 0.5


def test_a_calm_copy_trains_without_dropout_under_any_of_its_names():
    subject = TorchSubject(Dropping(), WIDE)
    calm = subject.calm().block
    assert {part.training for part in calm.modules()} == {True}
    assert (calm.drop.p, calm.own.rate, calm.attention.dropout, calm.dropout_rate) == (0.0, 0.0, 0.0, 0.0)
    # what has such a name in a module that is no dropout, or is no number, is something else
    assert (calm.own.scale, calm.p, calm.rate, calm.dropout_kind) == (0.25, 0.5, 0.5, "plain")
    assert (subject.block.drop.p, subject.block.dropout_rate) == (0.5, 0.5)


def test_a_block_is_run_in_the_dtype_of_its_first_floating_tensor():
    counting = nn.Module()
    counting.register_buffer("count", torch.zeros(1, dtype=torch.int64))
    assert dtype_of(counting) == dtype_of(abs) == dtype_of(nn.Identity()) == "float32"
    counting.register_buffer("table", torch.zeros(1, dtype=torch.float64))
    assert dtype_of(counting) == "float64"
    counting.w = nn.Parameter(torch.zeros(1, dtype=torch.bfloat16))
    assert dtype_of(counting) == "bfloat16"
