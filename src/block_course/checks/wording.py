"""Numbers, entries and shapes as the panels print them, whatever print options a notebook has set."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from typing import SupportsFloat

_MOST_DIGITS = 15
_LONGEST_VECTOR = 8
_COUNTS = ("no", "one", "two", "three", "four", "five")
_MOST_ROUNDED = len(_COUNTS)


def number(value: SupportsFloat, digits: int = 3) -> str:
    """A number with `digits` decimals. What rounds to zero has no sign: −0.0001 is 0.000."""
    plain = float(value)
    if not math.isfinite(plain):
        return {math.inf: "∞", -math.inf: "−∞"}.get(plain, "NaN")
    if abs(plain) >= 1e6:
        return f"{plain:.{digits}e}".replace("-", "−")
    text = f"{plain:.{digits}f}"
    return text.lstrip("-") if float(text) == 0.0 else text.replace("-", "−")


def two_numbers(left: SupportsFloat, right: SupportsFloat) -> tuple[str, str]:
    """Two numbers with as many decimals, three or more, as it takes to tell them apart."""
    for digits in range(3, _MOST_DIGITS):
        both = number(left, digits), number(right, digits)
        if both[0] != both[1]:
            return both
    return repr(float(left)), repr(float(right))


def quantity(value: SupportsFloat) -> str:
    """A number with three decimals, or with two significant digits where those would hide it: 9.2e−06."""
    plain = float(value)
    return f"{plain:.1e}".replace("-", "−") if 0.0 < abs(plain) < 1e-3 else number(plain)


def amount(value: SupportsFloat) -> str:
    """A number as an entry of a table: a whole one with commas and no decimals, any other with three."""
    plain = float(value)
    if not math.isfinite(plain) or abs(plain) >= 1e15:
        return number(plain)
    if abs(plain) >= 1e3:
        return f"{plain:,.{0 if plain.is_integer() else 3}f}".replace("-", "−")
    return number(plain)


def cut_short(given: float, exact: float) -> str:
    """What to add where a number is another one rounded, ", rounded to two decimals", or should have been."""
    if given == exact or not (math.isfinite(given) and math.isfinite(exact)):
        return ""
    for digits in range(_MOST_ROUNDED):
        to = f"to {_COUNTS[digits]} decimal{'' if digits == 1 else 's'}" if digits else "to a whole number"
        if digits > 1 and exact == round(given, digits):
            return f", not rounded {to}"
        if abs(given - round(exact, digits)) <= 1e-12 * abs(given) and given != 0.0:
            return f", rounded {to}"
    return ", cut to a whole number" if given == math.floor(exact) != 0 else ""


def vector(values: Iterable[SupportsFloat]) -> str:
    """A row of numbers in brackets; whole numbers stand without decimals, a long row is cut short."""
    row = [float(value) for value in islice(values, _LONGEST_VECTOR + 1)]
    digits = 0 if all(value.is_integer() for value in row) else 3
    shown = [number(value, digits) for value in row]
    return f"[{' '.join(shown if len(shown) <= _LONGEST_VECTOR else [*shown[: _LONGEST_VECTOR - 1], '…'])}]"


def entry(index: tuple[int, ...]) -> str:
    """Where an entry stands, as it is indexed: [0, 2]."""
    return f"[{', '.join(map(str, index))}]" if index else "(the only one)"


def shape(sides: tuple[int, ...]) -> str:
    """A shape as Python prints it."""
    return str(tuple(int(side) for side in sides))
