"""The hidden cases of an assignment: drawn from the secret once, and the same for every submission."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.exercise import Assignment, Case, Exercise
from block_course.grading.secret import Secret


class Hidden:
    """Draws cases and keeps them, with all that becomes known for them, such as what the reference gives."""

    def __init__(self, secret: Secret) -> None:
        """Nothing has been drawn yet."""
        self._secret = secret
        self._drawn: dict[str, tuple[Exercise, Sequence[Case]]] = {}

    def cases(self, assignment: Assignment, exercise: Exercise) -> Sequence[Case]:
        """The cases of an exercise, whose arrays can't be written to.

        The blocks that a test judges are made anew each time: one that keeps something between two questions
        must not hand it from one learner to the next.
        """
        kept = self._drawn.get(exercise.id)
        if kept is None or kept[0] is not exercise:
            kept = exercise, self._draw(assignment, exercise)
            self._drawn[exercise.id] = kept
        elif exercise.calls == "test":
            again = self._draw(assignment, exercise)
            return [case.knowing_what(twin) for case, twin in zip(again, kept[1], strict=True)]
        return kept[1]

    def _draw(self, assignment: Assignment, exercise: Exercise) -> Sequence[Case]:
        cases = exercise.cases(self._secret.generator(assignment.stem, exercise.id))
        for case in cases:
            for value in (*case.arguments.values(), *case.state.values(), case.cotangent):
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False
        return cases
