"""What several contracts measure: how far outputs move when something else does."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from transformer_block.audit.report import Row
from transformer_block.audit.subject import B, Subject, T, Unable, tokens
from transformer_block.dependence import by_perturbation

Contract = Callable[[Subject], Row]
HIDDEN = ((1, 4), (3,), (2,))
"""Keys that a mask of padding hides in each of the B sequences: not at the end, where a
causal block would not miss them."""


class Heard(NamedTuple):
    """Who hears whom: table[t, s] is how far output t moved with input s."""

    table: np.ndarray
    rounding: float

    @property
    def later(self) -> float:
        """The largest move of an output with a later token."""
        return float(np.triu(self.table, 1).max())

    @property
    def earlier(self) -> float:
        """The largest move of an output with an earlier token."""
        return float(np.tril(self.table, -1).max())

    @property
    def share(self) -> float:
        """The share of the pairs above the diagonal that hear each other."""
        above = self.table[np.triu_indices(T, 1)]
        return float((above > self.rounding).mean())

    @property
    def next_only(self) -> bool:
        """Whether what is heard of the future is the next position, and no other."""
        moved = self.table > self.rounding
        beyond = np.triu(moved, 2).any()
        return bool(np.diagonal(moved, 1).any() and not beyond)


class Moved(NamedTuple):
    """How far visible outputs moved with hidden tokens, and with visible ones.

    by_mask is how far they moved when the mask was passed at all. heard_… are the
    first two again, over the outputs that are finite.
    """

    by_hidden: float
    by_visible: float
    by_mask: float
    heard_hidden: float
    heard_visible: float
    rounding: float


def run(
    subject: Subject, x: np.ndarray, visible: np.ndarray | None = None
) -> np.ndarray:
    """The block's output, from the same start of its random streams each time."""
    subject.seed(1)
    return subject(x, visible)


def hears_later(subject: Subject) -> Heard:
    """Change one position at a time, at random, and see which outputs move.

    Raises: ValueError for outputs that are not finite.
    """
    x = tokens(subject)
    table = by_perturbation(lambda changed: run(subject, changed), x)
    return Heard(table.max(axis=0), subject.rounding(run(subject, x)))


def hidden_keys(subject: Subject) -> np.ndarray:
    """Which keys of each sequence are padding: (B, T), True where hidden."""
    hidden = np.zeros((B, T), dtype=bool)
    for sequence, keys in enumerate(HIDDEN):
        hidden[sequence, list(keys)] = True
    return hidden[:1].repeat(B, 0) if subject.facts.mask_axes == "TS" else hidden


def mask_of(hidden: np.ndarray) -> np.ndarray:
    """A (B, T, T) mask that hides these keys from every query; True is visible."""
    return np.repeat(~hidden[:, None], T, axis=1)


def hidden_keys_move(subject: Subject) -> Moved:
    """Change hidden tokens, then visible ones; see how far the visible outputs move."""
    hidden = hidden_keys(subject)
    visible = mask_of(hidden)
    x, noise = tokens(subject, 1), tokens(subject, 2)
    noisy = x + noise
    before = run(subject, x, visible)
    changed = run(subject, np.where(hidden[..., None], noisy, x), visible)
    first = np.zeros_like(hidden)
    first[:, 0] = True
    other = run(subject, np.where(first[..., None], noisy, x), visible)
    others = ~hidden & ~first
    return Moved(
        by_hidden=distance(changed[~hidden], before[~hidden]),
        by_visible=distance(other[others], before[others]),
        by_mask=distance(run(subject, x)[~hidden], before[~hidden]),
        heard_hidden=_finite_distance(changed[~hidden], before[~hidden]),
        heard_visible=_finite_distance(other[others], before[others]),
        rounding=subject.rounding(before),
    )


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference; infinite where one of the two is not finite."""
    if one.shape != other.shape or not (
        np.isfinite(one).all() and np.isfinite(other).all()
    ):
        return np.inf
    return float(np.abs(one - other).max(initial=0))


def _finite_distance(one: np.ndarray, other: np.ndarray) -> float:
    difference = np.abs(one - other)
    return float(difference[np.isfinite(difference)].max(initial=0))


def judged(
    contract: str,
    number: float,
    threshold: float,
    *,
    good: str,
    bad: str,
    **evidence: Any,
) -> Row:
    """A row that is held while number ≤ threshold, with the sentence that fits."""
    held = number <= threshold
    return Row(
        contract,
        "held" if held else "broken",
        good if held else bad,
        number,
        threshold,
        evidence,
    )


def aside(contract: str, why: object, **evidence: Any) -> Row:
    """A row for a contract that does not apply."""
    return Row(contract, "not applicable", f"{why}", evidence=evidence)


def in_each_mode(
    subject: Subject, measure: Callable[[Subject], float]
) -> dict[str, float]:
    """A measure in evaluation and, where the block knows it, in training."""
    found = {}
    for mode in subject.modes:
        try:
            found[mode] = measure(subject.in_mode(mode))
        except Unable:
            continue
    return found


def where(found: dict[str, float], threshold: float) -> str:
    """The modes in which a measure passes its threshold, in words."""
    modes = [mode for mode, number in found.items() if not number <= threshold]
    words = {"eval": "in evaluation", "train": "in training"}
    return " and ".join(words[mode] for mode in modes)
