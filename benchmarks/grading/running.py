"""Runs of the two graders as a user starts them, with their time, and the memory of all their processes."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.grading.classes import COURSE, STEM

_SAMPLE_SECONDS = 0.2
_LOOP = """
import time
began, rounds = time.monotonic(), 0
while time.monotonic() < began + 3.0:
    sum(number * number for number in range(1000))
    rounds += 1
print(rounds / 3.0)
"""


class Run(NamedTuple):
    """What a run took: seconds from start to end, and the most memory that its processes had, in MB."""

    seconds: float
    memory_mb: float
    status: int


def command(submitted: Path, out: Path, *options: str) -> list[str]:
    """The grader's command line."""
    here = [sys.executable, "-m", "block_course.cli", "grade", str(submitted), "--out", str(out)]
    return [*here, "--quiet", *options]


def graded(submitted: Path, out: Path, *options: str) -> Run:
    """Grade a folder."""
    began = time.monotonic()
    with subprocess.Popen(command(submitted, out, *options), stderr=subprocess.DEVNULL) as process:
        memory = _Memory(process.pid)
        with memory:
            status = process.wait()
    return Run(time.monotonic() - began, memory.most_mb, status)


def results(out: Path) -> list[dict[str, Any]]:
    """The results of the runs into a folder, without their times."""
    with open(out / "results.json", encoding="utf-8") as file:
        found: list[dict[str, Any]] = json.load(file)["results"]
    return [{name: value for name, value in each.items() if name != "seconds"} for each in found]


def autograded(course: Path, students: list[tuple[str, bytes]]) -> float:
    """The seconds of `nbgrader autograde` for these students, and for nothing else."""
    source = course / "source" / STEM
    source.mkdir(parents=True)
    (source / f"{STEM}.ipynb").write_bytes((COURSE / "solutions" / f"{STEM}.ipynb").read_bytes())
    _nbgrader(course, "generate_assignment")
    for student, data in students:
        place = course / "submitted" / student / STEM
        place.mkdir(parents=True)
        (place / f"{STEM}.ipynb").write_bytes(data)
    began = time.monotonic()
    _nbgrader(course, "autograde")
    return time.monotonic() - began


def loops_a_second(processes: int) -> float:
    """How often a second so many processes, which have nothing to do with each other, go round a loop."""
    started = [
        subprocess.Popen([sys.executable, "-c", _LOOP], stdout=subprocess.PIPE) for _ in range(processes)
    ]
    return sum(float(each.communicate()[0]) for each in started)


def _nbgrader(course: Path, what: str) -> None:
    homes = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **dict.fromkeys(homes, str(course / "home")), "PATH": path}
    subprocess.run(
        [sys.executable, "-m", "nbgrader", what, STEM],
        cwd=course,
        env=environment,
        capture_output=True,
        check=True,
    )


class _Memory:
    """Watches a process and its descendants: the sum of their proportional shares, at its greatest."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.most_mb = 0.0

    def __enter__(self) -> "_Memory":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(_SAMPLE_SECONDS):
            before = _tree(self._root)
            # memory that two share is counted twice if one of them ends between the reading of the two:
            # it is then all the other's, so a sum must be found once more, and by the same processes
            shares = min(sum(map(_share_mb, before)) for _ in range(2))
            if _tree(self._root) == before:
                self.most_mb = max(self.most_mb, shares)


def _tree(root: int) -> set[int]:
    parents: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(place.parent.name)] = int(place.read_bytes().rpartition(b")")[2].split()[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _share_mb(pid: int) -> float:
    with contextlib.suppress(OSError):  # it has ended; or it can't be read without root
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
