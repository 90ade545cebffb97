import json
from pathlib import Path

import pytest

from block_course.grading import handing_back
from block_course.grading.files import alone_in
from block_course.grading.handing_back import BAD_USAGE, DONE, FAILED
from block_course.grading.store import Store
from tests.block_course.grading.graded import result


@pytest.fixture
def out(tmp_path: Path) -> Path:
    with Store(tmp_path) as store:
        store.keep("k1", result("ann", 1.0))
        store.keep("k2", result("bob", None))
        store.note({"schema": 3})
    return tmp_path


def files(out: Path) -> set[str]:
    return {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} - {".lock", "store.db"}


def test_reports_are_written_of_what_was_graded(out: Path) -> None:
    assert handing_back.report(out, None, ("junit",)) == DONE

    assert files(out) == {"results.json", "grades.csv", "junit.xml"}
    assert [each["learner"] for each in json.loads((out / "results.json").read_text())["results"]] == [
        "ann",
        "bob",
    ]


def test_feedback_is_written_when_it_is_asked_for(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert handing_back.feedback(out, None) == DONE

    assert files(out) == {"feedback.csv", "feedback/ann/00_tiny.html", "feedback/bob/00_tiny.html"}
    assert "Pages:" in capsys.readouterr().out


def test_a_mark_is_told_and_written_into_the_results(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert handing_back.mark(out, None, "ann", "00_tiny", "tiny.f", 2.0, "better") == DONE
    assert handing_back.mark(out, None, "bob", "00_tiny", "", None, "wait") == DONE

    shown = capsys.readouterr().out.splitlines()
    assert shown == ["ann, 00_tiny, attempt 1: 2 of 3 points", "bob, 00_tiny, attempt 1: no points yet"]
    written = json.loads((out / "results.json").read_text())["results"]
    assert [(each["points"], each.get("comment")) for each in written] == [(2.0, None), (None, "wait")]


def test_a_store_elsewhere_is_read(out: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")

    assert handing_back.report(other, f"sqlite:///{out / 'store.db'}", ()) == DONE

    assert files(other) == {"results.json", "grades.csv"}


@pytest.mark.parametrize(
    ("learner", "exercise", "points", "sentence"),
    [
        ("eve", "", None, "there is no submission of eve for 00_tiny"),
        ("ann", "tiny.f", 9.0, "tiny.f is worth 0 to 3 points; got 9"),
        ("\x1b[31m::x", "", None, "there is no submission of \\x1b[31m:\\x3ax for 00_tiny"),
    ],
)
def test_a_mark_that_can_not_be_is_one_sentence(
    out: Path,
    capsys: pytest.CaptureFixture[str],
    learner: str,
    exercise: str,
    points: float | None,
    sentence: str,
) -> None:
    assert handing_back.mark(out, None, learner, "00_tiny", exercise, points, "c") == BAD_USAGE

    assert capsys.readouterr().err == f"This can't be done: {sentence}\n"
    assert files(out) == set()


def test_what_can_not_be_done_says_why(
    out: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path_factory.mktemp("empty")

    assert handing_back.report(out, None, ("pdf",)) == BAD_USAGE
    assert handing_back.report(empty, None, ()) == BAD_USAGE
    assert handing_back.feedback(empty / "none", None) == BAD_USAGE
    with alone_in(out):
        assert handing_back.feedback(out, None) == BAD_USAGE

    said = capsys.readouterr().err.splitlines()
    assert [each.partition(str(empty))[0] for each in said[1:3]] == [
        "This can't be done: nothing has been graded into "
    ] * 2
    assert said[0].startswith("This can't be done: no format pdf; there are json, csv,")
    assert "another grader is writing to" in said[3]


def test_what_can_not_be_written_says_why_and_is_no_success(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / "feedback").write_text("a file in the way")

    assert handing_back.feedback(out, None) == FAILED

    assert capsys.readouterr().err.startswith("This failed: ")
