"""The gradebook in the hands of the real nbgrader: feedback from it, and formgrader's own questions to it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from block_course.checks import assignment, assignments
from block_course.grading import gradebook
from block_course.grading.grade import EXERCISES, GRADED, GRADER_ERROR, run
from block_course.grading.gradebook import GradebookError, Place
from block_course.grading.result import Result
from block_course.grading.store import Store
from block_course.grading.wishes import Wishes
from tests.block_course.grading.hand_ins import DDOF_1, FORWARD, STEM, after, copied, edited, source, without
from tests.block_course.test_nbgrader import nbgrader

pytestmark = pytest.mark.slow

ALL = assignment(STEM).points
TRICK = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def markdown(text: str) -> Any:
    return lambda notebook: notebook["cells"].insert(
        1, {"cell_type": "markdown", "metadata": {}, "source": text, "id": "own"}
    )


class Graded:
    """A course of nbgrader's with four submissions, graded by us."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hand_in("ann", edited())
        self.hand_in("Bob Lee", edited(source(FORWARD, DDOF_1), markdown(TRICK)))
        self.hand_in(
            "cy", edited(after(FORWARD, f"print('{TRICK}')"), without(f"{FORWARD}-check"), copied(FORWARD))
        )
        self.hand_in("di", b"{")
        (folder / "submitted" / "ann" / STEM / "timestamp.txt").write_text("2026-11-30 18:02:11 UTC")
        assert self.run() == GRADED

    def hand_in(self, learner: str, data: bytes) -> None:
        place = self.folder / "submitted" / learner / STEM
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{STEM}.ipynb").write_bytes(data)

    def run(self) -> int:
        wishes = Wishes(gradebook=Place(self.folder))
        return run([self.folder / "submitted"], self.folder / "out", wishes=wishes, quiet=True)

    def api(self) -> NbGraderAPI:
        place = CourseDirectory()
        place.root = str(self.folder)
        return NbGraderAPI(place)

    def results(self) -> list[Result]:
        with Store(self.folder / "out") as store:
            return list(store.latest())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "gradebook.db")) as book:
            return book.execute(query).fetchall()

    def pages(self) -> dict[str, str]:
        return {
            path.parent.parent.name: path.read_text(encoding="utf-8")
            for path in (self.folder / "feedback").rglob("*.html")
        }


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    return Graded(tmp_path_factory.mktemp("course"))


def test_formgrader_finds_each_submission_with_its_score(graded: Graded) -> None:
    found = {each["student"]: each for each in graded.api().get_submissions(STEM)}

    earned = {each["learner"]: each["points"] for each in graded.results()}
    assert {name: each["score"] for name, each in found.items()} == earned
    assert {each["max_score"] for each in found.values()} == {ALL}
    assert earned["ann"] == earned["cy"] == ALL
    assert earned["di"] == 0.0 < earned["Bob Lee"] < ALL  # type: ignore[operator]
    assert {each["autograded"] for each in found.values()} == {True}
    assert {each["needs_manual_grade"] for each in found.values()} == {False}
    assert found["ann"]["timestamp"].startswith("2026-11-30T18:02:11")
    assert found["cy"]["timestamp"] is None


def test_formgrader_finds_each_notebook_to_look_at(graded: Graded) -> None:
    for student in ("ann", "Bob Lee", "cy", "di"):
        (notebook,) = graded.api().get_student_notebook_submissions(student, STEM)

        assert notebook["name"] == STEM
        path = graded.folder / "autograded" / student / STEM / f"{STEM}.ipynb"
        assert json.loads(path.read_text(encoding="utf-8"))["nbformat"] == 4


def test_generate_feedback_makes_pages_in_which_nothing_acts(graded: Graded) -> None:
    with Store(graded.folder / "out") as store:
        store.mark("Bob Lee", STEM, "layer_norm.forward", points=4.25, comment="nearly")
    graded.run()

    nbgrader(graded.folder, "generate_feedback", STEM)

    pages = graded.pages()
    assert set(pages) == {"ann", "Bob Lee", "cy", "di"}
    (bob,) = (each for each in graded.results() if each["learner"] == "Bob Lee")
    assert f"(Score: {bob['points']} / {ALL})" in pages["Bob Lee"]
    assert "nearly" in pages["Bob Lee"]
    assert "sample variance" in pages["Bob Lee"]
    scripts = {
        name: len(BeautifulSoup(page, "html.parser").find_all("script")) for name, page in pages.items()
    }
    assert len(set(scripts.values())) == 1  # nbgrader's own
    for page in pages.values():
        assert not BeautifulSoup(page, "html.parser").find_all(["img", "iframe", "object"])


def test_what_was_given_in_formgrader_stays(graded: Graded) -> None:
    query = (
        "SELECT g.auto_score, g.manual_score, g.needs_manual_grade FROM grade g "
        "JOIN submitted_notebook n ON g.notebook_id = n.id "
        "JOIN submitted_assignment a ON n.assignment_id = a.id JOIN base_cell c ON g.cell_id = c.id "
        "WHERE a.student_id = 'cy' AND c.name = 'layer_norm-forward-check'"
    )
    with closing(sqlite3.connect(graded.folder / "gradebook.db")) as book:
        book.execute("UPDATE grade SET manual_score = 1.5, needs_manual_grade = 0")
        book.execute("UPDATE comment SET manual_comment = 'by hand'")
        book.commit()

    graded.run()
    same = graded.rows(query)
    graded.hand_in("cy", edited(source(FORWARD, DDOF_1)))
    graded.run()

    assert same == [(6.0, 1.5, 0)]
    assert graded.rows(query) == [(3.0, 1.5, 1)]  # its points are of other work: someone must look again
    assert set(graded.rows("SELECT manual_comment FROM comment")) == {("by hand",)}


def test_a_file_that_is_gone_is_named_and_its_points_are_kept(tmp_path: Path, graded: Graded) -> None:
    with Store(graded.folder / "out") as store:
        results = [{**each, "file": str(tmp_path / "none.ipynb")} for each in store.latest()]
    known = [each for each in assignments() if each.stem == STEM]

    def released(assignment: Any) -> bytes:
        return (EXERCISES / f"{assignment.stem}.ipynb").read_bytes()

    place = Place(tmp_path / "other", f"sqlite:///{graded.folder / 'gradebook.db'}")
    gone = gradebook.write(place, results, known, released)  # type: ignore[arg-type]

    assert set(gone) == {str(tmp_path / "none.ipynb")}
    assert len(graded.rows("SELECT * FROM submitted_assignment")) == 4
    assert len(list((tmp_path / "other" / "autograded").rglob("*.ipynb"))) == 4


def test_a_gradebook_of_another_release_is_refused_with_the_cure(
    graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(graded.folder / "gradebook.db")) as book:
        book.execute("UPDATE source_cell SET name = 'layer_norm-old' WHERE name = 'layer_norm-setup'")
        book.commit()

    assert graded.run() == GRADER_ERROR
    said = capsys.readouterr().err
    assert f"another release of {STEM}, with the cells layer_norm-old" in said
    assert f"nbgrader db assignment remove {STEM} --force" in said


def test_an_address_that_leads_nowhere_is_told_without_its_password(tmp_path: Path) -> None:
    place = Place(tmp_path, "sqlite:////none/of/this/g.db")

    with pytest.raises(GradebookError, match="the gradebook refused: unable to open database file"):
        gradebook.write(place, [], [], lambda assignment: b"")
