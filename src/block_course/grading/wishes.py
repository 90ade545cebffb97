"""What a user may ask of a run, and whether it can be done here."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from block_course.checks import assignments
from block_course.grading.cluster import Cluster
from block_course.grading.gradebook import Place
from block_course.grading.report import FORMATS
from block_course.grading.roster import read_known_by, read_times
from block_course.grading.submission import Found, Submission, find

_CONTAINER = """\
Its kernel keeps learners' code in, with --unsafe too. In the course's folder, a container will do:
docker run --rm -v "$PWD:/course" -w /course python:3.11 sh -c "pip install -r requirements.txt && \
pip install --no-deps -e . && block-course grade submitted --out grades\""""


class UsageError(Exception):
    """What was asked for can't be done; the message says why, and the cure."""


@dataclass(frozen=True)
class Wishes:
    """What a user may ask of a run; `store` is a SQLAlchemy URL, `pass_mark` a percentage.

    `time_budget` is in seconds, for the whole run.
    """

    workers: int = 1
    regrade: bool = False
    store: str | None = None
    formats: tuple[str, ...] = ()
    roster: Path | None = None
    times: Path | None = None
    pass_mark: float | None = None
    time_budget: float | None = None
    gradebook: Place | None = None
    cluster: Cluster | None = None

    def at(self, secret: Path) -> Wishes:
        """The same where the secret is there on this machine, and on a cluster's if nothing else is said."""
        if self.cluster is None or self.cluster.secret is not None:
            return self
        return replace(self, cluster=replace(self.cluster, secret=secret))


def look(paths: Sequence[Path], out: Path, exercises: Path, wishes: Wishes) -> Found:
    """Find what is to be graded and make the folder for the results.

    Raises UsageError if that can't be done here, NotFound for a path that isn't there.
    """
    if sys.platform != "linux":
        raise UsageError(f"grading needs Linux, this is {sys.platform}. {_CONTAINER}")
    if wishes.workers < 1:
        raise UsageError(f"workers must be at least 1; got {wishes.workers}")
    if wishes.pass_mark is not None and not 0.0 <= wishes.pass_mark <= 100.0:
        raise UsageError(f"the pass mark is a percentage from 0 to 100; got {wishes.pass_mark:g}")
    if wishes.time_budget is not None and not 0.0 < wishes.time_budget < float("inf"):
        raise UsageError(f"the time budget must be positive; got {wishes.time_budget:g}")
    unknown = sorted(set(wishes.formats) - set(FORMATS))
    if unknown:
        raise UsageError(f"no format {', '.join(unknown)}; there are {', '.join(FORMATS)}")
    if not paths:
        raise UsageError("no notebook and no folder was named")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {out} can't be made: {error.strerror}") from None
    known_by = {} if wishes.roster is None else read_known_by(wishes.roster)
    times = {} if wishes.times is None else read_times(wishes.times)
    found = _timed(find(paths, assignments(), out, known_by), times)
    for stem in sorted({each.assignment.stem for each in found.submissions}):
        if not (exercises / f"{stem}.ipynb").is_file():
            raise UsageError(f"there is no released notebook {exercises / stem}.ipynb; make it: make release")
    return found


def _timed(found: Found, times: Mapping[tuple[str, str], str]) -> Found:
    """With the times of the list, where it knows them."""

    def of(each: Submission) -> str:
        known = (times.get((each.learner, assignment)) for assignment in (each.assignment.stem, ""))
        return next((time for time in known if time is not None), each.submitted)

    return replace(found, submissions=tuple(replace(each, submitted=of(each)) for each in found.submissions))
