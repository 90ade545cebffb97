"""What is counted over all results: who passes, who is missing, where the grader failed, what walls stood."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from block_course.grading import walls
from block_course.grading.result import Result, has_grader_error

_ROUNDING = 1e-9
MOST_SHOWN = 200

Work = tuple[str, str]
"""A learner and an assignment."""


def is_below(result: Result, pass_mark: float | None) -> bool:
    """Whether a submission misses the pass mark, in percent. One whose points aren't known does not."""
    if pass_mark is None or result["points"] is None:
        return False
    return result["points"] < result["of"] * pass_mark / 100.0 - _ROUNDING


@dataclass
class Tally:
    """Counts over all results; of those of a run itself also the first few, to be shown."""

    pass_mark: float | None = None
    roster: tuple[str, ...] | None = None
    shown: list[Result] = field(default_factory=list)
    of_this_run: int = 0
    below: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    stood: list[str] | None = None
    unsafe: bool = False
    handed_in: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        results: Iterable[Result],
        of_this_run: Collection[Work],
        pass_mark: float | None = None,
        roster: tuple[str, ...] | None = None,
    ) -> Tally:
        """Count the results, once through."""
        tally = cls(pass_mark, roster)
        for result in results:
            tally._count_walls(result["walls"])
            if roster is not None:
                tally.handed_in.setdefault(result["assignment"], set()).add(_same(result["learner"]))
            if (result["learner"], result["assignment"]) in of_this_run:
                tally._count(result)
        return tally

    @property
    def standing(self) -> list[str]:
        """The walls that stood for every submission whose code ran."""
        return self.stood or []

    def against_roster(self) -> dict[str, Any] | None:
        """By assignment, who is on the roster and handed nothing in, and who handed in and isn't on it."""
        if self.roster is None:
            return None
        listed = {_same(each) for each in self.roster}
        return {
            stem: {"missing": sorted(listed - there), "unknown": sorted(there - listed)}
            for stem, there in sorted(self.handed_in.items())
        }

    def _count_walls(self, stood: list[str]) -> None:
        if stood:
            self.unsafe |= walls.UNSAFE in stood
            before = stood if self.stood is None else self.stood
            self.stood = [each for each in before if each in stood]

    def _count(self, result: Result) -> None:
        self.of_this_run += 1
        self.below += is_below(result, self.pass_mark)
        if len(self.shown) < MOST_SHOWN:
            self.shown.append(result)
        if has_grader_error(result):
            why = next(mark["why"] for mark in result["exercises"] if mark["verdict"] == "grader error")
            self.failed.append((result["file"], why))


def _same(name: str) -> str:
    """A name as it is compared: one letter may be written in Unicode in more than one way."""
    return unicodedata.normalize("NFC", name.strip())
