from pathlib import Path
from xml.etree import ElementTree

from block_course.grading.report import junit
from block_course.grading.result import Result
from tests.block_course.grading.graded import mark, result


def suites(folder: Path, *results: Result) -> list[ElementTree.Element]:
    junit.write(folder, results, {})
    return list(ElementTree.parse(folder / "junit.xml").getroot())


def test_a_suite_counts_what_failed_and_what_the_grader_failed_on(tmp_path: Path) -> None:
    marks = (
        mark(points=3.0, verdict="pass"),
        mark("tiny.g"),
        mark("tiny.h", "grader error", None, why="a fault"),
    )

    (suite,) = suites(tmp_path, {**result(marks=marks), "notes": ["one", "two"]})

    assert [suite.get(name) for name in ("name", "tests", "failures", "errors")] == [
        "ann / 00_tiny",
        "3",
        "1",
        "1",
    ]
    cases = suite.findall("testcase")
    assert [[each.tag for each in case] for case in cases] == [[], ["failure"], ["error"]]
    assert cases[1][0].get("message") == "wrong: 2.5 of 3"
    assert "Why: a fault" in str(cases[2][0].text)
    assert suite.findtext("system-out") == "one\ntwo"


def test_points_are_properties_of_a_suite(tmp_path: Path) -> None:
    known, unknown = suites(tmp_path, result("ann", 1.25), result("bob", None))

    values = [
        {each.get("name"): each.get("value") for each in suite.iter("property")} for suite in (known, unknown)
    ]
    assert values[0] == {"points": "1.25", "of": "3", "file": "ann/00_tiny.ipynb"}
    assert values[1]["points"] == "—"


def test_nothing_graded_is_no_suite(tmp_path: Path) -> None:
    assert suites(tmp_path) == []
