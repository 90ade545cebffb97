"""`summary.md`: the run on one page of Markdown, for a CI service's summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.files import written
from block_course.grading.neutral import markdown
from block_course.grading.report.words import number, what_happened
from block_course.grading.result import Result
from block_course.grading.tally import is_below

SUMMARY = "summary.md"
MOST_ROWS = 500
"""GitHub refuses a summary of more than 1 MB."""
_MOST_NAMES = 100
_UNSAFE = "**Graded with --unsafe: nothing kept the notebooks' code in, and these points prove nothing.**"


def write(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write a row for each of the first submissions, and how many there are in all."""
    with written(folder / SUMMARY) as file:
        file.writelines(f"{line}\n" for line in _page(results, about))


def _page(results: Iterable[Result], about: Mapping[str, Any]) -> Iterator[str]:
    yield "## Grades"
    yield ""
    if about.get("walls", {}).get("unsafe"):
        yield from (_UNSAFE, "")
    yield from ("| learner | assignment | points | of | what happened |", "| --- | --- | ---: | ---: | --- |")
    pass_mark = about.get("pass_mark")
    count = below = unknown = 0
    for count, result in enumerate(results, start=1):
        is_short = is_below(result, pass_mark)
        below += is_short
        unknown += result["points"] is None
        if count <= MOST_ROWS:
            yield _row(result, is_short=is_short)
    yield ""
    if count > MOST_ROWS:
        yield from (f"and {count - MOST_ROWS} more, in grades.csv", "")
    marked = "" if pass_mark is None else f", below the pass mark of {pass_mark:g} %: {below}"
    yield f"Submissions: {count}, not graded yet because the grader failed: {unknown}{marked}."
    yield from _roster(about.get("roster") or {})


def _row(result: Result, *, is_short: bool) -> str:
    cells = (
        markdown(result["learner"], 100),
        markdown(result["assignment"], 100),
        number(result["points"]) + (" (below)" if is_short else ""),
        number(result["of"]),
        markdown(what_happened(result)),
    )
    return f"| {' | '.join(cells)} |"


def _roster(found: Mapping[str, Any]) -> Iterator[str]:
    for assignment, lists in found.items():
        for kind in ("missing", "unknown"):
            names = lists[kind]
            if names:
                more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
                listed = ", ".join(markdown(name, 100) for name in names[:_MOST_NAMES])
                yield from ("", f"{markdown(assignment)}, {kind} ({len(names)}): {listed}{more}")
