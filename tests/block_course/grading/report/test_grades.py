import csv
from pathlib import Path

from block_course.grading.report import grades
from block_course.grading.result import Result
from tests.block_course.grading.graded import result


def rows(folder: Path, *results: Result) -> list[list[str]]:
    grades.write(folder, results, {})
    with open(folder / "grades.csv", newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_row_for_each_submission_and_no_number_where_none_is_known(tmp_path: Path) -> None:
    commented: Result = {**result("ann"), "attempt": 2, "submitted": "=1", "comment": "well\ndone"}

    assert rows(tmp_path, commented, result("bob", None)) == [
        ["learner", "assignment", "points", "of", "verdicts", "file", "attempt", "submitted", "comment"],
        ["ann", "00_tiny", "2.5", "3", "tiny.f: wrong", "ann/00_tiny.ipynb", "2", "'=1", "well done"],
        ["bob", "00_tiny", "", "3", "tiny.f: grader error", "bob/00_tiny.ipynb", "", "", ""],
    ]


def test_points_keep_their_digits(tmp_path: Path) -> None:
    assert rows(tmp_path, result(points=2.123456789))[1][2] == "2.123456789"


def test_a_name_is_no_formula_and_no_second_row(tmp_path: Path) -> None:
    found = rows(tmp_path, result("=cmd|' /C calc'!A0\n\"x\",9,9,\x1b[31m"))

    assert len(found) == 2
    assert found[1][0] == "'=cmd|' /C calc'!A0 \"x\",9,9,\\x1b[31m"


def test_where_semicolons_part_columns_a_name_begins_no_new_cell(tmp_path: Path) -> None:
    rows(tmp_path, result('x;=1+1";=2'))

    with open(tmp_path / "grades.csv", newline="", encoding="utf-8") as file:
        cells = list(csv.reader(file, delimiter=";"))[1]
    assert len(cells) > 1
    assert not any(cell.startswith("=") for cell in cells)
