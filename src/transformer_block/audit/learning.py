"""Contracts of what is learned: gradients reach it, and a saved state restores it."""

from dataclasses import replace

import numpy as np

from transformer_block.audit.measures import aside, distance, judged, run
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, Unable, tokens


def gradients(subject: Subject) -> Row:
    """A random loss has a finite gradient by the input, and one by every parameter.

    number counts the parameters without one, and the gradients that are not finite.
    """
    name = "gradients"
    try:
        dx, learned = subject.in_mode(subject.modes[-1]).gradients(
            tokens(subject), tokens(subject, 1)
        )
    except Unable as reason:
        return aside(name, reason)
    dead = [n for n, each in learned.items() if each is None or not np.any(each)]
    if not np.any(dx):
        dead.append("the input")
    found = {"the input": dx, **learned}
    wild = [n for n, each in found.items() if each is not None and not _finite(each)]
    told = [f"{_list(dead)} received none"] * bool(dead)
    told += [f"not finite for {_list(wild)}"] * bool(wild)
    return judged(
        name,
        float(len(dead) + len(wild)),
        0.0,
        good=f"finite and not 0 for the input and each of {len(learned)} parameters",
        bad="; ".join(told),
        dead=dead,
        wild=wild,
    )


def state(subject: Subject) -> Row:
    """What state_dict() holds makes a new block the same; so do parameters in NumPy.

    Without Facts(fresh=…), which makes a block anew, the state is loaded into a copy
    whose parameters have been moved.
    """
    name = "state"
    subject = subject.mode(training=False)
    x = tokens(subject)
    y = run(subject, x)
    try:
        again = _restored(subject)
    except Unable as reason:
        return aside(name, reason)
    anew = subject.facts.fresh is not None
    return judged(
        name,
        distance(run(again, x), y),
        0.0,
        good="its state, loaded into "
        + ("a block made anew" if anew else "a copy of other weights")
        + ", gave the same outputs to the last bit",
        bad="its state, loaded into a block made anew, gave other outputs: "
        "something that it computes with is not in its state",
    )


def _restored(subject: Subject) -> Subject:
    fresh = subject.facts.fresh
    if subject.framework == "numpy":
        kept = subject.parameters()
        made = subject if fresh is None else replace(subject, block=fresh())
        return made.stirred(seed=7).with_parameters(kept)
    if not subject.modes[1:]:
        raise Unable("it is a function, and has no state of its own")
    if fresh is None:
        made = subject.stirred(seed=7)
    else:
        subject.seed(7)
        made = replace(subject, block=fresh()).to(subject.dtype).mode(training=False)
    made.block.load_state_dict(subject.block.state_dict())
    return made


def _finite(each: np.ndarray) -> bool:
    return bool(np.isfinite(each).all())


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
