"""What has been graded, kept so that a kill at any moment loses at most the submission under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update
from sqlalchemy.engine import URL
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from block_course.grading.neutral import storable
from block_course.grading.result import Result, has_grader_error, of_learner, total
from block_course.grading.tables import ABOUT, ATTEMPTS, GRADINGS, MARKS, opened, reason, whose

STORE = "store.db"
_AT_ONCE = 100
_TRIES = 5
_T = TypeVar("_T")


class StoreError(OSError):
    """The database refused: its disk is full, say, or its server is gone."""


class Unknown(LookupError):
    """A learner, an assignment or an exercise of which the store knows nothing."""


class Store:
    """The gradings, the attempts that they are of, and what people say of them.

    An attempt is of one learner and one assignment: it is a new one when other bytes were handed in than
    before. The latest attempt counts. A grading belongs to everyone who handed in the same bytes.
    """

    def __init__(self, folder: Path, url: str | None = None) -> None:
        """Open a folder's own SQLite file, or the database at any SQLAlchemy URL. Raises Unusable."""
        self._engine = opened(url or URL.create("sqlite", database=str(folder / STORE)))

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self._engine.dispose()

    def give(self, key: str, learner: str, file: str, submitted: str = "") -> Result | None:
        """A learner's result, if it is known under this key; None if not, or if the grader failed on it."""
        newest = select(GRADINGS).where(GRADINGS.c.key == key).order_by(GRADINGS.c.id.desc()).limit(1)

        def given(connection: Connection) -> Result | None:
            row = connection.execute(newest).one_or_none()
            if row is None or row.failed:
                return None
            theirs = of_learner(row.result, learner, file, submitted)
            _point(connection, theirs, row.id)
            return theirs

        return self._counted(given)

    def keep(self, key: str, result: Result) -> None:
        """Make a result the latest of its learner; when this returns, it is on the disk."""
        values = {"key": key, "at": _now(), "failed": has_grader_error(result), "result": result}

        def kept(connection: Connection) -> None:
            new = connection.execute(insert(GRADINGS).values(values)).inserted_primary_key
            assert new is not None  # one row was inserted
            _point(connection, result, new[0])

        self._counted(kept)

    def mark(
        self,
        learner: str,
        assignment: str,
        exercise: str = "",
        *,
        points: float | None = None,
        comment: str | None = None,
    ) -> Result:
        """Set points or words of a person's own on the latest attempt, or with neither take them away.

        What isn't given stays. Points stand in place of the grader's, also after another grading.
        Raises Unknown, and ValueError for points that the exercise can't have.
        """
        result = next(self._results(whose(learner, assignment)), None)
        if result is None:
            raise Unknown(f"there is no submission of {learner} for {assignment}")
        _check(result, exercise, points)
        of = whose(learner, assignment)
        place = {"whose": of, "attempt": result["attempt"], "exercise": exercise}
        here = and_(*(MARKS.c[name] == value for name, value in place.items()))
        with self._writing() as connection:
            before = connection.execute(select(MARKS).where(here)).one_or_none()
            connection.execute(delete(MARKS).where(here))
            if points is not None or comment is not None:
                kept = (before.points, before.comment) if before is not None else (None, "")
                said = {
                    "points": kept[0] if points is None else points,
                    "comment": kept[1] if comment is None else storable(comment),
                }
                connection.execute(insert(MARKS).values({**place, **said, "at": _now()}))
        return next(self._results(of))

    def latest(self) -> Iterator[Result]:
        """The latest attempt of each learner and assignment, in their order, with what people say of it."""
        return self._results()

    def note(self, about: Mapping[str, Any]) -> None:
        """Remember what is to be known of the last run as a whole."""
        with self._writing() as connection:
            connection.execute(delete(ABOUT).where(ABOUT.c.name == "run"))
            connection.execute(insert(ABOUT).values(name="run", value=dict(about)))

    def noted(self) -> dict[str, Any]:
        """What the last run noted; nothing before the first."""
        with self._writing() as connection:
            found = connection.scalar(select(ABOUT.c.value).where(ABOUT.c.name == "run"))
        return found or {}

    def _results(self, of: str | None = None) -> Iterator[Result]:
        newest = select(ATTEMPTS.c.whose, func.max(ATTEMPTS.c.attempt).label("attempt"))
        newest = newest if of is None else newest.where(ATTEMPTS.c.whose == of)
        last = newest.group_by(ATTEMPTS.c.whose).subquery()
        rows = (
            select(ATTEMPTS, GRADINGS.c.result)
            .join(last, and_(ATTEMPTS.c.whose == last.c.whose, ATTEMPTS.c.attempt == last.c.attempt))
            .join(GRADINGS, ATTEMPTS.c.grading == GRADINGS.c.id)
            .order_by(ATTEMPTS.c.learner, ATTEMPTS.c.assignment, ATTEMPTS.c.whose)
        )
        with _refusals_told(), self._engine.connect() as connection:
            few_at_once = connection.execution_options(yield_per=_AT_ONCE)
            for some in few_at_once.execute(rows).partitions():
                marks = self._marks([row.whose for row in some])
                yield from (_marked(row, marks) for row in some)

    def _marks(self, of: list[str]) -> dict[tuple[str, int], list[Row[Any]]]:
        found: dict[tuple[str, int], list[Row[Any]]] = {}
        with self._engine.connect() as connection:
            for row in connection.execute(select(MARKS).where(MARKS.c.whose.in_(of))):
                found.setdefault((row.whose, row.attempt), []).append(row)
        return found

    def _counted(self, change: Callable[[Connection], _T]) -> _T:
        """Do it again if another grader has counted the same attempt at the same moment."""
        for _ in range(_TRIES):
            with suppress(IntegrityError), self._writing() as connection:
                return change(connection)
        raise StoreError("the store refused: others count the same attempts")

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with _refusals_told(), self._engine.begin() as connection:
            yield connection


@contextmanager
def _refusals_told() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise
    except SQLAlchemyError as error:
        raise StoreError(f"the store refused: {reason(error)}") from None


def _point(connection: Connection, result: Result, grading: int) -> None:
    """Let the latest attempt of a learner be these bytes, graded so."""
    values = {"file": result["file"], "submitted": result.get("submitted", ""), "grading": grading}
    place = whose(result["learner"], result["assignment"])
    theirs = select(ATTEMPTS).where(ATTEMPTS.c.whose == place)
    latest = connection.execute(theirs.order_by(ATTEMPTS.c.attempt.desc()).limit(1)).one_or_none()
    if latest is not None and latest.content == result["content"]:
        values["submitted"] = values["submitted"] or latest.submitted  # another run may not know it
        if any(getattr(latest, name) != value for name, value in values.items()):
            here = and_(ATTEMPTS.c.whose == place, ATTEMPTS.c.attempt == latest.attempt)
            connection.execute(update(ATTEMPTS).where(here).values(values))
        return
    values |= {name: result[name] for name in ("learner", "assignment", "content")}
    number = 1 if latest is None else latest.attempt + 1
    connection.execute(insert(ATTEMPTS).values({**values, "whose": place, "attempt": number}))


def _marked(row: Row[Any], marks: Mapping[tuple[str, int], list[Row[Any]]]) -> Result:
    result = of_learner(row.result, row.learner, row.file, row.submitted)
    result["attempt"] = row.attempt
    said = {each.exercise: each for each in marks.get((row.whose, row.attempt), ())}
    for mark in result["exercises"]:
        if (of_it := said.pop(mark["id"], None)) is not None:
            mark["comment"] = of_it.comment
            if of_it.points is not None:
                mark["automatic"], mark["points"] = mark["points"], of_it.points
    if "" in said:
        result["comment"] = said[""].comment
    result["points"] = total(result["exercises"])
    return result


def _check(result: Result, exercise: str, points: float | None) -> None:
    worth = {mark["id"]: mark["of"] for mark in result["exercises"]}
    if exercise and exercise not in worth:
        raise Unknown(f"{result['assignment']} has no exercise {exercise}; it has {', '.join(worth)}")
    if points is None:
        return
    if not exercise:
        raise ValueError("points are given for an exercise; name one")
    if not 0.0 <= points <= worth[exercise]:
        raise ValueError(f"{exercise} is worth 0 to {worth[exercise]:g} points; got {points:g}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
