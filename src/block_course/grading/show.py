"""What a run of the grader shows: a bar while it works, then a table, and in plain words what to know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from block_course.grading.files_below import SetAside
from block_course.grading.neutral import terminal
from block_course.grading.report.words import what_happened
from block_course.grading.result import Result

MOST_NAMES = 20
MOST_SET_ASIDE = 20
_LONGEST_CELL = 300
UNSAFE = (
    "UNSAFE: nothing kept the notebooks' code from the grader, its secret and its results. "
    "These points prove nothing about notebooks of people whom you don't trust."
)


@contextmanager
def progress(console: Console, total: int, *, hidden: bool) -> Iterator[Callable[[], None]]:
    """A bar with the number done, the rate and the time left; call what it gives after each submission.

    It is left out where nobody watches: away from a terminal, and in CI.
    """
    hidden = hidden or not console.is_terminal or bool(os.environ.get("CI"))
    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("grading", total=total)
        yield lambda: bar.advance(task)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        """How many are done in a second."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


def table(console: Console, results: Sequence[Result], total: int) -> None:
    """A row for each submission: whose, what it earned, and what happened where it isn't full marks."""
    rows = Table(box=None, pad_edge=False, header_style="bold")
    rows.add_column("learner", overflow="fold", min_width=12)
    rows.add_column("assignment", overflow="fold", min_width=13)
    rows.add_column("points", justify="right", no_wrap=True)
    rows.add_column("what happened", overflow="fold")
    for result in results:
        points = "—" if result["points"] is None else f"{result['points']:.4g}"
        cells = (
            result["learner"],
            result["assignment"],
            f"{points} / {result['of']:.4g}",
            what_happened(result),
        )
        rows.add_row(*(_text(console, each) for each in cells))
    console.print(rows)
    if total > len(results):
        say(console, f"and {total - len(results)} more, in grades.csv")


def set_aside(console: Console, files: Sequence[SetAside]) -> None:
    """The files that weren't graded, each with its reason."""
    if files:
        say(console, f"Not graded ({len(files)}):")
    for each in files[:MOST_SET_ASIDE]:
        say(console, f"- {each.path}: {each.reason}")
    if len(files) > MOST_SET_ASIDE:
        say(console, f"and {len(files) - MOST_SET_ASIDE} more, in results.json")


def put_off(console: Console, files: Sequence[str]) -> None:
    """The submissions that the time of the run did not suffice for."""
    if files:
        say(console, f"The time budget was used up. Not graded yet ({len(files)}): {_some(files)}")
        say(console, "The same command goes on where it stopped.")


def gone(console: Console, files: Sequence[str]) -> None:
    """The submissions that the gradebook has grades of, and no notebook to look at."""
    if files:
        what = "Graded before, and gone or changed since: the gradebook has their points alone"
        say(console, f"{what} ({len(files)}): {_some(files)}")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(terminal(each, 60) for each in names[:MOST_NAMES]) + more


def roster(console: Console, about: Mapping[str, Any] | None) -> None:
    """Who is on the roster and handed nothing in, and who handed in and isn't on it."""
    for assignment, found in (about or {}).items():
        for kind in ("missing", "unknown"):
            names = found[kind]
            if names:
                say(console, f"{assignment}, {kind} ({len(names)}): {_some(names)}")


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
    """A learner's text for the terminal: no markup, no escape, no command, nothing that it can't encode."""
    plain = terminal(text, limit)
    return Text(plain.encode(console.encoding, "backslashreplace").decode(console.encoding))
