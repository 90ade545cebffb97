"""Numbers inside SVG attributes: how far two lists of coordinates, or two transforms, lie apart."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_FLOAT = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+")
_STEP = re.compile(r"(\w++)\s*\(([^()]*+)\)")
_PLACES = {"translate": (0, 1), "matrix": (4, 5), "rotate": (1, 2)}
"""Which arguments of a transform are coordinates; the others are factors, angles or slopes."""

LINEAR_ATOL = 1e-4
"""Scales, angles and slopes: at 1,000 points from the origin, a factor off by this moves a point by 0.1."""


@dataclass(frozen=True)
class _Step:
    name: str
    arguments: tuple[float, ...]

    @property
    def scale(self) -> float:
        """How many times longer the step makes a unit along the axis that it stretches most."""
        if self.name == "scale":
            return max((abs(factor) for factor in self.arguments), default=1.0)
        if self.name == "matrix" and len(self.arguments) == 6:
            a, b, c, d = self.arguments[:4]
            return max(math.hypot(a, b), math.hypot(c, d))
        return 1.0


def shift(old: str, new: str) -> float | None:
    """Largest distance between corresponding numbers of two attributes; None if they differ in form.

    A number too large for a float makes the distance NaN, which no tolerance admits.
    """
    if _FLOAT.split(old) != _FLOAT.split(new):
        return None
    pairs = zip(_FLOAT.findall(old), _FLOAT.findall(new), strict=True)
    distances = [0.0 if x == y else abs(float(x) - float(y)) for x, y in pairs]
    return math.nan if any(map(math.isnan, distances)) else max(distances, default=0.0)


def scale_of(transform: str) -> float:
    """How many times longer a transform makes a unit, at most."""
    return math.prod(step.scale for step in _steps(transform))


def transform_problem(old: str, new: str, *, scale: float, atol: float) -> str | None:
    """Say how two transforms differ, in a group that is already scaled by `scale`; None if they agree.

    Coordinates may move by `atol` on the page, whatever steps stand before them; the rest by 1e-4.
    """
    if _FLOAT.split(old) != _FLOAT.split(new):
        return f"transform {old!r} became {new!r}"
    for before, after in zip(_steps(old), _steps(new), strict=True):
        for place, (x, y) in enumerate(zip(before.arguments, after.arguments, strict=True)):
            if place in _PLACES.get(before.name, ()):
                distance, limit = abs(x - y) * scale, atol
            else:
                distance, limit = abs(x - y), LINEAR_ATOL
            if x != y and not distance <= limit:
                return f"{before.name} moved by {distance:.3g} (limit {limit:g})"
        scale *= before.scale
    return None


def _steps(transform: str) -> list[_Step]:
    return [
        _Step(name, tuple(float(number) for number in _FLOAT.findall(arguments)))
        for name, arguments in _STEP.findall(transform)
    ]
