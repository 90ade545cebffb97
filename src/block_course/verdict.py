"""From what an answer did to points: a finding for each property, a status, a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from block_course.advice import Ending, ending
from block_course.diagnosis import Diagnosis, JudgingError, diagnose
from block_course.exercise import Exercise, Failure, Observation, Property, Run

VerdictStatus = Literal["pass", "wrong", "error", "timeout", "memory", "forbidden", "not attempted"]
Outcome = Literal["holds", "fails", "not counted"]

_STATUS_OF_A_CALL: dict[str, VerdictStatus] = {
    "raised": "error",
    "died": "error",
    "timeout": "timeout",
    "memory": "memory",
    "not attempted": "wrong",
    "missing": "wrong",
}

__all__ = ["Diagnosis", "Ending", "Finding", "JudgingError", "Outcome", "Verdict", "VerdictStatus", "judge"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What became of one property. `failure` is the first case that breaks it, if one does."""

    name: str
    title: str
    outcome: Outcome
    points: float
    of: float
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What an attempt at one exercise is worth, and why; of a call that raised, its words and its ending."""

    id: str
    title: str
    status: VerdictStatus
    points: float
    of: float
    findings: tuple[Finding, ...]
    diagnosis: Diagnosis | None = None
    message: str = ""
    ending: Ending = field(default_factory=Ending)

    @property
    def first_failure(self) -> Failure | None:
        """The first failure in the order of the properties."""
        return next((each.failure for each in self.findings if each.failure is not None), None)

    def public(self) -> Verdict:
        """The same verdict for hidden inputs: which property failed and which misconception it is.

        Cases, numbers, shapes and exceptions are left out: each could carry a hidden input outside.
        """
        findings = tuple(replace(each, failure=None) for each in self.findings)
        diagnosis = self.diagnosis and replace(self.diagnosis, message=None)
        return replace(self, findings=findings, diagnosis=diagnosis, message="", ending=Ending())


def judge(exercise: Exercise, run: Run) -> Verdict:
    """Judge a run: a finding per property, the points, and a diagnosis where the answer is a known wrong one.

    The status is "not attempted" if no call attempted anything, "forbidden" (and no points) if a call used
    what the exercise withholds, "pass" if all properties hold; otherwise that of the first call that did not
    return, or "wrong".

    Raises JudgingError if a property, a reference or a message of the exercise raises, or `run` is empty.
    """
    if not run:
        raise JudgingError(f"{exercise.id}: there is no case to judge")
    run = [(case, _consistent(observation)) for case, observation in run]
    statuses = [observation.status for _, observation in run]
    with np.errstate(all="ignore"):
        if all(status in ("not attempted", "missing") for status in statuses):
            return _worth_nothing(exercise, "not attempted", run[0][1].message)
        if "forbidden" in statuses:
            return _worth_nothing(exercise, "forbidden", run[statuses.index("forbidden")][1].message)
        findings = _findings(exercise, run)
        if all(each.outcome == "holds" for each in findings):
            return _verdict(exercise, "pass", findings)
        status, message, how = _ended_early(exercise, run)
        verdict = _verdict(exercise, status, findings)
        return replace(verdict, message=message, ending=how, diagnosis=diagnose(exercise, run))


def _consistent(observation: Observation) -> Observation:
    """With one kind for each output, which a forged observation may not have."""
    if len(observation.kinds) == len(observation.outputs):
        return observation
    return replace(observation, kinds=("unknown",) * len(observation.outputs))


def _verdict(exercise: Exercise, status: VerdictStatus, findings: tuple[Finding, ...]) -> Verdict:
    points = min(exercise.points, max(0.0, sum(each.points for each in findings)))
    return Verdict(
        id=exercise.id,
        title=exercise.title,
        status=status,
        points=points,
        of=exercise.points,
        findings=findings,
    )


def _worth_nothing(exercise: Exercise, status: VerdictStatus, message: str) -> Verdict:
    findings = tuple(_finding(each, "not counted") for each in exercise.properties)
    return replace(_verdict(exercise, status, findings), message=message)


def _ended_early(exercise: Exercise, run: Run) -> tuple[VerdictStatus, str, Ending]:
    for case, observation in run:
        if observation.status != "returned":
            how = ending(exercise, case, observation)
            return _STATUS_OF_A_CALL[observation.status], observation.message, how
    return "wrong", "", Ending()


def _findings(exercise: Exercise, run: Run) -> tuple[Finding, ...]:
    outcomes: dict[str, Outcome] = {}
    findings = []
    for each in exercise.properties:
        failure: Failure | None = None
        outcome: Outcome = "not counted"
        if all(outcomes[name] == "holds" for name in each.requires):
            failure = _first_failure(exercise, each, run)
            outcome = "holds" if failure is None else "fails"
        outcomes[each.name] = outcome
        findings.append(_finding(each, outcome, failure))
    return tuple(findings)


def _finding(each: Property, outcome: Outcome, failure: Failure | None = None) -> Finding:
    points = each.points if outcome == "holds" else 0.0
    return Finding(
        name=each.name,
        title=each.title,
        outcome=outcome,
        points=points,
        of=each.points,
        failure=failure,
    )


def _first_failure(exercise: Exercise, each: Property, run: Run) -> Failure | None:
    try:
        return each.holds(exercise, run)
    except Exception as exception:
        raise JudgingError(f"{exercise.id}, property {each.name!r}: {exception!r}") from exception
