import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from block_course.grading import worker as grading_worker
from block_course.grading.attempt import Limits
from block_course.grading.box import Settings
from block_course.grading.secret import Secret
from block_course.grading.worker import Grader, Terms, settings, version
from tests.block_course.grading.examples import RELEASED_BYTES, SECRET, TINY, released_in, submission, task

pytestmark = pytest.mark.slow

LIMITS = Limits(cell_seconds=5.0, submission_seconds=20.5, memory_mb=300)


@pytest.fixture
def terms(tmp_path: Path) -> Terms:
    return Terms(SECRET, LIMITS, released_in(tmp_path / "exercises"))


def test_a_grader_grades_one_submission_after_the_other_in_one_box(terms: Terms) -> None:
    with Grader(terms) as grader:
        first = grader.grade(task(submission()))
        box = grader._box
        second = grader.grade(task(RELEASED_BYTES, learner="bob"))

        assert grader._box is box
    assert (first["points"], second["points"]) == (6.0, 0.0)


def test_another_assignment_gets_another_box(terms: Terms) -> None:
    other = replace(TINY, stem="01_other")
    (terms.exercises / "01_other.ipynb").write_bytes(RELEASED_BYTES)

    with Grader(terms) as grader:
        grader.grade(task(RELEASED_BYTES))
        box = grader._box
        result = grader.grade(replace(task(RELEASED_BYTES), assignment=other))

        assert grader._box is not box
    assert result["assignment"] == "01_other"


def test_a_release_that_is_missing_is_an_error_of_the_grader_and_no_zero(terms: Terms) -> None:
    (terms.exercises / "00_tiny.ipynb").unlink()

    with Grader(terms) as grader:
        result = grader.grade(task(submission()))

    assert result["points"] is None
    assert "No such file" in result["exercises"][0]["why"]


def test_a_box_gets_what_the_assignment_and_the_limits_say() -> None:
    torch = replace(TINY, exercises=(*TINY.exercises, replace(TINY.exercises[0], framework="torch")))

    assert settings(TINY, LIMITS) == Settings(
        assignment="00_tiny",
        permitted=("transformer_block.axes",),
        torch=False,
        memory_bytes=300 << 20,
        cpu_seconds=22,
    )
    assert settings(torch, LIMITS).torch


def test_a_key_is_the_same_for_the_same_and_differs_with_all_that_a_result_depends_on(
    terms: Terms, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = task(submission())
    keys = [
        terms.key(given),
        terms.key(replace(given, data=b"other")),
        terms.key(replace(given, problem="it can't be read")),
        replace(terms, secret=Secret(b"another secret of some length")).key(given),
        replace(terms, limits=replace(LIMITS, cell_seconds=6.0)).key(given),
    ]
    assert terms.key(replace(given, learner="bob", file="moved/00_tiny.ipynb")) == keys[0]
    (terms.exercises / "00_tiny.ipynb").write_bytes(b"another release")
    keys.append(terms.key(given))
    monkeypatch.setattr(grading_worker, "version", lambda assignment: "another version of the checks")
    keys.append(terms.key(given))

    assert len(set(keys)) == len(keys)


def test_a_version_names_the_code_and_the_numeric_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = replace(TINY, exercises=(replace(TINY.exercises[0], framework="torch"),))
    before = version(TINY)

    assert version(TINY) == before != version(torch)
    monkeypatch.setattr(grading_worker, "_installed", lambda name: "9.9")
    assert version(TINY) != before


LOADED = """
import json, sys
import block_course.grading.batch, block_course.grading.in_box
from block_course.checks import assignments
assignments()
print(json.dumps([each.__file__ for name, each in sys.modules.items() if name.startswith("block_course.")]))
"""


def test_a_version_covers_every_file_that_grading_loads() -> None:
    sources = Path(grading_worker.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)

    covered = {path for room in grading_worker._DECIDING for path in sources.glob(room)}

    assert {Path(each) for each in json.loads(done.stdout)} <= covered
    assert all(list(sources.glob(room)) for room in grading_worker._DECIDING)


def test_a_box_that_is_closed_is_gone(terms: Terms) -> None:
    with Grader(terms) as grader:
        grader.grade(task(RELEASED_BYTES))
        assert grader._box is not None
        server = grader._box._server

    assert server is not None
    assert not server.folder.exists()
    assert grader._box is None
