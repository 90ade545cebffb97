import pytest

from block_course.grading import plan as grading_plan
from block_course.grading.notebook import Notebook, read
from block_course.grading.plan import plan
from tests.block_course.grading.notebooks import (
    Content,
    answer,
    as_bytes,
    check,
    code,
    given,
    markdown,
    nbgrader,
    notebook,
)

SETUP = given("t-setup", "import numpy")
F, G = answer("t-f", "f = 1"), answer("t-g", "g = 2")
DATA = given("t-data", "data = f")
F_CHECK, G_CHECK = check("t-f-check", "check(f)"), check("t-g-check", "check(g)")
RELEASE = [markdown("# T"), SETUP, F, code("# try"), F_CHECK, DATA, G, G_CHECK]


def read_cells(*cells: Content) -> Notebook:
    return read(as_bytes(notebook(*cells)))


def sources(*cells: Content) -> list[str]:
    return [step.source for step in plan(read_cells(*cells), read_cells(*RELEASE)).steps]


def notes(*cells: Content) -> tuple[str, ...]:
    return plan(read_cells(*cells), read_cells(*RELEASE)).notes


def test_all_code_but_the_checks_runs_in_order() -> None:
    assert sources(*RELEASE) == ["import numpy", "f = 1", "# try", "data = f", "g = 2"]
    assert notes(*RELEASE) == ()


def test_a_cell_that_stands_as_we_released_it_is_shown_and_one_of_the_learners_own_is_not() -> None:
    steps = plan(read_cells(F, code("# try"), code("# tried")), read_cells(*RELEASE)).steps

    assert [step.source for step in steps if step.shown] == ["# try"]


def test_a_step_is_called_by_its_number_and_its_id() -> None:
    steps = plan(read_cells(*RELEASE), read_cells(*RELEASE)).steps

    assert [step.name for step in steps] == [
        "cell t-setup",
        "cell 3 (t-f)",
        "cell 4",
        "cell t-data",
        "cell 7 (t-g)",
    ]
    assert [step.grade_id for step in steps] == ["t-setup", "t-f", None, "t-data", "t-g"]


def test_locked_cells_are_ours_whatever_the_learner_made_of_them() -> None:
    changed = [
        given("t-setup", "import os"),
        F,
        check("t-f-check", "pass"),
        given("t-data", "data = 5"),
        G,
        G_CHECK,
    ]

    assert sources(*changed) == ["import numpy", "f = 1", "data = f", "g = 2"]
    assert notes(*changed) == (
        "cell t-setup was changed; ours was used",
        "cell t-f-check was changed; ours was used",
        "cell t-data was changed; ours was used",
    )


def test_locked_cells_that_were_unlocked_or_turned_into_markdown_are_ours_all_the_same() -> None:
    unlocked = [
        code("import os", nbgrader("t-setup", solution=True)),
        F,
        markdown("m", nbgrader("t-f-check")),
        DATA,
        G,
    ]

    assert sources(*unlocked) == ["import numpy", "f = 1", "data = f", "g = 2"]


def test_the_setup_runs_first_wherever_it_was_moved() -> None:
    assert sources(F, DATA, G, SETUP) == ["import numpy", "f = 1", "data = f", "g = 2"]


def test_deleted_locked_cells_run_where_the_release_has_them() -> None:
    assert sources(F, G) == ["import numpy", "f = 1", "data = f", "g = 2"]
    assert sources(F) == ["import numpy", "f = 1", "data = f"]


def test_a_locked_cell_runs_once() -> None:
    assert sources(SETUP, SETUP, F, DATA, DATA, G) == ["import numpy", "f = 1", "data = f", "g = 2"]


def test_a_solution_in_a_markdown_cell_is_run_as_code() -> None:
    assert "f = 1" in sources(SETUP, markdown("f = 1", nbgrader("t-f")), G)
    assert notes(SETUP, markdown("f = 1", nbgrader("t-f")), G) == (
        "cell t-f is a markdown cell; it was run as code",
    )


def test_copies_of_a_solution_all_run_in_order() -> None:
    copies = [SETUP, F, answer("t-f", "f = 'draft'"), G]

    assert sources(*copies) == ["import numpy", "f = 1", "f = 'draft'", "data = f", "g = 2"]
    assert notes(*copies) == ("cell t-f occurs more than once; all run in order, so the last one counts",)


def test_without_metadata_all_code_still_runs_in_order() -> None:
    bare = [code(each["source"]) for each in RELEASE if each["cell_type"] == "code"]

    assert sources(*bare) == [
        *[
            "import numpy",
            "import numpy",
            "f = 1",
            "# try",
            "check(f)",
            "data = f",
            "g = 2",
            "check(g)",
            "data = f",
        ]
    ]
    assert notes(*bare) == (
        "there is no cell t-f; the other cells were run in order",
        "there is no cell t-g; the other cells were run in order",
    )


def test_unknown_ids_and_empty_cells_are_nothing_special() -> None:
    cells = [SETUP, F, answer("of-an-older-release", "x = 1"), code("  \n"), DATA, G]

    assert sources(*cells) == ["import numpy", "f = 1", "x = 1", "data = f", "g = 2"]


def test_magics_are_taken_out() -> None:
    assert sources(SETUP, answer("t-f", "%who\nf = 1"), G)[1] == "pass\nf = 1"


def test_a_release_without_solutions_gives_its_cells_at_the_end() -> None:
    steps = plan(read_cells(code("x = 1")), read_cells(SETUP)).steps

    assert [step.source for step in steps] == ["x = 1", "import numpy"]


def test_code_over_the_limit_is_not_run_but_what_follows_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_plan, "MAX_CODE_CHARACTERS", 20)
    cells = [SETUP, F, code("x" * 16), DATA, G]

    assert sources(*cells) == ["import numpy", "f = 1", "data = f", "g = 2"]
    assert notes(*cells) == ("cell 3 was not run: the code is over 20 characters",)


class TestAnotherRelease:
    @staticmethod
    def of(number: int, *cells: Content) -> list[Content]:
        """The cells as a release has them, with checksums."""
        released = [{**cell, "metadata": {"nbgrader": {**cell["metadata"]["nbgrader"]}}} for cell in cells]
        for cell in released:
            cell["metadata"]["nbgrader"]["checksum"] = f"{number}"
        return released

    def notes(self, submitted: list[Content], released: list[Content]) -> tuple[str, ...]:
        return plan(read_cells(*submitted), read_cells(*released)).notes

    def test_is_run_and_noted_once_with_its_cells(self) -> None:
        old = self.of(1, given("t-setup", "import old"), F, check("t-f-check", "check(old)"), G)
        new = self.of(2, SETUP, F, F_CHECK) + self.of(1, G)

        made = plan(read_cells(*old), read_cells(*new))

        assert [step.source for step in made.steps] == ["import numpy", "f = 1", "g = 2"]
        assert made.notes == (
            "this is another release of the exercise (t-setup, t-f, t-f-check); "
            "it was graded by the present one",
        )

    def test_is_told_from_its_cells_that_are_no_longer_there(self) -> None:
        noted = self.notes(self.of(1, F, answer("t-h", "h = 3")), self.of(1, F))

        assert noted == ("this is another release of the exercise (t-h); it was graded by the present one",)

    def test_is_not_what_a_changed_or_a_bare_cell_is(self) -> None:
        changed = self.of(1, given("t-setup", "import os"), F)

        assert self.notes(changed, self.of(1, SETUP, F)) == ("cell t-setup was changed; ours was used",)
        assert self.notes([SETUP, F], self.of(1, SETUP, F)) == ()
        assert self.notes(self.of(1, SETUP, F), [SETUP, F]) == ()
