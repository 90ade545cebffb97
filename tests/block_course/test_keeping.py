"""What checks find is kept where the environment says, and nowhere else."""

import json
from pathlib import Path

import pytest

from block_course import check as module
from block_course.check import check, progress
from block_course.checks import assignment
from block_course.keeping import VARIABLE, Kept, held_in, kept
from transformer_block.in_numpy.layer_norm import statistics


@pytest.fixture(autouse=True)
def new_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_latest", {})
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept"


def sample_variance(x):
    return x.mean(-1, keepdims=True), x.var(-1, ddof=1, keepdims=True)


def test_the_last_verdict_of_an_exercise_is_kept_with_what_failed_first(folder: Path) -> None:
    check("layer_norm.statistics", statistics)
    check("layer_norm.statistics", sample_variance)

    (found,) = kept().values()
    assert list(kept()) == ["layer_norm.statistics"]
    assert (found.status, found.points, found.of) == ("wrong", 1.25, 3.0)
    assert found.fault.endswith("(sample variance)")
    assert [path.name for path in folder.iterdir()] == ["layer_norm.statistics.json"]


def test_what_passes_or_was_not_tried_has_no_fault(folder: Path) -> None:
    check("layer_norm.statistics", statistics)
    check("layer_norm.forward", None)

    assert {each.fault for each in kept().values()} == {""}


def test_without_the_variable_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    check("layer_norm.statistics", statistics)

    assert kept() == {}
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_leaves_the_check_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "a file"))

    assert repr(check("layer_norm.statistics", statistics)) == "3.0"
    assert kept() == {}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"status": "pass", "points": "many"}', "\xff"])
def test_a_file_that_cannot_be_read_counts_as_none(folder: Path, content: str) -> None:
    check("layer_norm.statistics", statistics)
    (folder / "layer_norm.forward.json").write_text(content, encoding="latin-1")

    assert list(held_in(folder)) == ["layer_norm.statistics"]


def test_progress_counts_what_other_sessions_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check("masks.causal", None)
    monkeypatch.setattr(module, "_latest", {})  # another kernel
    check("layer_norm.statistics", statistics)

    found = progress()

    assert {row.state for row in found.rows} == {"pass", "not run"}
    (other,) = found.others
    assert (other.title, other.points) == ("06_masks", 0.0)
    assert other.state.startswith("0 of ")
    assert repr(found).splitlines()[-1].split()[:2] == ["All", "notebooks"]
    html = found._repr_html_()
    assert html.index("Other notebooks") < html.index("All notebooks")
    assert f"3 of {assignment('layer_norm').points + assignment('masks').points:g}" in html


def test_progress_shows_what_this_notebook_had_before_its_kernel_was_restarted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check("layer_norm.statistics", statistics)
    monkeypatch.setattr(module, "_latest", {})
    check("layer_norm.forward", None)

    states = {row.title: row.state for row in progress().rows}

    assert states["Mean and variance of each token"] == "pass"


def test_what_is_kept_is_plain_words_and_numbers(folder: Path) -> None:
    check("layer_norm.statistics", statistics)

    stored = json.loads((folder / "layer_norm.statistics.json").read_text())

    assert Kept(**stored) == Kept(status="pass", points=3.0, of=3.0)
