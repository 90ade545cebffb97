"""The lines of the table: a claim, its bound, and how it is measured."""

import random
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.grading.classes import class_of, gallery, hand_in, loop, solution
from benchmarks.grading.running import Run, autograded, command, graded, results

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
    by_nbgrader: int = 6
    seconds: int = 150
    """The time that loops are graded in."""


Row = Callable[[Path, Size], Iterator[Measured]]


def speed(folder: Path, size: Size) -> Iterator[Measured]:
    """One worker and two, beside nbgrader; the start-up in and out; the memory of the run."""
    few, all_of_them = class_of(folder / "few", _START), class_of(folder / "all", size.submissions)
    short, long = graded(few, folder / "out-few"), graded(all_of_them, folder / "out-all")
    warm = _each(short, long, size)
    first = autograded(folder / "nbgrader-1", [("ann", solution("ann"))])
    more = [(f"l{number}", solution(f"l{number}")) for number in range(size.by_nbgrader)]
    theirs = (autograded(folder / "nbgrader-n", more) - first) / (size.by_nbgrader - 1)
    yield _ratio(f"warm: {warm:.4f} s a submission, nbgrader {theirs:.2f} s", warm, theirs, 60)
    whole = long.seconds / size.submissions
    them = (first + theirs * (size.submissions - 1)) / size.submissions
    yield _ratio(f"with start-up over {size.submissions}: {whole:.4f} s and {them:.2f} s", whole, them, 40)
    short_2 = graded(few, folder / "out-few-2", "--workers", "2")
    long_2 = graded(all_of_them, folder / "out-all-2", "--workers", "2")
    rate = warm / _each(short_2, long_2, size)
    yield Measured("two workers / one, in submissions a second", "at least 1.8", f"{rate:.2f}", rate >= 1.8)
    memory = long.memory_mb
    yield Measured("memory of the tree, one worker", "at most 450 MB", f"{memory:.0f} MB", 0 < memory <= 450)


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
