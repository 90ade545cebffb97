"""`norm_placement.trend`: the exponent with which a gradient follows the depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from block_course.checks.kept import inputs_unchanged, precision_kept
from block_course.checks.norm_placement.right import exponents
from block_course.checks.properties import paired, values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

LAWS, MEASURED, MEASURED_32, LOUDER = (
    "three exact power laws",
    "measured gradients",
    "measured gradients in float32",
    "the measured gradients times a number",
)
CONDITION = 1000.0


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Laws that pass through all points; then rows with noise, whose ends lie off the line."""
    depths = np.array([2, 4, 8, 16, 48])
    laws = np.array([-0.5, 0.25, -1.0])[:, None]
    drawn = rng.uniform(0.2, 0.8, (4, 1)) * np.array([[-1.0], [1.0], [-1.0], [1.0]])
    noise = np.exp(rng.choice([-1, 1], (4, 1)) * np.array([[0.3, -0.2, -0.1, -0.25, 0.1]]))
    measured = rng.uniform(1.0, 5.0, (4, 1)) * depths**drawn * noise
    return [
        _case(LAWS, depths, np.array([[4.0], [2.0], [3.0]]) * depths**laws),
        _case(MEASURED, depths, measured),
        _case(MEASURED_32, depths, measured[::-1].astype(np.float32)),
        _case(LOUDER, depths, measured * rng.uniform(5.0, 9.0)),
    ]


def _case(name: str, depths: Array, gradients: Array) -> Case:
    return Case(name=name, arguments={"depths": depths, "gradients": gradients}, condition=CONDITION)


def _slope(
    of_depths: Callable[[Array], Array], of_gradients: Callable[[Array], Array], turned: bool = False
) -> Callable[..., Array]:
    """Least squares of other quantities than the two logarithms."""

    def answer(depths: Array, gradients: Array) -> Array:
        x, y = of_depths(depths * 1.0), of_gradients(gradients * 1.0)
        x, y = x - x.mean(), y - y.mean(axis=-1, keepdims=True)
        return np.asarray((y @ x) / (np.square(y).sum(axis=-1) if turned else x @ x))

    return answer


def _ends(depths: Array, gradients: Array) -> Array:
    return np.asarray(np.log(gradients[:, -1] / gradients[:, 0]) / np.log(depths[-1] / depths[0]))


def _through_the_origin(depths: Array, gradients: Array) -> Array:
    x, y = np.log(depths), np.log(gradients)
    return np.asarray((y @ x) / (x @ x))


def _as_it_is(values: Array) -> Array:
    return values


_wrong = partial(misconception, reference=exponents)

MISCONCEPTIONS = (
    _wrong(
        "no logarithms",
        _slope(_as_it_is, _as_it_is),
        sentence="That is the slope of the gradient itself against the depth: how much it changes with one "
        "block more. A power law is a straight line where both axes are logarithmic.",
    ),
    _wrong(
        "logarithm of the gradient alone",
        _slope(_as_it_is, np.log),
        sentence="You take the logarithm of the gradient and leave the depth as it is. Such a slope is the "
        "rate of an exponential; for a power of the depth take both logarithms.",
    ),
    _wrong(
        "logarithm of the depth alone",
        _slope(np.log, _as_it_is),
        sentence="You take the logarithm of the depth and leave the gradient as it is. For a power of the "
        "depth take both logarithms.",
    ),
    _wrong(
        "first and last point alone",
        _ends,
        sentence="That is the slope from the first point to the last. The others count as well: the line is "
        "fitted to all of them by least squares.",
    ),
    _wrong(
        "sign turned",
        lambda depths, gradients: -exponents(depths, gradients),
        sentence="Your exponents have the opposite sign. A gradient that falls with the depth has a negative "
        "one.",
    ),
    _wrong(
        "axes exchanged",
        _slope(np.log, np.log, turned=True),
        sentence="That is the slope of the depth against the gradient. The gradient is what depends on the "
        "depth.",
    ),
    _wrong(
        "line through the origin",
        _through_the_origin,
        sentence="Your line is forced through the origin, that is, through gradient 1 at depth 1. The factor "
        "in front of the power is free: subtract the means, or fit an intercept.",
    ),
)

_NOISE_HINTS: Hints = (
    "Which points does your slope look at?",
    "A line that is fitted by least squares weighs all points. Its slope is the sum of the products of both "
    "deviations from the mean, divided by the sum of squares of the depth's.",
    "Take `np.polyfit` of the two logarithms with degree 1, row by row, and keep the first coefficient.",
)


def _same(before: Case, after: Case, first: Array, second: Array) -> Array:
    return first


EXERCISE = Exercise(
    id="norm_placement.trend",
    answer="exponents",
    title="The exponent of a trend",
    level="core",
    minutes=8,
    framework="numpy",
    reference=exponents,
    cases=cases,
    properties=(
        values("laws", "exact power laws", 1.0, on=(LAWS,)),
        values("measured", "measured gradients", 1.0, on=(MEASURED, MEASURED_32), hints=_NOISE_HINTS),
        paired(
            "factor",
            "a factor in front changes nothing",
            0.5,
            pairs=((MEASURED, LOUDER),),
            alive=(MEASURED, MEASURED_32),
            expect=_same,
            requires=("laws",),
        ),
        precision_kept(0.25, of="gradients", requires=("measured",)),
        inputs_unchanged(0.25, requires=("measured",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "If g = c · L to the power p, what is the logarithm of g?",
        "It is log c + p · log L: a straight line over log L, with slope p.",
        "Fit a line to the logarithms of both by least squares, for each row, and return the slopes.",
    ),
)
