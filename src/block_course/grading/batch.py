"""A run of the grader over many submissions: what is known already, what is new, what is written."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from block_course.grading import cluster, gradebook, walls
from block_course.grading.budget import Budget, Grade
from block_course.grading.files import alone_in
from block_course.grading.files_below import SetAside, contents
from block_course.grading.fork_server import BoxError, ForkServer, Settings
from block_course.grading.judge import Task
from block_course.grading.neutral import one_line, storable
from block_course.grading.notebook import Unreadable
from block_course.grading.pool import team
from block_course.grading.report import write_all
from block_course.grading.result import Result, of_learner
from block_course.grading.roster import read_roster
from block_course.grading.store import Store
from block_course.grading.submission import Found, Submission
from block_course.grading.tally import Tally, Work
from block_course.grading.wishes import UsageError, Wishes
from block_course.grading.worker import Terms

GRADED, GRADER_ERROR, BAD_USAGE, BELOW_PASS_MARK, OUT_OF_TIME, INTERRUPTED = 0, 1, 2, 3, 4, 130
SCHEMA = 3
_LONGEST_TIME = 60


@dataclass
class Report:
    """What a run has done: what it graded and what was known before, what it set aside, what to know.

    `put_off` are the files that its time did not suffice for, `gone` those that are not what was graded.
    """

    graded: int = 0
    reused: int = 0
    tally: Tally = field(default_factory=Tally)
    set_aside: tuple[SetAside, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    put_off: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def status(self) -> int:
        """The exit status for it."""
        if self.interrupted:
            return INTERRUPTED
        if self.tally.failed:
            return GRADER_ERROR
        if self.put_off:
            return OUT_OF_TIME
        return BELOW_PASS_MARK if self.tally.below else GRADED


def grade(
    found: Found, out: Path, terms: Terms, wishes: Wishes, *, each: Callable[[], None] = lambda: None
) -> Report:
    """Grade what was found, and write the results, at an interrupt too; `each` is called after each.

    What is in the store already, with the same content, secret, limits and version of the checks, is not
    graded again, unless it is wished for. The results hold earlier runs into the same store as well.

    Raises UsageError if nothing keeps learners' code in, InUse if another grader writes to `out`, Unusable
    for a store, RosterError for a roster that is none, GradebookError for a gradebook, ClusterError for a
    cluster.
    """
    report = Report(set_aside=found.set_aside)
    budget = _budget(terms, wishes)
    names = None if wishes.roster is None else read_roster(wishes.roster)
    with alone_in(out), Store(out, wishes.store) as store, walls.hidden_memory():
        if found.submissions and wishes.cluster is None:
            report.missing = missing_walls(unsafe=terms.unsafe)
        run = _Run(terms, store, report, each, wishes.regrade)
        try:
            with _termination_interrupts(), _team(terms, wishes) as grader:
                to_do, count = run.to_do(found), len(found.submissions)
                results = grader(to_do) if budget is None else budget.graded(grader, to_do, count)
                for task, result in results:
                    run.done(task, result)
            report.put_off = run.not_done()
        except KeyboardInterrupt:
            report.interrupted = True
        finally:
            report.tally = Tally.of(store.latest(), run.counted, wishes.pass_mark, names)
            report.about = _about(terms, found, report)
            store.note(report.about)
            write_all(out, store, wishes.formats)
        if wishes.gradebook is not None and not report.interrupted:
            found_here = {each.assignment.stem: each.assignment for each in found.submissions}
            report.gone = gradebook.write(
                wishes.gradebook, store.latest(), found_here.values(), terms.released
            )
    return report


@dataclass
class _Run:
    """The submissions of a run, those that are known already told from those to be graded."""

    terms: Terms
    store: Store
    report: Report
    each: Callable[[], None]
    regrade: bool
    counted: set[Work] = field(default_factory=set)
    under_way: dict[str, list[Task]] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)

    def to_do(self, found: Found) -> Iterator[Task]:
        """What is new or changed, assignment by assignment; what is known is done on the way.

        Of several files that are the same, one is graded, and the others get its result.
        """
        for submission in sorted(found.submissions, key=lambda each: (each.assignment.stem, each.learner)):
            task = _task(submission)
            key = self.terms.key(task)
            if key in self.under_way:
                self.under_way[key].append(replace(task, data=b""))
            elif (self.regrade and key not in self.fresh) or not self._known(key, task):
                self.under_way[key] = [replace(task, data=b"")]
                yield task

    def done(self, task: Task, result: Result) -> None:
        """Keep a result, for those too who handed in the same."""
        key = self.terms.key(task)
        self.fresh.add(key)
        first, *same = self.under_way.pop(key)
        for theirs in [first, *same]:
            if theirs is first or not self._known(key, theirs):
                own = of_learner(result, theirs.learner, theirs.file, theirs.submitted)
                self.store.keep(key, own)
                self._count(key, theirs)

    def not_done(self) -> tuple[str, ...]:
        """The files that were to be graded and have no result yet."""
        return tuple(task.file for waiting in self.under_way.values() for task in waiting)

    def _known(self, key: str, task: Task) -> bool:
        known = self.store.give(key, task.learner, task.file, task.submitted) is not None
        if known:
            self._count(key, task)
        return known

    def _count(self, key: str, task: Task) -> None:
        self.counted.add((task.learner, task.assignment.stem))
        self.report.graded += key in self.fresh
        self.report.reused += key not in self.fresh
        self.each()


def _team(terms: Terms, wishes: Wishes) -> AbstractContextManager[Grade]:
    if wishes.cluster is not None:
        return cluster.team(wishes.cluster, terms)
    return team(terms, wishes.workers)


def _budget(terms: Terms, wishes: Wishes) -> Budget | None:
    if wishes.time_budget is None:
        return None
    return Budget(terms.limits, wishes.workers, time.monotonic() + wishes.time_budget)


def _task(submission: Submission) -> Task:
    try:
        data, problem = contents(submission.path), ""
    except Unreadable as error:
        data, problem = b"", str(error)
    return Task(
        storable(submission.learner),
        submission.assignment,
        storable(str(submission.path)),
        data,
        problem,
        submitted=one_line(submission.submitted, _LONGEST_TIME),
    )


def missing_walls(*, unsafe: bool) -> dict[str, str]:
    """The walls that can't stand on this machine, with reasons: a box is closed on trial, and each is tried.

    Raises UsageError if that does not keep learners' code in, unless `unsafe`.
    """
    try:
        server = ForkServer(Settings("", warm=False, unsafe=unsafe))
    except BoxError as error:
        raise UsageError(str(error)) from None
    server.stop()
    return server.missing


def _about(terms: Terms, found: Found, report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "secret": terms.secret.fingerprint,
        "limits": asdict(terms.limits),
        "walls": {
            "standing": report.tally.standing,
            "missing": report.missing,
            "unsafe": report.tally.unsafe,
        },
        "pass_mark": report.tally.pass_mark,
        "put_off": [storable(each) for each in report.put_off],
        "roster": report.tally.against_roster(),
        "not_graded": [{"file": storable(str(each.path)), "reason": each.reason} for each in found.set_aside],
    }


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does, so that the results are written."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
