"""`junit.xml`: a suite for each submission, a case for each exercise, as CI services show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.files import written
from block_course.grading.neutral import markup, terminal
from block_course.grading.report.words import explained, is_full, number
from block_course.grading.result import GRADER_ERROR, Mark, Result

JUNIT = "junit.xml"


def write(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write the suites: less than full points is a failure, a failure of the grader's own is an error."""
    with written(folder / JUNIT) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="block-course">\n')
        for result in results:
            file.writelines(f"{line}\n" for line in _suite(result))
        file.write("</testsuites>\n")


def _suite(result: Result) -> Iterator[str]:
    marks = result["exercises"]
    errors = sum(mark["verdict"] == GRADER_ERROR for mark in marks)
    failures = sum(not is_full(mark) for mark in marks if mark["verdict"] != GRADER_ERROR)
    name = _text(f"{result['learner']} / {result['assignment']}")
    counts = f'tests="{len(marks)}" failures="{failures}" errors="{errors}" skipped="0"'
    yield f' <testsuite name="{name}" {counts} time="{result["seconds"]:.3f}">'
    yield "  <properties>"
    for label in ("points", "of"):
        yield f'   <property name="{label}" value="{number(result[label])}"/>'
    yield f'   <property name="file" value="{_text(result["file"])}"/>'
    yield "  </properties>"
    for mark in marks:
        yield from _case(mark, _text(f"{result['assignment']}.{result['learner']}"))
    if result["notes"]:
        yield f"  <system-out>{_lines(result['notes'])}</system-out>"
    yield " </testsuite>"


def _case(mark: Mark, class_name: str) -> Iterator[str]:
    yield f'  <testcase classname="{class_name}" name="{_text(mark["id"])}" time="0">'
    if not is_full(mark):
        kind = "error" if mark["verdict"] == GRADER_ERROR else "failure"
        earned = f"{mark['verdict']}: {number(mark['points'])} of {number(mark['of'])}"
        opening = f'{kind} type="{_text(mark["verdict"])}" message="{_text(earned)}"'
        yield f"   <{opening}>{_lines(explained(mark))}</{kind}>"
    yield "  </testcase>"


def _text(text: str) -> str:
    return markup(terminal(text))


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(map(_text, texts))
