"""The contract of likeness: a block computes what a configuration says."""

from collections.abc import Callable

import numpy as np

from transformer_block.audit import variants
from transformer_block.audit.measures import (
    aside,
    distance,
    hidden_keys,
    judged,
    mask_of,
    run,
)
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Arrays, Subject, Unable, tokens
from transformer_block.config import BlockConfig

_AGREES = 1e-5
"""Relative to the largest output: a block may compute in float32 inside."""


def alike(config: BlockConfig) -> Callable[[Subject], Row]:
    """The contract: on the same parameters, by our names, the same outputs as ours."""

    def like(subject: Subject) -> Row:
        name = "like the package"
        try:
            subject = subject.to("float64").mode(training=False)
            parameters = subject.parameters()
            reference = variants.right(config, parameters)
        except Unable as reason:
            return aside(name, reason)
        except ValueError as refusal:
            return aside(name, f"its parameters are not named or shaped so: {refusal}")
        inputs = _inputs(subject, config)
        theirs = [run(subject, *each) for each in inputs]
        number = _furthest(theirs, reference, inputs, subject)
        matches = []
        if not number <= _AGREES:
            matches = [
                fault
                for fault, block in variants.wrong(config, parameters)
                if _furthest(theirs, block, inputs, subject) <= _AGREES
            ]
        told = f": it agrees with the fault {matches[0]}" if matches else ""
        return judged(
            name,
            number,
            _AGREES,
            good="on the same parameters it gave what the package's block gives",
            bad="on the same parameters it did not give what the package's block gives"
            + told,
            matches=matches,
        )

    return like


Input = tuple[np.ndarray, np.ndarray | None]


def _inputs(subject: Subject, config: BlockConfig) -> list[Input]:
    """Ordinary tokens, tokens as small as √eps, and tokens behind a mask."""
    inputs: list[Input] = [
        (tokens(subject), None),
        (tokens(subject, 1) * np.sqrt(config.eps), None),
    ]
    if subject.takes_mask:
        inputs.append((tokens(subject, 2), mask_of(hidden_keys(subject))))
    return inputs


def _furthest(
    theirs: list[np.ndarray],
    block: Callable[..., np.ndarray],
    inputs: list[Input],
    subject: Subject,
) -> float:
    """The largest difference from a block of ours, relative to the largest output.

    Sequences and positions whose output hangs on hidden tokens alone are compared too.
    """
    worst = 0.0
    for output, (x, visible) in zip(theirs, inputs, strict=True):
        ours = block(x, visible, **_memory(subject, len(x)))
        worst = max(worst, distance(output, ours) / float(np.abs(output).max()))
    return worst


def _memory(subject: Subject, batch: int) -> Arrays:
    _, extra = subject.beside(batch)
    return {name: np.asarray(value) for name, value in extra.items()}
