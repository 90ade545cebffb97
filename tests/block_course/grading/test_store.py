import csv
import json
import os
from pathlib import Path

import pytest

from block_course.grading.result import Mark, Result
from block_course.grading.store import InUse, Journal, write_results


def result(learner: str = "ann", points: float | None = 2.5, assignment: str = "00_tiny") -> Result:
    verdict = "grader error" if points is None else "wrong"
    mark = Mark(
        id="tiny.f", title="F", verdict=verdict, points=points, of=3.0, feedback=[], diagnosis=None, why=""
    )
    return Result(
        learner=learner,
        assignment=assignment,
        file=f"{learner}/00_tiny.ipynb",
        content="c",
        points=points,
        of=3.0,
        exercises=[mark],
        notes=[],
        printed="",
        walls=[],
        seconds=0.1,
    )


def lines(folder: Path) -> int:
    return len((folder / "journal.jsonl").read_bytes().splitlines())


def test_what_is_kept_is_there_when_the_journal_is_opened_again(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.keep("k1", result("bob"))
        journal.keep("k2", result("ann"))

    with Journal(tmp_path) as journal:
        assert journal.find("k1") == result("bob")
        assert journal.find("k3") is None
        assert journal.latest() == [result("ann"), result("bob")]


def test_the_latest_of_a_learner_and_assignment_counts(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.keep("k1", result(points=1.0))
        journal.keep("k2", result(points=2.0))
        journal.keep("k3", result(points=3.0, assignment="01_other"))
        assert [each["points"] for each in journal.latest()] == [2.0, 3.0]

        journal.keep("k1", result(points=1.0))

    with Journal(tmp_path) as journal:
        assert [each["points"] for each in journal.latest()] == [1.0, 3.0]


def test_keeping_what_is_the_latest_already_writes_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.keep("k1", result())
        journal.keep("k1", result())

    assert lines(tmp_path) == 1


def test_a_result_of_an_error_of_the_grader_is_not_found_again(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.keep("k1", result(points=None))

        assert journal.find("k1") is None
        assert len(journal.latest()) == 1


@pytest.mark.parametrize("kept", [1, 30, -1])
def test_a_line_that_a_kill_cut_off_is_taken_away_and_the_rest_stays(tmp_path: Path, kept: int) -> None:
    with Journal(tmp_path) as journal:
        journal.keep("k1", result("ann"))
        journal.keep("k2", result("bob"))
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[: first + kept] if kept > 0 else whole[:kept])

    with Journal(tmp_path) as journal:
        assert journal.find("k1") is not None
        assert journal.find("k2") is None
        journal.keep("k3", result("eve"))

    with Journal(tmp_path) as journal:
        assert [each["learner"] for each in journal.latest()] == ["ann", "eve"]
        assert journal.damaged == 0


@pytest.mark.parametrize("line", [b"{", b"[]", b"{}", b'{"key": "k", "result": 3}', b"\xff\xfe", b"null"])
def test_a_damaged_line_is_counted_and_passed_over(tmp_path: Path, line: bytes) -> None:
    with Journal(tmp_path) as journal:
        journal.keep("k1", result())
    path = tmp_path / "journal.jsonl"
    path.write_bytes(line + b"\n" + path.read_bytes())

    with Journal(tmp_path) as journal:
        assert journal.damaged == 1
        assert journal.find("k1") == result()


def test_a_folder_has_one_grader_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(InUse, match="another grader is writing to"):
        Journal(tmp_path)

    with Journal(tmp_path) as journal:
        assert journal.latest() == []


def test_results_are_written_whole_and_in_order(tmp_path: Path) -> None:
    write_results(tmp_path, [result("ann"), result("bob", None)], {"schema": 1})

    written = json.loads((tmp_path / "results.json").read_text())
    assert written == {"schema": 1, "results": [result("ann"), result("bob", None)]}
    with open(tmp_path / "grades.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["learner", "assignment", "points", "of", "verdicts", "file"],
        ["ann", "00_tiny", "2.5", "3", "tiny.f: wrong", "ann/00_tiny.ipynb"],
        ["bob", "00_tiny", "", "3", "tiny.f: grader error", "bob/00_tiny.ipynb"],
    ]
    assert sorted(os.listdir(tmp_path)) == ["grades.csv", "results.json"]


def test_points_keep_their_digits(tmp_path: Path) -> None:
    write_results(tmp_path, [result(points=2.123456789)], {})

    assert "2.123456789" in (tmp_path / "grades.csv").read_text()


def test_a_name_is_no_formula_and_no_second_row(tmp_path: Path) -> None:
    hostile = "=cmd|' /C calc'!A0\n\"x\",9,9,\x1b[31m"

    write_results(tmp_path, [result(hostile)], {})

    with open(tmp_path / "grades.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 2
    assert rows[1][0] == "'=cmd|' /C calc'!A0 \"x\",9,9,\\x1b[31m"
    assert json.loads((tmp_path / "results.json").read_text())["results"][0]["learner"] == hostile


def test_results_that_can_not_be_written_leave_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(tmp_path, [result("ann")], {})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_results(tmp_path, [result("bob")], {})

    assert json.loads((tmp_path / "results.json").read_text())["results"] == [result("ann")]
    assert sorted(os.listdir(tmp_path)) == ["grades.csv", "results.json"]
