"""What a run of the gallery has measured, as the page on the quality of the checks shows it.

    python -m pytest -p tests.gallery.measured tests/gallery

writes chapters/data/checks_quality.json. Each test says what it saw as a property of its report, under the
name of its kind of answer.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from block_course.checks import assignments
from tests.gallery.test_gallery import SEEDS

STORED = Path(__file__).parents[2] / "chapters/data/checks_quality.json"
KINDS = ("right", "wrong", "trivial", "reference")
Seen = list[tuple[str, dict[str, Any]]]
_seen: Seen = []


def figures(seen: Seen) -> dict[str, dict[str, Any]]:
    """The figures of each exercise, in the order of the course, from what its tests saw."""
    ids = [exercise.id for assignment in assignments() for exercise in assignment.exercises]
    return {id: _of_exercise([(kind, each) for kind, each in seen if each["of"] == id]) for id in ids}


def _of_exercise(seen: Seen) -> dict[str, Any]:
    right, wrong, trivial, reference = ([each for kind, each in seen if kind == one] for one in KINDS)
    return {
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


def written(seen: Seen, seeds: int) -> str:
    """The file, an exercise a line."""
    lines = ",\n".join(f"{json.dumps(id)}: {json.dumps(each)}" for id, each in figures(seen).items())
    return f'{{"seeds": {seeds}, "exercises": {{\n{lines}\n}}}}\n'


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        _seen.extend((name, value) for name, value in report.user_properties if name in KINDS)  # type: ignore[misc]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        STORED.write_text(written(_seen, SEEDS), encoding="utf-8")
