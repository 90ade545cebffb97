"""Contracts of a call: what comes back, what is left alone, and what is not shared."""

import numpy as np

from transformer_block.audit.measures import distance, judged
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, tokens


def shape(subject: Subject) -> Row:
    """(B, T, D) in, (B, T, D) of finite numbers out, for other B and T as well.

    number counts what is not finite.
    """
    x = tokens(subject)
    ways = (x, x[:1], x[:, :1], x[:, :4])
    faults = sum(int((~np.isfinite(subject(each))).sum()) for each in ways)
    return judged(
        "shape",
        float(faults),
        0.0,
        good=f"{x.shape} in, {x.shape} out, all of it finite; other B and T as well",
        bad=f"{faults} outputs are NaN or infinite on ordinary tokens",
    )


def in_place(subject: Subject) -> Row:
    """The tokens and the mask that were passed in hold what they held before."""
    x = subject.native(tokens(subject))
    before = subject.array(x, tokens(subject).shape)
    subject.raw(x)
    moved = distance(subject.array(x, before.shape), before)
    return judged(
        "input kept",
        moved,
        0.0,
        good="the tokens passed in were left as they were",
        bad="the tokens passed in were written over",
    )


def buffer(subject: Subject) -> Row:
    """An output keeps its values while the block is called again."""
    x = tokens(subject)
    y = subject.raw(subject.native(x))
    before = subject.array(y, x.shape).copy()
    subject.raw(subject.native(tokens(subject, 1)))
    moved = distance(subject.array(y, x.shape), before)
    return judged(
        "output kept",
        moved,
        0.0,
        good="an output stayed as it was while the block ran again",
        bad="an output changed when the block ran again: both lie in one buffer",
    )


def determinism(subject: Subject) -> Row:
    """In evaluation the same tokens give the same output, whatever was drawn before."""
    subject = subject.mode(training=False)
    x = tokens(subject)
    outputs = []
    for seed in range(3):
        subject.seed(seed)
        outputs.append(subject(x))
    moved = max(distance(outputs[0], each) for each in outputs[1:])
    return judged(
        "determinism",
        moved,
        0.0,
        good="three calls in evaluation gave the same output to the last bit",
        bad="calls in evaluation with the same tokens gave different outputs",
    )
