"""Contracts of masks: who hears whom, and what happens to those that see nothing."""

import numpy as np

from transformer_block.audit.measures import (
    aside,
    distance,
    hears_later,
    hidden_keys,
    hidden_keys_move,
    in_each_mode,
    judged,
    mask_of,
    where,
)
from transformer_block.audit.report import Row
from transformer_block.audit.subject import B, Subject, T, tokens


def causal(subject: Subject) -> Row:
    """No position hears a later one; each is changed at random, in each mode.

    A constant shift of all features would be lost in a layer norm.
    """
    name = "causal"
    heard = {mode: hears_later(subject.in_mode(mode)) for mode in subject.modes}
    worst = max(heard.values(), key=lambda each: each.later)
    facts = {
        "eval": heard["eval"].later,
        "train": heard[subject.modes[-1]].later,
        "share": worst.share,
        "next_only": worst.next_only,
        "hears_nothing": worst.earlier <= worst.rounding,
        "rounding": worst.rounding,
    }
    if not subject.facts.causal:
        return aside(
            name,
            "positions hear later ones: it is not causal, or has lost its mask; "
            "Facts(causal=True) would make it a contract",
            **facts,
        )
    later = {mode: each.later for mode, each in heard.items()}
    return judged(
        name,
        worst.later,
        worst.rounding,
        good="no output moved when a later token changed at random",
        bad="an output moved when a later token changed, "
        f"{where(later, worst.rounding)}: the future leaks",
        **facts,
    )


def padding(subject: Subject) -> Row:
    """What hidden tokens hold does not matter to visible queries, in each mode."""
    name = "padding"
    if not subject.takes_mask:
        return aside(name, "it takes no mask")
    moved = {mode: hidden_keys_move(subject.in_mode(mode)) for mode in subject.modes}
    worst = max(moved.values(), key=lambda each: each.by_hidden)
    hidden = {mode: each.by_hidden for mode, each in moved.items()}
    return judged(
        name,
        worst.by_hidden,
        worst.rounding,
        good="no visible output moved when hidden tokens changed",
        bad="a visible output moved when a hidden token changed, "
        f"{where(hidden, worst.rounding)}",
        eval=hidden["eval"],
        train=hidden[subject.modes[-1]],
        by_mask=worst.by_mask,
        by_visible=worst.by_visible,
        rounding=worst.rounding,
    )


def meaning(subject: Subject) -> Row:
    """The mask means what it says: visible tokens are heard, hidden ones are not.

    number is 1 where hidden tokens are heard and visible ones are not.
    """
    name = "mask meaning"
    if not subject.takes_mask:
        return aside(name, "it takes no mask")
    moved = hidden_keys_move(subject.mode(training=False))
    inverted = moved.heard_visible <= moved.rounding < moved.heard_hidden
    means = subject.facts.mask_means or "visible"
    said = {
        "visible": "True means visible",
        "hidden": "True means hidden",
        "additive": "the mask is added to the scores",
    }[means]
    return judged(
        name,
        float(inverted),
        0.0,
        good=f"{said}: a visible token moved others by {moved.heard_visible:.2g}, "
        f"a hidden one by {moved.heard_hidden:.2g}",
        bad=f"a hidden token moved others by {moved.heard_hidden:.2g}, a visible one "
        f"by {moved.heard_visible:.2g}: the mask is read the wrong way round",
        means=means,
    )


def masked_row(subject: Subject) -> Row:
    """A query that sees no key has finite outputs and gradients, in each mode.

    number counts what is not finite.
    """
    name = "fully masked row"
    if not subject.takes_mask:
        return aside(name, "it takes no mask")
    nothing = np.ones((B, T, T), dtype=bool)
    nothing[0] = False
    faults = in_each_mode(subject, lambda each: _not_finite(each, nothing))
    gradients = in_each_mode(subject, lambda each: _not_finite_back(each, nothing))
    total = sum(faults.values()) + sum(gradients.values())
    return judged(
        name,
        total,
        0.0,
        good="a sequence whose tokens see no key came out finite"
        + (", and so did its gradients" if gradients else ""),
        bad=f"a sequence whose tokens see no key came out {_places(faults, gradients)}",
        forward=faults,
        backward=gradients,
    )


def averages(subject: Subject) -> Row:
    """On equal tokens, attention returns what each token holds, whatever is visible.

    The weights of a query sum to 1, so an average of equal values is that value: every
    output must be that of one token alone, with a mask and without.
    """
    name = "average"
    facts = subject.facts
    if facts.positions == "added":
        return aside(name, "positions are added to its tokens: none are equal inside")
    subject = subject.mode(training=False)
    token = tokens(subject, 3)[:, :1]
    x = np.repeat(token, T, axis=1)
    alone = subject(token)
    y = subject(x)
    bare = distance(y, alone.repeat(T, 1))
    rounding = subject.rounding(alone)
    if distance(y[:, :1], alone) <= rounding < bare and facts.positions is None:
        return aside(
            name,
            "only its first position gives what a token alone gives: positions seem to "
            "be added inside; Facts(positions='none') would make it a contract",
        )
    last_right = distance(y[:, -1:], alone) <= rounding < bare
    masked, behind = _behind_masks(subject, x, alone, last_right)
    return judged(
        name,
        max(bare, masked),
        rounding,
        good="equal tokens came out equal, and as one of them alone",
        bad="equal tokens did not come out as one of them alone: the weights of a "
        "query do not sum to 1, or features change places",
        bare=bare,
        masked=masked,
        behind=behind,
        rounding=rounding,
    )


def _behind_masks(
    subject: Subject, x: np.ndarray, alone: np.ndarray, last_right: bool
) -> tuple[float, bool]:
    """How far masks move equal tokens, and whether a mask stands behind the softmax."""
    if not subject.takes_mask:
        return 0.0, last_right
    hidden = mask_of(hidden_keys(subject))
    masked = distance(subject(x, hidden), alone.repeat(T, 1))
    if subject.facts.mask_axes == "BS":
        return masked, last_right
    own = subject(x, _own_key(len(x)))[:, :1]
    return masked, not distance(own, alone) <= subject.rounding(alone)


def _own_key(batch: int) -> np.ndarray:
    """Query 0 sees key 0, and nobody else does: either way, its weight must be 1.

    A softmax over queries gives it 1 too; a mask behind the softmax does not.
    """
    visible = np.ones((batch, T, T), dtype=bool)
    visible[:, 0, 1:] = visible[:, 1:, 0] = False
    return visible


def _not_finite(subject: Subject, visible: np.ndarray) -> float:
    y = subject(tokens(subject), visible)
    return float((~np.isfinite(y)).sum())


def _not_finite_back(subject: Subject, visible: np.ndarray) -> float:
    x, dy = tokens(subject), tokens(subject, 1)
    dx, learned = subject.gradients(x, dy, visible)
    found = [dx, *(each for each in learned.values() if each is not None)]
    return float(sum((~np.isfinite(each)).sum() for each in found))


def _places(faults: dict[str, float], gradients: dict[str, float]) -> str:
    forward, backward = where(faults, 0.0), where(gradients, 0.0)
    if not forward:
        return f"finite, but its gradients as NaN or infinity {backward}"
    also = f"; its gradients {backward}" if backward else ""
    return f"as NaN or infinity {forward}{also}"
