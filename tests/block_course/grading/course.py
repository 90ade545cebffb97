"""A course in miniature, for tests of a whole run."""

import json
import sqlite3
from contextlib import closing
from dataclasses import fields
from pathlib import Path

from block_course.grading.grade import run
from block_course.grading.result import Result
from block_course.grading.wishes import Wishes
from tests.block_course.grading.examples import KEY, released_in


class Course:
    """A folder of submissions, a folder of releases, a secret, and a place for the results."""

    def __init__(self, folder: Path) -> None:
        self.submitted = folder / "submitted"
        self.out = folder / "out"
        self.secret = folder / "secret"
        self.exercises = released_in(folder / "exercises")
        self.secret.write_bytes(KEY)
        self.secret.chmod(0o600)

    def hand_in(self, learner: str, data: bytes) -> Path:
        path = self.submitted / learner / "00_tiny.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def run(self, **options: object) -> int:
        options = {"secret": self.secret, "quiet": True, **options}
        wishes = {each.name: options.pop(each.name) for each in fields(Wishes) if each.name in options}
        return run(
            [self.submitted],
            self.out,
            exercises=self.exercises,
            wishes=Wishes(**wishes),  # type: ignore[arg-type]
            **options,  # type: ignore[arg-type]
        )

    def results(self) -> dict[str, Result]:
        return {each["learner"]: each for each in self.about()["results"]}  # type: ignore[attr-defined]

    def about(self) -> dict[str, object]:
        written: dict[str, object] = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        return written

    def gradings(self) -> list[str]:
        """Whose submissions were graded, in the order of the gradings."""
        with closing(sqlite3.connect(self.out / "store.db")) as store:
            rows = store.execute("SELECT result FROM block_course_gradings ORDER BY id").fetchall()
        return [json.loads(row[0])["learner"] for row in rows]
