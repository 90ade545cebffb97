"""A tiny exercise, `tiny.double`: y = 2 x. Its cases and properties can be read at a glance."""

from dataclasses import replace

import numpy as np

from block_course.calling import observe
from block_course.exercise import Case, Exercise, Failure, Misconception, Observation, Property

REGULAR, LONE, EXTREME = "regular", "lone", "extreme"


def reference(x):
    return 2.0 * x.astype(np.float64)


def cases(rng):
    return [
        Case(name=REGULAR, arguments={"x": rng.uniform(1.0, 2.0, (2, 3))}),
        Case(name=LONE, arguments={"x": rng.uniform(3.0, 4.0, 5)}),
        Case(name=EXTREME, arguments={"x": np.array([1e200, 1.0])}, extreme=True),
    ]


def _right_on(*names):
    def holds(exercise, run):
        for case, seen in run:
            if case.name in names:
                expected = reference(case.arguments["x"])
                if not seen.outputs or not np.array_equal(seen.outputs[0], expected):
                    return Failure(case=case.name, message="not doubled")
        return None

    return holds


def through_squares(x):
    """Right as long as the square is finite."""
    return 2.0 * np.sqrt(np.square(x))


EXERCISE = Exercise(
    id="tiny.double",
    answer="double",
    title="Double",
    level="warm-up",
    minutes=2,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        Property(name="doubled", title="doubled", points=2.0, holds=_right_on(REGULAR, LONE)),
        Property(
            name="large", title="large too", points=0.5, holds=_right_on(EXTREME), requires=("doubled",)
        ),
    ),
    misconceptions=(
        Misconception(
            name="squared",
            answer=lambda x: np.square(x),
            message=lambda case, outputs: f"on {case.name} you give {outputs[0].flat[0]:.2f}",
        ),
        Misconception(
            name="doubled along axis 1",
            answer=lambda x: np.flip(2.0 * x, axis=1),
            message=lambda case, outputs: "flipped",
        ),
        Misconception(
            name="through squares",
            answer=through_squares,
            message=lambda case, outputs: "the square overflows",
        ),
    ),
    hints=("look", "see", "2 x"),
)


def drawn():
    return cases(np.random.default_rng(0))


def run_of(answer, some=None):
    return [(case, observe(answer, case)) for case in some or drawn()]


def run_with(*observations):
    """A run of which the calls ended as given, in the order of the cases."""
    return list(zip(drawn(), observations, strict=True))


def returned(case):
    return Observation(status="returned", outputs=(reference(case.arguments["x"]),), kinds=("numpy.ndarray",))


def with_property(holds):
    return replace(EXERCISE, properties=(Property(name="odd", title="odd", points=1.0, holds=holds),))
