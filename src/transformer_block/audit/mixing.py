"""Contracts of what may be mixed: neither sequences, nor features between positions."""

import numpy as np

from transformer_block.audit.measures import (
    aside,
    distance,
    in_each_mode,
    judged,
    run,
    where,
)
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, tokens


def batch(subject: Subject) -> Row:
    """A sequence comes out the same whatever the others of its batch hold."""
    threshold = subject.rounding(run(subject.mode(training=False), tokens(subject)))
    found = in_each_mode(subject, _moved_by_others)
    number = max(found.values())
    return judged(
        "batch",
        number,
        threshold,
        good="no sequence moved when the others of its batch changed or changed places",
        bad="a sequence moved when the others of its batch changed or changed places, "
        f"{where(found, threshold)}",
        **found,
    )


def permutation(subject: Subject) -> Row:
    """Without positions and mask, tokens that change places keep their outputs."""
    name, facts = "permutation", subject.facts
    if facts.causal:
        return aside(name, "a causal block knows the order of its tokens")
    if facts.positions in ("relative", "added"):
        return aside(name, "its positions tell the order of its tokens")
    subject = subject.mode(training=False)
    x = tokens(subject)
    order = np.random.default_rng(0).permutation(x.shape[1])
    y = run(subject, x)
    moved = distance(run(subject, x[:, order]), y[:, order])
    rounding = subject.rounding(y)
    if facts.positions is None and moved > rounding:
        return aside(
            name,
            "it knows the order of its tokens, by positions inside or by a fault; "
            "Facts(positions='none') would make it a contract",
            moved=moved,
        )
    return judged(
        name,
        moved,
        rounding,
        good="tokens that changed places kept their outputs",
        bad="tokens that changed places did not keep their outputs, "
        "though the block has no positions",
    )


def _moved_by_others(subject: Subject) -> float:
    x, noise = tokens(subject), tokens(subject, 4)
    y = run(subject, x)
    noise[0] = 0
    changed = distance(run(subject, x + noise)[0], y[0])
    return max(changed, distance(run(subject, x[::-1])[::-1], y))
