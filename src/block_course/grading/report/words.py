"""What a result says in words: to those who teach on one line, to those who learn in sentences."""

from __future__ import annotations

from block_course.grading.result import PASS, Mark, Result

SENTENCES = {
    "pass": "Every property holds.",
    "wrong": "It ran, but not every property holds.",
    "error": "It raised an exception.",
    "timeout": "It took too long and was stopped.",
    "memory": "It asked for more memory than there is.",
    "forbidden": "It uses what this exercise asks you to do without.",
    "not attempted": "It was not attempted.",
    "unreadable": "The file could not be read.",
    "grader error": "It could not be graded, for a reason that isn't yours. It has no points yet, not zero.",
}
"""What a verdict means to the learner."""


def what_happened(result: Result) -> str:
    """The exercises without full marks, in words: the verdict, and the misconception or the reason."""
    short = [(mark, _verdict(mark)) for mark in result["exercises"] if mark["verdict"] != PASS]
    if len({verdict for _, verdict in short}) == 1 and len(short) == len(result["exercises"]):
        parts = [short[0][1]]
    else:
        parts = [f"{mark['id']}: {verdict}" for mark, verdict in short]
    if result["notes"]:
        more = f" (and {len(result['notes']) - 1} more)" if len(result["notes"]) > 1 else ""
        parts.append(f"note: {result['notes'][0]}{more}")
    return "; ".join(parts) or PASS


def explained(mark: Mark) -> list[str]:
    """Sentences for the learner: the verdict, why, the misconception, each property, a person's comment."""
    said = [SENTENCES.get(mark["verdict"], mark["verdict"])]
    if mark["why"]:
        said.append(f"Why: {mark['why']}")
    if mark["diagnosis"]:
        said.append(f"Your answer is what this misconception gives: {mark['diagnosis']}")
    said += [
        f"{each['outcome']}: {each['property']} ({number(each['points'])} of {number(each['of'])})"
        for each in mark["feedback"]
    ]
    if "automatic" in mark:
        said.append(f"The points were set by a person; the grader found {number(mark['automatic'])}.")
    if mark.get("comment"):
        said += ["Comment:", *mark["comment"].splitlines()]
    return said


def number(points: float | None) -> str:
    """Points as they are written; those that aren't known are a dash, which is not zero."""
    return "—" if points is None else f"{points:.10g}"


def is_full(mark: Mark) -> bool:
    """Whether an exercise earned all that it is worth."""
    return mark["points"] is not None and mark["points"] >= mark["of"]


def _verdict(mark: Mark) -> str:
    why = mark["diagnosis"] or mark["why"]
    return f"{mark['verdict']} ({why})" if why else mark["verdict"]
