"""Subjects as small as a function, for tests of one contract at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer_block.audit import Facts
from transformer_block.audit.subject import Subject, Unable

B, T, D = 3, 7, 4
ROUNDING = 2.0**-46
"""32 ε √D, for outputs of at most 1: added to multiples of 2⁻¹², it is not rounded itself."""


def subject(block: Any, **facts: Any) -> Subject:
    return Subject(block, Facts(d_model=D, framework="numpy", **facts))


class Recorded:
    """A block that keeps what it received and what it returned."""

    def __init__(self, function: Callable[[np.ndarray, Any], np.ndarray]) -> None:
        self.function = function
        self.inputs: list[np.ndarray] = []
        self.masks: list[np.ndarray | None] = []
        self.outputs: list[np.ndarray] = []

    def __call__(self, x: np.ndarray, visible: np.ndarray | None = None) -> np.ndarray:
        self.inputs.append(x.copy())
        self.masks.append(visible)
        self.outputs.append(self.function(x, visible))
        return self.outputs[-1]


class Steps:
    """Outputs move by whole steps of rounding with each token that is not as it first was.

    y_t = x_t / 64 + ROUNDING (Σ over the changed s of seen[t, s], or of unseen[t, s] where t doesn't see s;
    + masked, if there is a mask at all)
    """

    def __init__(self, seen: Any = 0, unseen: Any = 0, masked: float = 0) -> None:
        self.seen, self.unseen, self.masked = seen, unseen, masked
        self.first: np.ndarray | None = None

    def __call__(self, x: np.ndarray, visible: np.ndarray | None = None) -> np.ndarray:
        if self.first is None:
            self.first = x.copy()
        changed = (x != self.first).any(axis=-1, keepdims=True)
        sees = np.ones((B, T, T), dtype=bool) if visible is None else visible
        moves = np.where(sees, self.seen, self.unseen) @ changed + (0 if visible is None else self.masked)
        return np.asarray(x / 64 + ROUNDING * moves)


@dataclass(frozen=True)
class Modal(Subject):
    """A subject whose block holds one block a mode, or None for a mode that it can't be in."""

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(self.block)

    def in_mode(self, name: str) -> Subject:
        if self.block[name] is None:
            raise Unable("it can't be in this mode")
        return Subject(self.block[name], self.facts)

    def mode(self, training: bool) -> Subject:
        return self.in_mode({False: "eval", True: "train"}[training])


def modal(*, facts: dict[str, Any] | None = None, **blocks: Any) -> Modal:
    return Modal(blocks, Facts(d_model=D, framework="numpy", **(facts or {})))
