"""The gradients of a PyTorch block: by its input and by each parameter that learns."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from transformer_block.audit.facts import Facts
from transformer_block.audit.subject import Unable
from transformer_block.audit.torch_subject import TorchSubject

D = 6
WIDE = Facts(d_model=D)
X = np.random.default_rng(1).normal(size=(2, 4, D))
DY = np.random.default_rng(2).normal(size=(2, 4, D))
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


def test_gradients_are_those_of_the_products_with_dy():
    block = Block().double()
    dx, learned = TorchSubject(block, WIDE, dtype="float64").gradients(X, DY)
    assert [*learned] == ["w", "forgotten"]
    np.testing.assert_allclose(dx, DY * 2 * X * block.w.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(learned["w"], (DY * X**2).sum((0, 1)), rtol=1e-12)
    assert learned["forgotten"] is None
    assert block.w.grad is None


def test_gradients_are_taken_with_the_mask_where_one_is_passed():
    received = []

    def call(block, x, visible):
        received.append(visible)
        return x * visible.to(x.dtype).sum(-1, keepdim=True)

    subject = TorchSubject(nn.Identity(), Facts(d_model=D, call=call), dtype="float64")
    with torch.no_grad():
        dx, learned = subject.gradients(X, DY, VISIBLE)
    np.testing.assert_allclose(dx, DY * VISIBLE.sum(-1, keepdims=True), rtol=1e-12)
    assert learned == {}
    np.testing.assert_array_equal(received[0].numpy(), VISIBLE)


def test_gradients_of_a_block_that_writes_over_its_tokens_are_still_those_of_its_input():
    subject = TorchSubject(lambda x: x.mul_(3), WIDE, dtype="float64")
    np.testing.assert_array_equal(subject.gradients(X, DY)[0], 3 * DY)


def test_an_input_that_is_not_heard_has_gradients_of_0():
    block = Block().double()
    subject = TorchSubject(block, Facts(d_model=D, call=lambda b, x, _: x.detach() * b.w), dtype="float64")
    dx, learned = subject.gradients(X, DY)
    np.testing.assert_array_equal(dx, np.zeros(X.shape))
    np.testing.assert_allclose(learned["w"], (DY * X).sum((0, 1)), rtol=1e-12)


def test_an_output_that_nothing_leads_to_has_no_way_back():
    with pytest.raises(Unable, match=r"^its output has no way back to its input$"):
        TorchSubject(lambda x: x.detach(), WIDE).gradients(X, DY)


def test_a_backward_from_a_dy_is_run_ahead(monkeypatch):
    calls = []
    plain = torch.autograd.grad

    def grad(*args, **named):
        calls.append(args)
        return plain(*args, **named)

    monkeypatch.setattr(torch.autograd, "grad", grad)
    TorchSubject(nn.Identity(), WIDE).prepare()
    ((_, _, dy),) = calls
    assert dy is not None


@pytest.mark.slow
def test_what_is_prepared_leaves_gradients_nothing_to_load():
    program = """
import sys, numpy, torch
from transformer_block.audit.facts import Facts
from transformer_block.audit.torch_subject import TorchSubject

subject = TorchSubject(torch.nn.Linear(2, 2), Facts(d_model=2))
subject.prepare()
loaded = set(sys.modules)
subject.gradients(numpy.ones((1, 1, 2)), numpy.ones((1, 1, 2)))
print(*set(sys.modules) - loaded)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
