from dataclasses import replace
from pathlib import Path

import pytest

from block_course.checks import assignments
from block_course.grading import naming
from block_course.grading.grade import EXERCISES
from block_course.grading.notebook import Notebook, read
from block_course.roles import grade_id
from tests.block_course.grading.examples import RELEASED, TINY
from tests.block_course.grading.notebooks import answer, as_bytes, notebook

TINY_TOO = replace(TINY, stem="00_tiny_too")
BOTH = (TINY, TINY_TOO)


@pytest.mark.parametrize(
    "name",
    [
        "00_tiny.ipynb",
        "00_Tiny.IPYNB",
        "00_tiny (1).ipynb",
        "00_tiny(2).ipynb",
        "00_tiny-Copy1.ipynb",
        "00_tiny - Copy (3).ipynb",
        "00_tiny copy 2.ipynb",
        "Copy of 00_tiny.ipynb",
        "Kopie von 00_tiny.ipynb",
        "00_tiny.new.ipynb",
        "00_tiny.new-2.ipynb",
        "00_tiny",
    ],
)
def test_a_name_may_be_that_of_a_copy(name: str) -> None:
    assert naming.named(name, BOTH) == (TINY, "copy")


@pytest.mark.parametrize("name", ["ann_00_tiny.ipynb", "00_tiny_ann.ipynb", "Ann 00_TINY final.ipynb"])
def test_a_name_may_hold_other_words(name: str) -> None:
    assert naming.named(name, BOTH) == (TINY, "other")


@pytest.mark.parametrize("name", ["00_tiny_too.ipynb", "copy of 00_tiny_too (1).ipynb"])
def test_the_longest_name_wins(name: str) -> None:
    assert naming.named(name, BOTH) == (TINY_TOO, "copy")


@pytest.mark.parametrize(
    "name", ["homework.ipynb", "100_tiny.ipynb", "00_tinyish.ipynb", "", "00-tiny.ipynb"]
)
def test_a_name_may_say_nothing(name: str) -> None:
    assert naming.named(name, BOTH) is None


def test_a_hostile_name_of_full_length_is_read_like_any_other() -> None:
    name = "00_tiny" + "-(1) copy" * 26 + "!.ipynb"  # with a pattern that backtracks, this would not end

    assert naming.named(name, BOTH) == (TINY, "other")


@pytest.mark.parametrize(
    ("name", "fresh"), [("a.new", True), ("a.new-12", True), ("a.newer", False), ("a", False)]
)
def test_a_release_beside_a_learners_copy_is_known_by_its_name(name: str, fresh: bool) -> None:
    assert naming.is_fresh_release(Path(f"{name}.ipynb")) is fresh


@pytest.mark.parametrize(
    ("grade_id", "solved"),
    [
        ("tiny-double", True),
        ("tiny-double-2", True),
        ("tiny-double-check", False),
        ("tiny-doubles", False),
        (None, False),
    ],
)
def test_an_exercise_is_solved_in_cells_of_its_name(grade_id: str | None, solved: bool) -> None:
    assert naming.is_solved_in("tiny.double", grade_id) is solved


def test_releases_name_their_cells_as_the_grader_expects() -> None:
    exercises = [each for assignment in assignments() for each in assignment.exercises]

    assert exercises
    assert all(naming.is_solved_in(each.id, grade_id(each)) for each in exercises)
    for assignment in assignments():
        released = read((EXERCISES / f"{assignment.stem}.ipynb").read_bytes())
        graded = {cell.grade_id for cell in released.cells if cell.graded}
        assert graded == {naming.check_of(each.id) for each in assignment.exercises}


def test_a_notebook_is_known_by_its_cells() -> None:
    other = replace(TINY, stem="05_other", exercises=(replace(TINY.exercises[0], id="other.f"),))

    assert naming.holding(RELEASED, [other, TINY]) == TINY
    assert naming.holding(read(as_bytes(notebook(answer("other-f", "f = 1")))), [other, TINY]) == other
    assert naming.holding(read(as_bytes(notebook(answer("foreign", "f = 1")))), [other, TINY]) is None
    assert naming.holding(Notebook(()), []) is None
