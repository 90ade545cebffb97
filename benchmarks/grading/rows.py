"""The lines of the table: a claim, its bound, and how it is measured."""

import random
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.grading.classes import class_of, gallery, hand_in, loop, solution
from benchmarks.grading.running import Run, autograded, command, graded, loops_a_second, results

_START = 10
"""Submissions of the short run, which is taken off the long one: what is left is no start-up."""


class Measured(NamedTuple):
    """One line: what was claimed, what was found, whether it holds."""

    name: str
    bound: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Size:
    """How large the runs are."""

    submissions: int = 300
    many: int = 10_000
    kills: int = 20
    rounds: int = 3
    by_nbgrader: int = 4
    seconds: int = 150
    """The time that loops are graded in."""


Row = Callable[[Path, Size], Iterator[Measured]]


def speed(folder: Path, size: Size) -> Iterator[Measured]:
    """One worker beside nbgrader; the start-up in and out; the memory of the run.

    Both take turns, some rounds long: a machine that others use too is now quick, now slow.
    """
    few, all_of_them = class_of(folder / "few", _START), class_of(folder / "all", size.submissions)
    rounds = [_round(folder / str(number), few, all_of_them, size) for number in range(size.rounds)]
    warm, theirs = fmean(each.warm for each in rounds), fmean(each.theirs for each in rounds)
    yield _ratio(f"warm: {warm:.4f} s a submission, nbgrader {theirs:.2f} s", warm, theirs, 60)
    whole = fmean(each.long.seconds for each in rounds) / size.submissions
    first = fmean(each.first_of_theirs for each in rounds)
    them = (first + theirs * (size.submissions - 1)) / size.submissions
    yield _ratio(f"with start-up over {size.submissions}: {whole:.4f} s and {them:.2f} s", whole, them, 40)
    memory = max(each.long.memory_mb for each in rounds)
    yield Measured("memory of the tree, one worker", "at most 450 MB", f"{memory:.0f} MB", 0 < memory <= 450)


class _Round(NamedTuple):
    """Seconds a submission, of the grader and of nbgrader."""

    long: Run
    warm: float
    first_of_theirs: float
    theirs: float


def _round(folder: Path, few: Path, all_of_them: Path, size: Size) -> _Round:
    short, long = graded(few, folder / "few"), graded(all_of_them, folder / "all")
    first = autograded(folder / "nbgrader-1", [("ann", solution("ann"))])
    more = [(f"l{number}", solution(f"l{number}")) for number in range(size.by_nbgrader)]
    theirs = (autograded(folder / "nbgrader-n", more) - first) / (size.by_nbgrader - 1)
    return _Round(long, _each(short, long, size), first, theirs)


def workers(folder: Path, size: Size) -> Iterator[Measured]:
    """Two workers beside one, in turns; and what this machine makes of two loops that share nothing."""
    few, all_of_them = class_of(folder / "few", _START), class_of(folder / "all", size.submissions)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    loops: dict[int, list[float]] = {1: [], 2: []}
    for number in range(size.rounds):
        for count in (1, 2):
            out, option = folder / f"{number}-{count}", ("--workers", str(count))
            loops[count].append(loops_a_second(count))
            short, long = graded(few, out / "few", *option), graded(all_of_them, out / "all", *option)
            loops[count].append(loops_a_second(count))
            seconds[count].append(_each(short, long, size))
    rate, here = fmean(seconds[1]) / fmean(seconds[2]), fmean(loops[2]) / fmean(loops[1])
    name = f"two workers / one, in submissions a second (two loops / one, here: {here:.2f})"
    yield Measured(name, "at least 1.8", f"{rate:.2f}", rate >= 1.8)


def growth(folder: Path, size: Size) -> Iterator[Measured]:
    """The memory of a large run beside that of a smaller one."""
    less = graded(class_of(folder / "less", size.submissions), folder / "out-less").memory_mb
    more = graded(class_of(folder / "more", size.many), folder / "out-more").memory_mb
    grown = more / less - 1.0 if less else float("inf")
    name = f"memory of the tree, {size.submissions} to {size.many} submissions"
    yield Measured(name, "under 5 % more", f"{100 * grown:.1f} %", grown < 0.05)


def kills(folder: Path, size: Size) -> Iterator[Measured]:
    """A run that is killed at random moments and taken up again, beside one that was let alone."""
    submitted, out = class_of(folder / "class", size.submissions), folder / "out-killed"
    secret = folder / "secret"
    secret.touch(mode=0o600)
    secret.write_text("a secret for the bench alone")
    chance, killed = random.Random(7), 0
    for _ in range(size.kills):
        more = chance.randint(0, max(2, 2 * size.submissions // (size.kills + 4)))
        killed += _killed(
            command(submitted, out, "--secret", str(secret)), out, more, chance.uniform(0.0, 0.15)
        )
    graded(submitted, out, "--secret", str(secret))
    graded(submitted, folder / "out-alone", "--secret", str(secret))
    all_of_them, once = _gradings(out), set(_gradings(out))
    same = _without(results(out), "file") == _without(results(folder / "out-alone"), "file")
    twice = len(all_of_them) - len(once)
    good = len(once) == size.submissions and not twice and same and killed > 0
    told = f"{len(once)} of {size.submissions}, {twice} twice, {'the same' if same else 'others'}"
    name = f"{killed} kills (-9) at random moments in a run of {size.submissions}, resumed"
    yield Measured(name, "nothing lost or twice, same results", told, good)


def fairness(folder: Path, size: Size) -> Iterator[Measured]:
    """The gallery in one run: cheats that gain, honest learners that lose, later ones that are changed."""
    submitted = gallery(folder / "gallery")
    limits = "--cell-seconds 2 --submission-seconds 30 --memory-mb 512"
    graded(submitted, folder / "out", *limits.split())
    found = {each["learner"]: each for each in results(folder / "out")}
    nothing, everything = found["a-nothing-right"]["points"], found["a-solution"]
    gained = sum(_points(each) > nothing for name, each in found.items() if name.startswith("b-"))
    lost = sum(_points(each) < everything["of"] for name, each in found.items() if name.startswith("c-"))
    own = ("learner", "file", "content")
    later = [each for name, each in found.items() if name.endswith("-later")]
    changed = sum(_without([each], *own) != _without([everything], *own) for each in later)
    name = f"gallery of {len(found)}: cheats that gain; honest that lose; later learners changed"
    counts = f"{gained}; {lost}; {changed}"
    yield Measured(name, "0; 0; 0", counts, counts == "0; 0; 0" and len(found) >= 100)


def promise(folder: Path, size: Size) -> Iterator[Measured]:
    """Loops without end, and some honest learners among them, in the time that was promised."""
    submitted = class_of(folder / "loops", size.submissions, loop)
    honest = [f"{letter}{number}" for number, letter in enumerate("almyz")]
    hand_in(submitted, ((name, solution(name)) for name in honest))
    run = graded(submitted, folder / "out", "--time-budget", str(size.seconds))
    full = {each["learner"] for each in results(folder / "out") if each["points"] == each["of"]}
    name = f"{size.submissions} endless loops and {len(honest)} honest learners in {size.seconds} s"
    told = f"{run.seconds:.1f} s, {len(full & set(honest))} graded"
    good = full == set(honest) and run.seconds < size.seconds + 5.0
    yield Measured(name, "ends then, the honest graded", told, good)


ROWS: dict[str, Row] = {
    "speed": speed,
    "workers": workers,
    "growth": growth,
    "kills": kills,
    "fairness": fairness,
    "promise": promise,
}


def _each(short: Run, long: Run, size: Size) -> float:
    return (long.seconds - short.seconds) / (size.submissions - _START)


def _ratio(name: str, ours: float, theirs: float, times: int) -> Measured:
    return Measured(name, f"at most 1/{times}", f"1/{theirs / ours:.0f}", ours * times <= theirs)


def _killed(line: list[str], out: Path, more: int, moment: float) -> bool:
    """Start a run and kill it a moment after it has graded so many more; whether it ran until then."""
    with subprocess.Popen(line, stderr=subprocess.DEVNULL) as process:
        enough = len(_gradings(out)) + more
        while process.poll() is None and len(_gradings(out)) < enough:
            time.sleep(0.002)
        time.sleep(moment)
        ran = process.poll() is None
        process.kill()
    return ran


def _points(result: dict[str, Any]) -> float:
    """Points that aren't known are none gained, and lost where they were deserved."""
    return -1.0 if result["points"] is None else float(result["points"])


def _gradings(out: Path) -> list[str]:
    """The keys of what was graded so far; nothing while the store is being made."""
    try:
        with closing(sqlite3.connect(f"file:{out / 'store.db'}?mode=ro", uri=True)) as store:
            return [row[0] for row in store.execute("SELECT key FROM block_course_gradings")]
    except sqlite3.OperationalError:
        return []


def _without(found: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Results without what tells one learner's from another's."""
    return [{name: value for name, value in each.items() if name not in names} for each in found]
