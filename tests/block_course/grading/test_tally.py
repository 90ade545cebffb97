import pytest

from block_course.grading import tally as tally_module
from block_course.grading.result import Result
from block_course.grading.tally import Tally, is_below
from block_course.grading.walls import UNSAFE
from tests.block_course.grading.graded import result


@pytest.mark.parametrize(
    ("points", "pass_mark", "below"),
    [(1.7, 60.0, True), (1.8, 60.0, False), (0.0, 0.0, False), (None, 60.0, False), (0.0, None, False)],
)
def test_a_submission_is_below_the_pass_mark_in_percent(
    points: float | None, pass_mark: float | None, below: bool
) -> None:
    assert is_below(result(points=points), pass_mark) is below


def test_only_those_of_the_run_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_module, "MOST_SHOWN", 2)
    results = [result(name, points) for name, points in zip("abcd", (1.0, None, 3.0, 0.0), strict=True)]

    tally = Tally.of(results, {(name, "00_tiny") for name in "abc"} | {("d", "01_other")}, 50.0)

    assert (tally.of_this_run, tally.below) == (3, 1)
    assert [each["learner"] for each in tally.shown] == ["a", "b"]
    assert tally.failed == [("b/00_tiny.ipynb", "")]


def walled(*stood: str) -> Result:
    return {**result(), "walls": list(stood)}


def test_a_wall_stands_if_it_stood_for_all_whose_code_ran() -> None:
    assert Tally.of([walled("a", "b", "c"), walled(), walled("c", "a")], ()).standing == ["a", "c"]
    assert Tally.of([walled("a"), walled("b"), walled("a", "b")], ()).standing == []
    assert not Tally.of([walled()], ()).unsafe
    assert Tally.of([walled("a"), walled(UNSAFE)], ()).unsafe


def test_a_roster_tells_who_is_missing_and_who_is_unknown() -> None:
    results = [result("Zoe\u0308"), result("eve"), result("bob", assignment="01_other")]

    tally = Tally.of(results, (), roster=("Zo\u00eb", "bob", "cy"))

    assert tally.against_roster() == {
        "00_tiny": {"missing": ["bob", "cy"], "unknown": ["eve"]},
        "01_other": {"missing": ["Zo\u00eb", "cy"], "unknown": []},
    }
    assert Tally.of(results, ()).against_roster() is None
