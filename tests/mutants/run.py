"""A mutation run as a pytest plugin: it judges mutants at the moment when pytest would collect tests."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.mutants.judge import SURVIVED, Target, Verdict, baseline, judge
from tests.mutants.ledger import Claim, Memory, marks_of, wrong_claims
from tests.mutants.mutate import mutants_of


class Count(NamedTuple):
    """How many mutants there are, and how many a test notices, none could notice, and none does."""

    mutants: int
    noticed: int
    equal: int
    missed: int

    def plus(self, other: "Count") -> "Count":
        return Count(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Run:
    """Judges every mutant of the targets; afterwards `faults` says what is wrong, a sentence each."""

    def __init__(
        self,
        targets: Sequence[Target],
        equivalents: Sequence[Claim],
        memory: Memory,
        shared: Sequence[Path] = (),
        workers: int = 2,
        patience: float = 20.0,
    ) -> None:
        self.targets, self.equivalents, self.memory = targets, equivalents, memory
        self.shared, self.workers, self.patience = shared, workers, patience
        self.faults: list[str] = []
        self.total = Count(0, 0, 0, 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        _say(f"{'file':34} {'mutants':>7} {'noticed':>7} {'equal':>6} {'missed':>6} {'seconds':>8}")
        for target in self.targets:
            verdicts = list(self._verdicts(session, target))
            count = self._count(target.file, verdicts)
            self.total = self.total.plus(count)
            _say(_row(target.file, count) + f" {sum(each.seconds for each in verdicts):8.1f}")
        _say(_row("all", self.total))
        return True

    def _verdicts(self, session: pytest.Session, target: Target) -> Iterator[Verdict]:
        marks = marks_of(target, self.shared)
        mutants = list(mutants_of(target.path))
        recalled = [self.memory.recall(marks, mutant) for mutant in mutants]
        yield from (verdict for verdict in recalled if verdict)
        rest = [mutant for mutant, verdict in zip(mutants, recalled, strict=True) if not verdict]
        if not rest:
            return
        measured = baseline(session, target)
        if measured.failed:
            self.faults.append(f"{target.file} is not judged: {measured.failed} fails without any fault")
            return
        for verdict in judge(session, target, rest, measured, self.workers, self.patience):
            self.memory.record(marks, verdict)
            yield verdict

    def _count(self, file: str, verdicts: Sequence[Verdict]) -> Count:
        survivors = [each.mutant for each in verdicts if each.verdict == SURVIVED]
        missed = [each for each in survivors if not any(e.covers(file, each) for e in self.equivalents)]
        self.faults += [f"no test notices {file}: {mutant.key}" for mutant in missed]
        if verdicts:  # a file that was not judged says nothing about a claim
            self.faults += wrong_claims(self.equivalents, file, verdicts)
        noticed, equal = len(verdicts) - len(survivors), len(survivors) - len(missed)
        return Count(len(verdicts), noticed, equal, len(missed))


def _row(name: str, count: Count) -> str:
    return f"{name:34} {count.mutants:7} {count.noticed:7} {count.equal:6} {count.missed:6}"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
