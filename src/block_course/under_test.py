"""A block that a learner's test must judge: it answers questions about arrays, and shows nothing else.

The two ends may lie in two processes. `Interview` answers, beside the blocks; `Block` is what the test
gets, and asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from block_course.exercise import Array, Outputs, Subject, as_outputs
from block_course.plain import plain_array, refusal

FORWARD, GRADIENTS = "forward", "gradients"
MOST_QUESTIONS = 200
MOST_NUMBERS = 16_384
MOST_TOKENS = 256
"""Attention takes the square of them. The grader answers in a process that no deadline can stop."""

Ask = Callable[[str, Outputs], Outputs]
"""From a question and its arrays to the answer's. Raises ValueError, in the same words for any block."""


class TooMuch(ValueError):
    """A question that takes more than a block answers; the message is the same for all blocks of a test."""


class Interview:
    """One block, asked by one test: so many questions, of so many numbers, and no more."""

    def __init__(self, subject: Subject) -> None:
        """Nothing has been asked yet."""
        self._subject = subject
        self._left = MOST_QUESTIONS

    def ask(self, question: str, arrays: Outputs) -> Outputs:
        """Answer with new arrays. Raises ValueError if the question can't be answered, and says why."""
        if self._left == 0:
            raise ValueError(f"a test may call its block {MOST_QUESTIONS} times")
        self._left -= 1
        if question not in self._subject.answers:
            raise ValueError(f"this block has no {question}; it has {', '.join(self._subject.answers)}")
        # an empty batch of endless sequences hands over no number, and its masks fill the memory
        if sum(math.prod(max(side, 1) for side in each.shape) for each in arrays) > MOST_NUMBERS:
            raise ValueError(f"a call may hand over {MOST_NUMBERS:,} numbers")
        # a mask, which is of booleans, has no features, so that its last but one side isn't its tokens
        if any(each.ndim > 1 and each.shape[-2] > MOST_TOKENS for each in arrays if each.dtype.kind != "b"):
            raise ValueError(f"a call may hand over sequences of {MOST_TOKENS} tokens")
        try:
            with np.errstate(all="ignore"):
                answered = as_outputs(self._subject.answers[question](*(each.copy() for each in arrays)))
        except TooMuch:
            raise
        except Exception:  # whatever it says: its words, and the names in them, are those of one design
            shapes = " and ".join(str(each.shape) for each in arrays) or "nothing"
            raise ValueError(f"this block has no answer ({question}) to {shapes}") from None
        return tuple(each.copy() for each in answered)


class Block:
    """What a learner's test gets: `block(x)`, `block(x, visible)`, `block.gradients(x, dy)`.

    NumPy arrays go in and come out.
    """

    def __init__(self, ask: Ask) -> None:
        """Ask by `ask`."""
        self._ask = ask

    def __call__(self, x: object, visible: object = None) -> Array:
        """The block's output on x (B, T, D), with the mask `visible` (T, S) if one is given."""
        return self._asked(FORWARD, x, visible)[0]

    def gradients(self, x: object, dy: object) -> Array:
        """The gradient of Σ y·dy by x."""
        return self._asked(GRADIENTS, x, dy)[0]

    def _asked(self, question: str, *given: object) -> Outputs:
        arrays = []
        for value in given:
            if value is not None:
                array, kind = plain_array(value)
                if (refused := refusal(kind)) is not None:
                    raise TypeError(f"a block takes arrays; got {refused}")
                arrays.append(array)
        return self._ask(question, tuple(arrays))
