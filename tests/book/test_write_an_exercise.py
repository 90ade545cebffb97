"""The exercise on the page "Write your own exercise" is one: it keeps the contract, and it is released."""

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from block_course import checks
from block_course.diagnosis import NO_RETURN
from block_course.exercise import Exercise
from block_course.release import release
from tests.gallery import test_reference_mutants
from tests.gallery.answers import MOST_FOR_NOTHING, hidden_cases, in_both_dtypes, verdict

from .conftest import COURSE

SHOWN = COURSE / "docs/own_exercise"
PAGE = (COURSE / "chapters/write_an_exercise.md").read_text(encoding="utf-8")
NOTEBOOK = SHOWN / "21_root_mean_square.ipynb"


@pytest.fixture
def exercise(monkeypatch: pytest.MonkeyPatch) -> Iterator[Exercise]:
    """The exercise as it is found when its folder lies among the checks."""
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(SHOWN / "checks")])
    yield checks.exercise("root_mean_square.of_each_token")
    for name in [each for each in sys.modules if "root_mean_square" in each]:
        del sys.modules[name]


@pytest.fixture
def gallery(exercise: Exercise) -> ModuleType:
    spec = importlib.util.spec_from_file_location("shown_gallery", SHOWN / "gallery/of_each_token.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_check_tells_its_gallery_apart(exercise: Exercise, gallery: ModuleType) -> None:
    named = {wrong.diagnosis for wrong in gallery.WRONG.values()}
    assert {each.name for each in exercise.misconceptions} | {NO_RETURN} <= named

    for seed in range(20):
        cases = hidden_cases(exercise, seed)
        for name, answer in gallery.RIGHT.items():
            for of_dtype in in_both_dtypes(cases).values():
                assert verdict(exercise, answer, of_dtype).status == "pass", name
        for name, wrong in gallery.WRONG.items():
            judged = verdict(exercise, wrong.answer, cases)
            assert judged.points < exercise.points, name
            assert (judged.diagnosis and judged.diagnosis.name) == wrong.diagnosis, name
        for name, answer in gallery.TRIVIAL.items():
            assert verdict(exercise, answer, cases).points <= MOST_FOR_NOTHING * exercise.points, name


def test_no_fault_in_its_reference_goes_unseen(exercise: Exercise, gallery: ModuleType) -> None:
    mutants = test_reference_mutants.mutants_of_reference(exercise)

    loaded = {each.key: test_reference_mutants.loaded(exercise, each) for each in mutants}
    survivors = {key for key, broken in loaded.items() if test_reference_mutants.earns_all(exercise, broken)}

    assert len(mutants) >= 3
    assert survivors == set(gallery.EQUIVALENT)


@pytest.mark.slow
@pytest.mark.usefixtures("exercise")
def test_its_notebook_is_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solution = tmp_path / "solutions" / NOTEBOOK.name
    solution.parent.mkdir()
    shutil.copyfile(NOTEBOOK, solution)
    # the kernel of the release finds the check where an author would have put it
    start = "import block_course.checks as checks\n"
    start += f"checks.__path__.append({str(SHOWN / 'checks')!r})\n"
    (tmp_path / "sitecustomize.py").write_text(start, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    (released,) = release([solution])

    assert released.contents[solution] == NOTEBOOK.read_bytes()  # it is shown as it is released
    made = nbformat.read(tmp_path / "exercises" / NOTEBOOK.name, as_version=4)
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert "raise NotImplementedError" in code[1].source
    (result,) = code[2].outputs
    assert result.data["text/plain"] == "0.0"
    assert code[2].metadata["nbgrader"]["points"] == 2.0
    done = nbformat.read(NOTEBOOK, as_version=4)
    assert [cell.outputs[0].data["text/plain"] for cell in done.cells if "check(" in cell.source] == ["2.0"]


def test_the_cells_on_the_page_are_those_of_the_notebook() -> None:
    blocks = [block.split("```")[0].strip() for block in PAGE.split("```python\n")[1:]]

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert len(blocks) == 2
    assert set(blocks) <= {cell.source for cell in notebook.cells}
