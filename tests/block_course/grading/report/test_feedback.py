import base64
import csv
import hashlib
import re
from pathlib import Path

from block_course.grading.report import feedback
from block_course.grading.result import Result
from tests.block_course.grading.graded import mark, result


def page(folder: Path, given: Result) -> str:
    feedback.write(folder, [given], {})
    return (folder / "feedback" / "ann" / "00_tiny.html").read_text(encoding="utf-8")


def seen(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text.partition("<body>")[2]).split())


def test_a_learner_reads_what_each_exercise_earned_and_why(tmp_path: Path) -> None:
    given = result(marks=(mark(title="Layer norm", why="a call raised ValueError", diagnosis="ddof=1"),))

    text = seen(page(tmp_path, {**given, "attempt": 2, "notes": ["cell 3: changed"], "printed": "1\n2"}))

    for words in (
        "For ann , attempt 2.",
        "2.5 of 3 points",
        "Layer norm",
        "It ran, but not every property holds.",
        "Why: a call raised ValueError",
        "this misconception gives: ddof=1",
        "the values fails 0 of 2",
        "cell 3: changed",
        "What your notebook printed 1 2",
    ):
        assert words in text


def test_a_person_s_points_and_words_are_shown_with_their_lines(tmp_path: Path) -> None:
    marked = mark(points=3.0) | {"automatic": 1.5, "comment": "first line\nsecond line"}

    text = page(tmp_path, {**result(marks=(marked,)), "comment": "well done"})  # type: ignore[arg-type]

    assert "first line\nsecond line" in text
    assert "A person set these points; the grader found 1.5." in text
    assert "<blockquote><bdi>well done</bdi></blockquote>" in text


def test_where_the_grader_failed_nothing_is_called_zero(tmp_path: Path) -> None:
    text = seen(page(tmp_path, result(points=None)))

    assert "— of 3 points" in text
    assert "for a reason that isn&#x27;t yours" in text


def test_the_policy_lets_the_page_s_own_style_through_and_nothing_else(tmp_path: Path) -> None:
    text = page(tmp_path, result())

    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in text
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_the_list_of_pages_lies_outside_the_folder_that_is_handed_back(tmp_path: Path) -> None:
    feedback.write(tmp_path, [result("ann"), result("=Ann")], {})

    with open(tmp_path / "feedback.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[:2] == [["learner", "assignment", "page"], ["ann", "00_tiny", "feedback/ann/00_tiny.html"]]
    assert rows[2][0] == "'=Ann"
    assert all((tmp_path / row[2]).is_file() for row in rows[1:])
    assert not list((tmp_path / "feedback").glob("*.*"))
