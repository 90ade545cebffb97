"""The torch block beside PyTorch's own layer, in evaluation."""

from benchmarks.contenders import EncoderLayer, Evaluation, in_torch
from benchmarks.timing import Contest, Row, sample_of


def contest() -> Contest:
    """Make the contenders."""
    return Contest(sample_of(Evaluation(in_torch())), sample_of(Evaluation(EncoderLayer())))


ROW = Row("in_torch forward / nn.TransformerEncoderLayer in evaluation", 0.95, contest)
