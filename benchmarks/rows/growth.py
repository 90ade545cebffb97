"""Time against work: four times the tokens take no longer than their multiplications say."""

from benchmarks.contenders import D, Evaluation, F, in_torch
from benchmarks.timing import Contest, Row, sample_of

SHORT, LONG = 512, 2048


def flops(length: int) -> int:
    """Multiplications and additions for one sequence; a causal query meets its own past alone."""
    projections = 2 * length * (4 * D * D + 2 * D * F)
    pairs = length * (length + 1) // 2
    return projections + 2 * 2 * pairs * D


def contest() -> Contest:
    """Make the contenders."""
    block = in_torch()
    return Contest(
        sample_of(Evaluation(block, LONG)),
        sample_of(Evaluation(block, SHORT)),
        per=flops(LONG) / flops(SHORT),
    )


ROW = Row("growth of time from T = 512 to 2048 / growth of the FLOP count", 1.1, contest)
