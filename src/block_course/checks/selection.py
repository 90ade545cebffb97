"""A property that looks at some of the cases alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from block_course.exercise import Property


def on(names: Sequence[str], judged: Property) -> Property:
    """The same property on the cases of these names, for one that by itself looks at all."""
    return replace(
        judged,
        holds=lambda exercise, run: judged.holds(exercise, [each for each in run if each[0].name in names]),
    )
