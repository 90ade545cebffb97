"""A property on some cases sees those and no others."""

from block_course.checks.selection import among, on
from block_course.exercise import Case, Failure, Observation, Property

ALL = Property(
    name="all",
    title="every case is good",
    points=1.5,
    holds=lambda exercise, run: next(
        (Failure(case=case.name, message="bad") for case, _ in run if case.name.startswith("bad")), None
    ),
)
RUN = [(Case(name=name), Observation(status="returned")) for name in ("good", "bad one", "bad two")]


def test_a_case_that_was_not_named_breaks_nothing():
    assert ALL.holds(None, RUN).case == "bad one"
    assert on(among("good"), ALL).holds(None, RUN) is None


def test_a_case_that_was_named_is_looked_at():
    assert on(among("good", "bad two"), ALL).holds(None, RUN).case == "bad two"


def test_points_and_title_are_those_of_the_property():
    some = on(among("good"), ALL)

    assert (some.name, some.title, some.points) == ("all", "every case is good", 1.5)
