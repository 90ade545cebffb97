"""What a run of the gallery has measured, as the page on the quality of the checks shows it.

    python -m pytest -p tests.gallery.measured tests/gallery

writes chapters/data/checks_quality.json. Each test says what it saw as a property of its report, under the
name of its kind of answer. A run of some exercises alone (`-k masks`) puts their figures beside those that
are stored of the others; an exercise of which not all ran keeps what it had.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from block_course.checks import assignments
from block_course.exercise import Exercise
from tests.gallery.answers import gallery
from tests.gallery.test_gallery import SEEDS

STORED = Path(__file__).parents[2] / "chapters/data/checks_quality.json"
KINDS = ("right", "wrong", "trivial", "reference")
Figures = dict[str, Any]
Seen = list[tuple[str, Figures]]
_seen: Seen = []


def figures(seen: Seen, seeds: int) -> dict[str, Figures]:
    """The figures of each exercise all of whose answers were tried, in the order of the course."""
    of_each = {
        each.id: _of_exercise([(kind, one) for kind, one in seen if one["of"] == each.id], seeds)
        for each in _exercises()
    }
    return {each.id: of_each[each.id] for each in _exercises() if _is_whole(each, of_each[each.id])}


def _exercises() -> list[Exercise]:
    return [exercise for assignment in assignments() for exercise in assignment.exercises]


def _is_whole(exercise: Exercise, found: Figures) -> bool:
    shown = gallery(exercise)
    sizes = {"right": len(shown.right), "wrong": len(shown.wrong), "trivial": len(shown.trivial)}
    has_mutants = exercise.calls == "test" or found["mutants"] > 0
    return has_mutants and all(found[kind] == size for kind, size in sizes.items())


def _of_exercise(seen: Seen, seeds: int) -> Figures:
    right, wrong, trivial, reference = ([each for kind, each in seen if kind == one] for one in KINDS)
    return {
        "seeds": seeds,
        "right": len(right),
        "right_runs": sum(each["runs"] for each in right),
        "rejected": sum(each["rejected"] for each in right),
        "wrong": len(wrong),
        "diagnosed": sum(each["diagnosed"] for each in wrong),
        "wrong_runs": sum(each["runs"] for each in wrong),
        "passed": sum(each["passed"] for each in wrong),
        "misnamed": sum(each["misnamed"] for each in wrong),
        "trivial": len(trivial),
        "most_for_nothing": round(max((each["share"] for each in trivial), default=0.0), 3),
        "mutants": sum(each["mutants"] for each in reference),
        "equal": sum(each["equal"] for each in reference),
        "survived": sum(each["survived"] for each in reference),
    }


def written(seen: Seen, seeds: int, stored: dict[str, Figures]) -> str:
    """The file, an exercise a line: what was seen now, and of other exercises what was stored."""
    known = {**stored, **figures(seen, seeds)}
    ids = [each.id for each in _exercises() if each.id in known]
    return "{\n" + ",\n".join(f"{json.dumps(id)}: {json.dumps(known[id])}" for id in ids) + "\n}\n"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _seen.extend((name, value) for name, value in report.user_properties if name in KINDS)  # type: ignore[misc]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
        STORED.write_text(written(_seen, SEEDS, stored), encoding="utf-8")
