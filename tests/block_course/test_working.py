"""A learner's notebook is checked in a terminal as in JupyterLab, and left as it was."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from block_course import working
from block_course.working import NotChecked, check_notebook

pytestmark = pytest.mark.slow

SETUP = "from block_course.check import check\nimport numpy as np"
RIGHT = "def statistics(x):\n    return x.mean(-1, keepdims=True), x.var(-1, keepdims=True)"
SAMPLE = RIGHT.replace("var(-1", "var(-1, ddof=1")
STATISTICS = 'check("layer_norm.statistics", statistics)'


@pytest.fixture
def notebook(tmp_path: Path):
    def written(*cells: str, name: str = "mine.ipynb") -> Path:
        path = tmp_path / name
        nbformat.write(new_notebook(cells=[new_code_cell(each) for each in cells]), path)
        return path

    return written


def test_each_exercise_of_the_assignment_gets_a_line_even_beside_a_cell_that_raises(notebook) -> None:
    path = notebook(SETUP, "1 / 0", SAMPLE, STATISTICS)
    before = path.read_bytes()

    found = {exercise.id: kept for exercise, kept in check_notebook(path, cell_seconds=60)}

    statistics = found.pop("layer_norm.statistics")
    assert (statistics.status, statistics.points) == ("wrong", 1.25)
    assert "layer_norm.forward" in found
    assert set(found.values()) == {None}
    assert path.read_bytes() == before


def test_the_exit_status_is_the_worst_of_all(notebook, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = notebook(SETUP, SAMPLE, STATISTICS, name="wrong.ipynb")
    none = notebook("x = 1", name="none.ipynb")

    assert working.main([wrong], 60) == 1
    printed = capsys.readouterr().out
    assert "1.25 of 3" in printed
    assert "sample variance" in " ".join(printed.split())
    assert working.main([none, wrong], 60) == 2
    assert "no check cell of this course ran in it" in capsys.readouterr().out


def test_a_name_with_brackets_is_shown_as_it_is(notebook, capsys: pytest.CaptureFixture[str]) -> None:
    working.main([notebook(SETUP, RIGHT, STATISTICS, name="mine [draft] [-b].ipynb")], 60)
    assert "mine [draft] [-b].ipynb" in capsys.readouterr().out


def test_all_holds_when_every_exercise_passes(notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = (each for each in working.assignments() if each.stem == "03_layer_norm")
    one = type(whole)(stem=whole.stem, exercises=whole.exercises[:1])
    monkeypatch.setattr(working, "assignments", lambda: (one,))

    assert working.main([notebook(SETUP, RIGHT, STATISTICS)], 60) == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "No such file"), (b"{", "mine.ipynb: ")],
)
def test_what_cannot_be_read_is_said_with_its_name(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "mine.ipynb"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(NotChecked, match=sentence):
        check_notebook(path, cell_seconds=60)


def test_a_cell_without_end_is_named(notebook) -> None:
    path = notebook(SETUP, "while True: pass")

    with pytest.raises(NotChecked, match=r"Cell 1 \(while True: pass\): no end after 2 s"):
        check_notebook(path, cell_seconds=2)
