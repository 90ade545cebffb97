"""Which cells run, and in which order: the learner's own as they stand, the locked ones from our release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from block_course.grading.magics import without_magics
from block_course.grading.notebook import Cell, Notebook

MAX_CODE_CHARACTERS = 2 << 20


@dataclass(frozen=True)
class Step:
    """One piece of code to run: what to call it, its text, and its `grade_id` if our release knows it.

    `shown` says that it stands as we released it, to show something. It may use what is withheld while
    grading, so that an exception there is nothing to tell a learner.
    """

    name: str
    source: str
    grade_id: str | None = None
    shown: bool = False


@dataclass(frozen=True)
class Plan:
    """The steps in order, and a note for each thing that was put right."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


def plan(submitted: Notebook, released: Notebook) -> Plan:
    """The steps that a submission amounts to.

    Locked cells are taken from `released`, wherever the learner's stand and whatever they hold: those before
    the first solution cell run first, the others where the learner has them, or, deleted, where the release
    has them. Check cells have nothing to do here and don't run. All other code runs in the learner's order.
    """
    return _Planner(released).plan(submitted)


class _Planner:
    def __init__(self, released: Notebook) -> None:
        cells = [each for each in released.cells if each.grade_id is not None]
        self.checksums = {each.grade_id: each.checksum for each in cells if each.checksum is not None}
        self.order = {each.grade_id: position for position, each in enumerate(cells)}
        self.checks = {each.grade_id: each for each in cells if each.graded and not each.solution}
        self.solutions = {each.grade_id: each for each in cells if each.solution}
        self.given = {
            each.grade_id: each
            for each in cells
            if each.locked and not each.solution and not each.graded and each.kind == "code"
        }
        self.shown = {each.source for each in released.cells if each.grade_id is None and each.kind == "code"}
        self.waiting = dict(self.given)
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.seen: set[str | None] = set()
        self.of_another_release: dict[str, None] = {}
        self.characters = 0

    def plan(self, submitted: Notebook) -> Plan:
        first = min((self.order[each] for each in self.solutions), default=0)
        self._give(before=first)
        for cell in submitted.cells:
            self._take(cell)
        self._give(before=len(self.order))
        for grade_id in self.solutions:
            if grade_id not in self.seen:
                self.notes.append(f"there is no cell {grade_id}; the other cells were run in order")
        return Plan(tuple(self.steps), (*self._note_release(), *self.notes))

    def _note_release(self) -> list[str]:
        if not self.of_another_release:
            return []
        cells = ", ".join(self.of_another_release)
        return [f"this is another release of the exercise ({cells}); it was graded by the present one"]

    def _is_of_another_release(self, cell: Cell) -> bool:
        """Whether it was released with another text or with other points than ours, or is no longer there."""
        if cell.grade_id is None or cell.checksum is None or not self.checksums:
            return False
        return cell.checksum != self.checksums.get(cell.grade_id)

    def _give(self, before: int) -> None:
        """Run the given cells that the release has before a place, if they haven't run yet."""
        for grade_id, cell in list(self.waiting.items()):
            if self.order[grade_id] < before:
                self._run_ours(cell)

    def _run_ours(self, cell: Cell) -> None:
        self.waiting.pop(cell.grade_id, None)
        self.steps.append(Step(f"cell {cell.grade_id}", without_magics(cell.source), cell.grade_id))

    def _take(self, cell: Cell) -> None:
        known = cell.grade_id if cell.grade_id in self.order else None
        ours = _ours(self.given, cell) or _ours(self.checks, cell)
        other = self._is_of_another_release(cell)
        if other:
            self.of_another_release[str(cell.grade_id)] = None
        if known is not None:
            self._note_copies(known)
            self._give(before=self.order[known])
        if ours is not None:
            if ours.source.strip() != cell.source.strip() and not other:
                self.notes.append(f"cell {ours.grade_id} was changed; ours was used")
            if ours.grade_id in self.waiting:
                self._run_ours(ours)
        elif cell.kind == "code" or known in self.solutions:
            if cell.kind != "code":
                self.notes.append(f"cell {known} is a {cell.kind} cell; it was run as code")
            self._run_theirs(cell, known)

    def _note_copies(self, grade_id: str) -> None:
        if grade_id in self.seen and grade_id in self.solutions:
            self.notes.append(
                f"cell {grade_id} occurs more than once; all run in order, so the last one counts"
            )
        self.seen.add(grade_id)

    def _run_theirs(self, cell: Cell, known: str | None) -> None:
        if not cell.source.strip():
            return
        name = f"cell {cell.number}" if known is None else f"cell {cell.number} ({known})"
        self.characters += len(cell.source)
        if self.characters > MAX_CODE_CHARACTERS:
            self.notes.append(f"{name} was not run: the code is over {MAX_CODE_CHARACTERS} characters")
            self.characters -= len(cell.source)
            return
        shown = known is None and cell.source in self.shown
        self.steps.append(Step(name, without_magics(cell.source), known, shown))


def _ours(cells: Mapping[str | None, Cell], cell: Cell) -> Cell | None:
    return cells.get(cell.grade_id) if cell.grade_id is not None else None
