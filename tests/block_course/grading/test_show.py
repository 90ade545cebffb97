from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from rich.console import Console

from block_course.grading import show
from block_course.grading.files_below import SetAside
from block_course.grading.report.words import what_happened
from block_course.grading.result import Mark, Result


def mark(id: str = "tiny.f", verdict: str = "pass", points: float | None = 3.0, **more: str) -> Mark:
    diagnosis, why = more.get("diagnosis"), more.get("why", "")
    return Mark(
        id=id, title=id, verdict=verdict, points=points, of=3.0, feedback=[], diagnosis=diagnosis, why=why
    )


def result(*marks: Mark, learner: str = "ann", notes: Sequence[str] = ()) -> Result:
    known = [each["points"] for each in marks]
    return Result(
        learner=learner,
        assignment="00_tiny",
        file="f",
        content="c",
        points=None if None in known else sum(each or 0.0 for each in known),
        of=3.0 * len(marks),
        exercises=list(marks),
        notes=list(notes),
        printed="",
        walls=[],
        seconds=0.1,
    )


class Screen:
    """A terminal of a width and an encoding, and what stands on it."""

    def __init__(self, encoding: str = "utf-8", *, terminal: bool = False) -> None:
        self.bytes = BytesIO()
        self.file = TextIOWrapper(self.bytes, encoding=encoding)
        self.console = Console(file=self.file, width=100, force_terminal=terminal)

    def text(self) -> str:
        self.file.flush()
        return self.bytes.getvalue().decode(self.file.encoding)


WORDS = {
    "pass": (result(mark(), mark("tiny.g")), "pass"),
    "one of two": (
        result(mark(), mark("tiny.g", "wrong", 1.0, diagnosis="ddof=1")),
        "tiny.g: wrong (ddof=1)",
    ),
    "both alike": (
        result(mark("a", "unreadable", 0.0, why="empty"), mark("b", "unreadable", 0.0, why="empty")),
        "unreadable (empty)",
    ),
    "both, but not alike": (
        result(mark("a", "wrong", 0.0), mark("b", "timeout", 0.0, why="the time was used up")),
        "a: wrong; b: timeout (the time was used up)",
    ),
    "a note": (result(mark(), notes=["cell 3: 1"]), "note: cell 3: 1"),
    "notes": (result(mark("a", "wrong", 0.0), notes=["n", "m", "o"]), "wrong; note: n (and 2 more)"),
}


@pytest.mark.parametrize(("given", "words"), WORDS.values(), ids=WORDS.keys())
def test_what_happened_is_said_in_words(given: Result, words: str) -> None:
    assert what_happened(given) == words


def test_the_table_has_a_row_for_each_submission() -> None:
    screen = Screen()

    show.table(
        screen.console, [result(mark()), result(mark("t", "grader error", None, why="w"), learner="bob")], 2
    )

    assert [line.split() for line in screen.text().splitlines()] == [
        ["learner", "assignment", "points", "what", "happened"],
        ["ann", "00_tiny", "3", "/", "3", "pass"],
        ["bob", "00_tiny", "—", "/", "3", "grader", "error", "(w)"],
    ]


def test_a_name_can_not_break_the_table_or_act_on_the_terminal() -> None:
    screen = Screen(terminal=True)

    show.table(
        screen.console, [result(mark(), learner="[red]x[/]\x1b]0;title\x07\n[link=http://e]\u202eeve")], 1
    )

    assert "[red]x[/]\\x1b]0;title\\x07" in screen.text()
    assert "\x1b]" not in screen.text()
    assert "\u202e" not in screen.text()


def test_a_name_that_the_terminal_can_not_encode_is_spelled_out() -> None:
    screen = Screen("ascii")

    show.table(screen.console, [result(mark(), learner="Zoë")], 1)
    show.say(screen.console, "made by Zoë")

    assert "Zo\\xeb" in screen.text()


def test_a_long_table_ends_with_a_count() -> None:
    screen = Screen()

    show.table(screen.console, [result(mark(), learner=f"l{i}") for i in range(2)], 5)

    assert screen.text().splitlines()[-1] == "and 3 more, in grades.csv"


def test_no_line_is_a_command_to_a_ci_service() -> None:
    screen = Screen()

    show.table(
        screen.console, [result(mark(), learner="::set-env name=A::b"), result(mark(), learner="##[e]")], 2
    )
    show.say(screen.console, "::error::x ##vso[task]")

    assert "::" not in screen.text()
    assert "##" not in screen.text()


def test_the_roster_names_a_few_of_those_who_are_missing_or_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "MOST_NAMES", 2)
    screen = Screen()

    show.roster(screen.console, None)
    show.roster(screen.console, {"00_tiny": {"missing": ["a", "b", "c"], "unknown": []}})
    show.roster(screen.console, {"00_tiny": {"missing": [], "unknown": ["[red]e\x1b"]}})

    assert screen.text().splitlines() == [
        "00_tiny, missing (3): a, b and 1 more",
        "00_tiny, unknown (1): [red]e\\x1b",
    ]


def test_files_that_were_set_aside_are_listed_with_their_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "MOST_SET_ASIDE", 2)
    screen = Screen()

    show.set_aside(screen.console, [])
    show.set_aside(screen.console, [SetAside(Path(f"f{i}"), "hidden") for i in range(3)])

    assert screen.text().splitlines() == [
        "Not graded (3):",
        "- f0: hidden",
        "- f1: hidden",
        "and 1 more, in results.json",
    ]


def test_the_walls_are_named_with_those_that_are_missing_and_why() -> None:
    screen = Screen()
    about = {"standing": ["seccomp"], "missing": {"own root": "not permitted"}, "unsafe": False}

    show.walls(screen.console, about)
    show.walls(screen.console, {"standing": [], "missing": {}, "unsafe": True})

    assert screen.text().splitlines() == [
        "Walls: seccomp. Missing: own root (not permitted).",
        "Walls: none was needed, nothing ran. Missing: none.",
        show.UNSAFE,
    ]


@pytest.mark.parametrize(
    ("terminal", "ci", "hidden", "seen"),
    [
        (True, "", False, True),
        (True, "true", False, False),
        (False, "", False, False),
        (True, "", True, False),
    ],
)
def test_the_bar_is_shown_where_somebody_watches(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, ci: str, hidden: bool, seen: bool
) -> None:
    monkeypatch.setenv("CI", ci)
    screen = Screen(terminal=terminal)

    with show.progress(screen.console, 2, hidden=hidden) as advance:
        advance()
        advance()

    assert ("2/2" in screen.text()) is seen
    assert ("/s" in screen.text()) is seen


def test_what_was_put_off_and_what_is_gone_is_told_with_a_few_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "MOST_NAMES", 1)
    screen = Screen()

    show.put_off(screen.console, [])
    show.gone(screen.console, [])
    show.put_off(screen.console, ["a\x1b", "b"])
    show.gone(screen.console, ["c"])

    assert screen.text().splitlines() == [
        "The time budget was used up. Not graded yet (2): a\\x1b and 1 more",
        "The same command goes on where it stopped.",
        "Graded before, and gone or changed since: the gradebook has their points alone (1): c",
    ]
