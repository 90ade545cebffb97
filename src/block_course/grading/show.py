"""What a run of the grader shows: a bar while it works, then a table, and in plain words what to know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from block_course.grading.neutral import one_line
from block_course.grading.result import PASS, Mark, Result
from block_course.grading.submission import SetAside

MOST_ROWS = 200
MOST_SET_ASIDE = 20
_LONGEST_CELL = 300
UNSAFE = (
    "UNSAFE: nothing kept the notebooks' code from the grader, its secret and its results. "
    "These points prove nothing about notebooks of people whom you don't trust."
)


@contextmanager
def progress(console: Console, total: int, *, hidden: bool) -> Iterator[Callable[[], None]]:
    """A bar with the number done and the time left; call what it gives after each submission.

    It is left out where nobody watches: away from a terminal, and in CI.
    """
    hidden = hidden or not console.is_terminal or bool(os.environ.get("CI"))
    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("grading", total=total)
        yield lambda: bar.advance(task)


def table(console: Console, results: Sequence[Result]) -> None:
    """A row for each submission: whose, what it earned, and what happened where it isn't full marks."""
    rows = Table(box=None, pad_edge=False, header_style="bold")
    rows.add_column("learner", overflow="fold", min_width=12)
    rows.add_column("assignment", overflow="fold", min_width=13)
    rows.add_column("points", justify="right", no_wrap=True)
    rows.add_column("what happened", overflow="fold")
    for result in results[:MOST_ROWS]:
        points = "—" if result["points"] is None else f"{result['points']:.4g}"
        cells = (
            result["learner"],
            result["assignment"],
            f"{points} / {result['of']:.4g}",
            what_happened(result),
        )
        rows.add_row(*(_text(console, each) for each in cells))
    console.print(rows)
    if len(results) > MOST_ROWS:
        say(console, f"and {len(results) - MOST_ROWS} more, in grades.csv")


def what_happened(result: Result) -> str:
    """The exercises without full marks, in words: the verdict, and the misconception or the reason."""
    short = [(mark, _verdict(mark)) for mark in result["exercises"] if mark["verdict"] != PASS]
    if len({verdict for _, verdict in short}) == 1 and len(short) == len(result["exercises"]):
        parts = [short[0][1]]
    else:
        parts = [f"{mark['id']}: {verdict}" for mark, verdict in short]
    if result["notes"]:
        more = f" (and {len(result['notes']) - 1} more)" if len(result["notes"]) > 1 else ""
        parts.append(f"note: {result['notes'][0]}{more}")
    return "; ".join(parts) or PASS


def _verdict(mark: Mark) -> str:
    why = mark["diagnosis"] or mark["why"]
    return f"{mark['verdict']} ({why})" if why else mark["verdict"]


def set_aside(console: Console, files: Sequence[SetAside]) -> None:
    """The files that weren't graded, each with its reason."""
    if files:
        say(console, f"Not graded ({len(files)}):")
    for each in files[:MOST_SET_ASIDE]:
        say(console, f"- {each.path}: {each.reason}")
    if len(files) > MOST_SET_ASIDE:
        say(console, f"and {len(files) - MOST_SET_ASIDE} more, in results.json")


def walls(console: Console, about: Mapping[str, Any]) -> None:
    """Which walls stood between the learners' code and the rest, and which the machine refuses, and why."""
    standing = ", ".join(about["standing"]) or "none was needed, nothing ran"
    missing = ", ".join(f"{name} ({why})" for name, why in about["missing"].items()) or "none"
    say(console, f"Walls: {standing}. Missing: {missing}.")
    if about["unsafe"]:
        say(console, UNSAFE)


def say(console: Console, sentence: str) -> None:
    """Print one line, whatever text it is."""
    console.print(_text(console, sentence, limit=1000), soft_wrap=True)


def _text(console: Console, text: str, limit: int = _LONGEST_CELL) -> Text:
    """A learner's text for the terminal: no markup, no escape, nothing that the terminal can't encode."""
    plain = one_line(text, limit)
    return Text(plain.encode(console.encoding, "backslashreplace").decode(console.encoding))
