"""Results as the grader gives them, for tests of what becomes of them."""

from block_course.grading.result import Mark, Property, Result, total


def mark(id: str = "tiny.f", verdict: str = "wrong", points: float | None = 2.5, **more: str) -> Mark:
    return Mark(
        id=id,
        title=more.get("title", "F"),
        verdict=verdict,
        points=points,
        of=3.0,
        feedback=[Property(property="the values", outcome="fails", points=0.0, of=2.0)],
        diagnosis=more.get("diagnosis"),
        why=more.get("why", ""),
    )


def result(
    learner: str = "ann",
    points: float | None = 2.5,
    assignment: str = "00_tiny",
    content: str = "c",
    marks: tuple[Mark, ...] = (),
) -> Result:
    """The result of a submission: with the marks given, or one that has the points given."""
    verdict = "grader error" if points is None else "wrong"
    exercises = list(marks) or [mark(verdict=verdict, points=points)]
    return Result(
        learner=learner,
        assignment=assignment,
        file=f"{learner}/{assignment}.ipynb",
        content=content,
        points=total(exercises),
        of=3.0 * len(exercises),
        exercises=exercises,
        notes=[],
        printed="",
        walls=[],
        seconds=0.1,
    )
