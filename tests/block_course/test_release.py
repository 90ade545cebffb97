from pathlib import Path

import nbformat
import pytest

from block_course import release as module
from block_course.check import CheckResult, open_cases
from block_course.outputs.execute import CellFailed
from block_course.release import NotReleasable, check_release, exercise_of, main, release
from block_course.verdict import judge
from tests.block_course.doubling import EXERCISE, run_of
from tests.block_course.solutions import ASSIGNMENT, CHECK, code, notebook, run_here, whole, write

COURSE = Path(__file__).parents[2]


def check_here(id, answer):
    return CheckResult(judge(EXERCISE, run_of(answer, open_cases(EXERCISE))), "")


@pytest.fixture
def solution(tmp_path, monkeypatch):
    """A solution notebook on disk, released without kernels."""
    monkeypatch.setattr(module, "assignment", lambda stem: ASSIGNMENT)
    monkeypatch.setattr(
        module,
        "execute",
        lambda made, folder: run_here(made, folder, check=check_here, progress=lambda: None),
    )
    return write(whole(), tmp_path / "solutions" / "07_tiny.ipynb")


def read(path):
    return nbformat.read(path, as_version=4)


def cell(made, id):
    return next(each for each in made.cells if each.id == id)


def edit(path, where, **changes):
    made = read(path)
    cell(made, where).update(changes)
    nbformat.write(made, path)


def test_a_release_cuts_the_answers_out_and_locks_the_checks(solution):
    release([solution])

    exercise = read(exercise_of(solution))
    assert cell(exercise, "tiny-double").source == (
        "def double(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    )
    assert cell(exercise, "tiny-double-check").metadata.editable is False
    assert cell(exercise, "tiny-double-check").metadata.nbgrader.points == 2.5
    assert "checksum" in cell(exercise, "tiny-setup").metadata.nbgrader
    assert cell(exercise, "tiny-double").metadata.deletable is False


def test_a_release_stores_the_exercise_untouched_and_the_solution_solved(solution):
    release([solution])

    outputs = [
        cell(read(path), "tiny-double-check").outputs[0].data["text/plain"]
        for path in (solution, exercise_of(solution))
    ]
    assert outputs == ["2.5", "0.0"]


def test_a_second_release_changes_no_byte(solution):
    release([solution])
    before = [path.read_bytes() for path in (solution, exercise_of(solution))]
    times = [path.stat().st_mtime_ns for path in (solution, exercise_of(solution))]

    [made] = release([solution])

    assert made.changes == ()
    assert [path.read_bytes() for path in (solution, exercise_of(solution))] == before
    assert [path.stat().st_mtime_ns for path in (solution, exercise_of(solution))] == times
    assert check_release([solution]) == []


def test_cells_without_a_role_keep_their_ids(solution):
    release([solution])

    assert [each.id for each in read(exercise_of(solution)).cells] == [
        "cell-0",
        "tiny-setup",
        "tiny-double",
        "cell-3",
        "tiny-double-check",
        "cell-5",
        "cell-6",
    ]


@pytest.mark.parametrize(
    ("where", "id", "changes", "problem"),
    [
        (
            "solution",
            "cell-3",
            {"source": "# another scratch"},
            "exercises/07_tiny.ipynb, cell cell-3: differs in source",
        ),
        ("exercise", "tiny-double", {"source": "def double(x): ..."}, "cell tiny-double: differs in source"),
        ("exercise", "tiny-double-check", {"outputs": []}, "cell tiny-double-check: differs in outputs"),
        ("exercise", "tiny-setup", {"metadata": {}}, "cell tiny-setup: differs in metadata"),
        (
            "solution",
            "tiny-double-check",
            {"metadata": {"nbgrader": {"points": 9.0}}},
            "differs in metadata (points 9.0 in the notebook, 2.5 in the check)",
        ),
        ("exercise", "cell-5", {"id": "cell-9"}, "its cells are not those of the solution, in that order"),
    ],
)
def test_a_stale_release_is_told_by_cell(solution, where, id, changes, problem):
    release([solution])
    edit(solution if where == "solution" else exercise_of(solution), id, **changes)
    before = exercise_of(solution).read_bytes()

    assert problem in "; ".join(check_release([solution]))

    assert exercise_of(solution).read_bytes() == before


def test_metadata_of_the_notebook_count_too(solution):
    release([solution])
    made = read(exercise_of(solution))
    made.metadata.author = "somebody"
    nbformat.write(made, exercise_of(solution))

    assert check_release([solution]) == [f"{exercise_of(solution)}: its metadata differ"]


def test_a_release_that_was_never_made_is_told(solution):
    assert f"{exercise_of(solution)}: does not exist" in check_release([solution])
    assert not exercise_of(solution).parent.exists()


def test_an_exercise_without_solution_is_told(solution):
    release([solution])
    orphan = write(whole(), exercise_of(solution).with_name("08_gone.ipynb"))

    assert check_release([solution]) == [f"{orphan}: no solution has this name"]
    assert main([solution], check=False) == 1


def test_faults_stop_a_release_before_anything_is_written(solution):
    write(notebook(code(CHECK)), solution)
    before = solution.read_bytes()

    with pytest.raises(NotReleasable, match="no answer cell with BEGIN SOLUTION"):
        release([solution])

    assert solution.read_bytes() == before
    assert not exercise_of(solution).exists()
    assert "no answer cell" in "".join(check_release([solution]))


def test_a_solution_that_earns_less_than_all_is_not_released(solution):
    edit(solution, "cell-2", source="def double(x):\n    # BEGIN SOLUTION\n    return x\n    # END SOLUTION")

    with pytest.raises(NotReleasable, match=r"tiny\.double: the solution earns 0\.0, not 2\.5"):
        release([solution])


def test_an_exercise_that_earns_something_untouched_is_not_released(solution):
    edit(
        solution,
        "cell-2",
        source="def helper():\n    # BEGIN SOLUTION\n    0\n    # END SOLUTION\ndouble = lambda x: 2 * x",
    )

    with pytest.raises(NotReleasable, match=r"tiny\.double: the untouched exercise earns 2\.5, not 0"):
        release([solution])


def test_a_check_without_a_result_is_not_released(solution, monkeypatch):
    monkeypatch.setattr(module, "execute", lambda made, folder: None)

    with pytest.raises(NotReleasable, match="the solution earns nothing"):
        release([solution])


def test_a_cell_that_fails_is_named(solution, monkeypatch):
    def fail(made, folder):
        raise CellFailed("Cell 3 (import nothing): ModuleNotFoundError")

    monkeypatch.setattr(module, "execute", fail)

    with pytest.raises(NotReleasable, match=r"07_tiny\.ipynb: Cell 3 \(import nothing\)"):
        release([solution])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("03_layer_norm.ipynb", b"{", "not JSON"),
        ("99_unknown.ipynb", b"{}", "no assignment '99_unknown'"),
        ("03_layer_norm.ipynb", None, "No such file"),
    ],
)
def test_a_file_that_is_no_solution_is_named(tmp_path, name, content, message):
    path = tmp_path / "solutions" / name
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(NotReleasable, match=f"{name}: {message}"):
        release([path])


def test_the_command_prints_a_line_for_each_change(solution, capsys):
    assert main([solution], check=True) == 1
    assert "differs    " in capsys.readouterr().out
    assert main([solution], check=False) == 0
    assert f"written    {exercise_of(solution)}: does not exist" in capsys.readouterr().out
    assert main([solution], check=True) == 0
    assert capsys.readouterr().out == f"unchanged  {solution}\n"
    assert main([solution.with_name("gone.ipynb")], check=False) == 1
    assert capsys.readouterr().out.startswith("failed     ")


def as_stored(made, folder):
    """In place of a run: the outputs that are stored, which `make nbval` proves."""
    stored = {tuple(each.id for each in found.cells): found for found in map(read, folder.glob("*.ipynb"))}
    for new, old in zip(made.cells, stored[tuple(each.id for each in made.cells)].cells, strict=True):
        if new.cell_type == "code":
            new.outputs, new.execution_count = old.outputs, old.execution_count


def test_the_courses_own_exercises_are_what_a_fresh_release_gives(monkeypatch):
    monkeypatch.setattr(module, "execute", as_stored)

    assert check_release(sorted((COURSE / "solutions").glob("*.ipynb"))) == []
