"""The NumPy block with its gradients by hand beside its twin with autograd."""

from benchmarks.contenders import Training, in_numpy, in_torch, tokens
from benchmarks.timing import Contest, Row, sample_of


def contest() -> Contest:
    """Make the contenders."""
    block, x, dy = in_numpy(), tokens(), tokens(seed=2)

    def forward_and_backward() -> None:
        _, backward = block.vjp(x)
        backward(dy)

    return Contest(sample_of(forward_and_backward), sample_of(Training(in_torch())))


ROW = Row("in_numpy forward and backward / in_torch forward and backward", 2.0, contest)
