"""The torch block beside PyTorch's own layer, forward and backward."""

from benchmarks.contenders import EncoderLayer, Training, in_torch
from benchmarks.timing import Contest, Row, sample_of


def contest() -> Contest:
    """Make the contenders."""
    return Contest(sample_of(Training(in_torch())), sample_of(Training(EncoderLayer())))


ROW = Row("in_torch forward and backward / the same layer in training", 0.90, contest)
