"""The NumPy block beside its twin."""

from functools import partial

from benchmarks.contenders import Evaluation, in_numpy, in_torch, tokens
from benchmarks.timing import Contest, Row, sample_of


def contest() -> Contest:
    """Make the contenders."""
    ours = partial(in_numpy(), tokens())
    return Contest(sample_of(ours), sample_of(Evaluation(in_torch())))


ROW = Row("in_numpy forward / in_torch forward", 1.6, contest)
