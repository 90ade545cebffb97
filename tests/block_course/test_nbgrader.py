"""The exercise in the hands of the real nbgrader: released, submitted, graded into its gradebook."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from block_course.checks import assignment

pytestmark = pytest.mark.slow
COURSE = Path(__file__).parents[2]
STEM = "03_layer_norm"

SAMPLE_VARIANCE = """
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps) + beta
"""
# Right, and in every way noisy: on both streams, by log, by warning, by display and by a figure.
NOISY = """
import logging, os, sys, warnings
import matplotlib.pyplot as plt
logging.basicConfig()

def layer_norm(x, gamma, beta, eps=1e-5):
    print("x", x.shape)
    print("careful", file=sys.stderr)
    os.write(2, b"past sys.stderr")
    logging.error("logged")
    warnings.warn("mind the gap")
    plt.plot([1, 2])
    plt.show()
    display(x)
    np.seterr(all="raise")
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
"""


def nbgrader(course, *arguments):
    environment = os.environ | {
        name: str(course / "home")
        for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    }
    # nbgrader starts `alembic` by its bare name, as it stands in an activated environment
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def submit(course, student, notebook, **sources):
    for cell in notebook.cells:
        cell.source = sources.get(cell.id.removeprefix("layer_norm-"), cell.source)
    folder = course / "submitted" / student / STEM
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{STEM}.ipynb")


def read(path):
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with one assignment and four submissions, all graded."""
    course = tmp_path_factory.mktemp("course")
    source = course / "source" / STEM
    source.mkdir(parents=True)
    solution, exercise = (COURSE / folder / f"{STEM}.ipynb" for folder in ("solutions", "exercises"))
    nbformat.write(read(solution), source / f"{STEM}.ipynb")
    nbgrader(course, "generate_assignment", STEM)
    submit(course, "solved", read(solution))
    submit(course, "untouched", read(exercise))
    submit(course, "sample", read(solution), forward=SAMPLE_VARIANCE)
    submit(course, "noisy", read(solution), forward=NOISY)
    nbgrader(course, "autograde", STEM)
    return course


def test_generate_assignment_gives_the_exercise_that_a_release_gives(course):
    theirs = read(course / "release" / STEM / f"{STEM}.ipynb")
    ours = read(COURSE / "exercises" / f"{STEM}.ipynb")

    for their_cell, our_cell in zip(theirs.cells, ours.cells, strict=True):
        for part in ("id", "cell_type", "source", "metadata"):
            assert their_cell[part] == our_cell[part]


def test_the_gradebook_has_full_marks_none_and_some_in_between(course):
    rows = "SELECT sa.student_id, bc.name, g.auto_score, gc.max_score FROM grade g "
    joins = (
        "JOIN base_cell bc ON g.cell_id = bc.id JOIN grade_cells gc ON gc.id = bc.id "
        "JOIN submitted_notebook sn ON g.notebook_id = sn.id "
        "JOIN submitted_assignment sa ON sn.assignment_id = sa.id"
    )
    database = sqlite3.connect(course / "gradebook.db")
    scores = {(student, cell): (score, of) for student, cell, score, of in database.execute(rows + joins)}
    database.close()

    points = {f"{each.id.replace('.', '-')}-check": each.points for each in assignment(STEM).exercises}
    less = {
        "solved": {},
        "untouched": dict.fromkeys(points, 0.0),
        "sample": {"layer_norm-forward-check": 3.0},
        "noisy": {},
    }
    assert scores == {
        (student, cell): (earned.get(cell, of), of)
        for student, earned in less.items()
        for cell, of in points.items()
    }


def test_an_untouched_exercise_runs_without_an_exception(course):
    graded = read(course / "autograded" / "untouched" / STEM / f"{STEM}.ipynb")
    outputs = [output for cell in graded.cells for output in cell.get("outputs", [])]

    assert not [output for output in outputs if output.output_type == "error"]
    assert "not attempted, 0 of 6 points" in str(outputs)


def test_a_noisy_answers_check_cell_shows_the_panel_and_nothing_else(course):
    graded = read(course / "autograded" / "noisy" / STEM / f"{STEM}.ipynb")
    outputs = next(cell.outputs for cell in graded.cells if cell.id == "layer_norm-forward-check")

    assert [output.output_type for output in outputs] == ["execute_result"]
    assert outputs[0].data["text/plain"] == "6.0"
