"""How far a right answer may lie from the reference: rounding, and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from block_course.exercise import Array, Case

_REDUCTIONS = 3
_OPERATIONS_BESIDE_A_REDUCTION = 8


def tolerance(dtype: DTypeLike, *, terms: int, condition: float = 1.0, scale: float = 1.0) -> float:
    """Largest distance from the reference that rounding alone explains.

    ```
    tolerance = 3 · (terms + 8) · u · condition · scale,      u = unit roundoff of dtype
    ```

    One rounding makes a relative error of at most u: 1.1e-16 in float64, 6.0e-8 in float32. A sum of n terms,
    added in any order, is off by at most (n − 1) u Σ|termᵢ| to first order. The longest chain of an exercise
    has three reductions in a row (layer norm: mean, variance, and the mean again inside the variance), and
    beside each fewer than eight single operations; their errors add. `condition` is by how much the problem
    magnifies an error on the way (for layer norm the largest |feature| over the spread, because the mean is
    subtracted), and `scale` is the size of the result. This is a worst case: errors of both signs cancel, and
    a right answer in NumPy, einsum or a Python loop stays well inside. A wrong one differs in a leading
    digit.

    An integer or bool dtype has no rounding: its tolerance is 0.

    Raises ValueError if `terms` is not positive, or `condition` or `scale` is negative or not finite.
    Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), chapters 3 and 4.
    """
    if terms < 1:
        raise ValueError(f"terms must be positive; got {terms}")
    for name, value in (("condition", condition), ("scale", scale)):
        if not 0.0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and not negative; got {value}")
    kind = np.dtype(dtype)
    if kind.kind != "f":
        return 0.0
    unit_roundoff = float(np.finfo(kind).eps) / 2.0
    roundings = _REDUCTIONS * (terms + _OPERATIONS_BESIDE_A_REDUCTION)
    return roundings * unit_roundoff * max(1.0, condition) * scale


def case_tolerance(
    case: Case, expected: Array, *, condition: float | None = None, given: Array | None = None
) -> float:
    """The tolerance for `expected` on `case`.

    The dtype is the narrowest floating one among the arguments (float64 if none is), the terms are the
    longest axis of an argument, the scale is the largest |entry| of `expected`. `condition` replaces the
    case's own, for an output that the cancellation behind it does not touch.

    An output `given` in float32 is judged as float32, so that a slip of dtype costs the property that judges
    dtypes and no other. In float16 a wrong answer could hide, so that an output in float16 gets no more room.
    """
    arrays = [each for each in case.arguments.values() if isinstance(each, np.ndarray)]
    floats = [each.dtype for each in arrays if each.dtype.kind == "f"]
    if given is not None and given.dtype == np.float32:
        floats.append(given.dtype)
    longest = max((side for each in arrays for side in each.shape), default=1)
    if expected.dtype.kind != "f":
        return 0.0
    return tolerance(
        min(floats, key=lambda dtype: dtype.itemsize, default=np.dtype(np.float64)),
        terms=max(1, longest),
        condition=case.condition if condition is None else condition,
        scale=float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)),
    )


def agrees(got: Array, expected: Array, bound: float) -> bool:
    """Whether two arrays have one shape and, entry by entry, differ by at most `bound`.

    Infinities and NaN agree with their like alone.
    """
    return got.shape == expected.shape and bool(np.all(_entries_agree(got, expected, bound)))


def first_difference(got: Array, expected: Array, bound: float) -> tuple[int, ...] | None:
    """Index of the first entry, in reading order, that differs by more than `bound`; None if none does.

    Both arrays must have the same shape.
    """
    differing = np.argwhere(~_entries_agree(got, expected, bound))
    return tuple(int(i) for i in differing[0]) if len(differing) else None


def _entries_agree(got: Array, expected: Array, bound: float) -> Array:
    if got.dtype.kind != "f" and expected.dtype.kind != "f":
        return np.asarray(got == expected)
    left, right = got.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(left - right) <= bound
    return np.asarray(near | (left == right) | (np.isnan(left) & np.isnan(right)))
