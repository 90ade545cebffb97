"""Working copies: updates reach what nobody edited, and never touch what somebody did."""

from pathlib import Path

import pytest
from jupyter_server.services.config import ConfigManager
from jupyterlab_server.config import get_static_page_config

from block_course import lab
from block_course.keeping import VARIABLE
from block_course.lab import CONFIG, PROGRESS, RECORD, lay_out


@pytest.fixture
def exercises(tmp_path: Path) -> Path:
    folder = tmp_path / "exercises"
    folder.mkdir()
    (folder / "03_layer_norm.ipynb").write_text("first release")
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def test_exercises_are_laid_out_once(exercises: Path, work: Path) -> None:
    assert lay_out(exercises, work) == ["03_layer_norm.ipynb: laid out"]
    assert lay_out(exercises, work) == []
    assert (work / "03_layer_norm.ipynb").read_text() == "first release"


def test_an_update_replaces_a_copy_that_nobody_edited(exercises: Path, work: Path) -> None:
    lay_out(exercises, work)
    (exercises / "03_layer_norm.ipynb").write_text("second release")

    assert lay_out(exercises, work) == ["03_layer_norm.ipynb: laid out"]
    assert (work / "03_layer_norm.ipynb").read_text() == "second release"


def test_an_update_is_laid_beside_an_edited_copy(exercises: Path, work: Path) -> None:
    lay_out(exercises, work)
    (work / "03_layer_norm.ipynb").write_text("my answer")
    (exercises / "03_layer_norm.ipynb").write_text("second release")

    said = lay_out(exercises, work)

    assert said == ["03_layer_norm.ipynb: your copy is kept; the newer release is 03_layer_norm.new.ipynb"]
    assert (work / "03_layer_norm.ipynb").read_text() == "my answer"
    assert (work / "03_layer_norm.new.ipynb").read_text() == "second release"
    assert lay_out(exercises, work) == []


@pytest.mark.parametrize("record", [None, "{", "[]"])
def test_without_a_readable_record_a_copy_counts_as_edited(
    exercises: Path, work: Path, record: str | None
) -> None:
    work.mkdir()
    (work / "03_layer_norm.ipynb").write_text("my answer")
    if record is not None:
        (work / RECORD).write_text(record)

    lay_out(exercises, work)

    assert (work / "03_layer_norm.ipynb").read_text() == "my answer"


def test_a_copy_of_this_very_release_needs_no_record(exercises: Path, work: Path) -> None:
    lay_out(exercises, work)
    (work / RECORD).unlink()

    assert lay_out(exercises, work) == []
    assert [path.name for path in work.glob("*.ipynb")] == ["03_layer_norm.ipynb"]


def test_an_answered_newer_copy_is_not_overwritten(exercises: Path, work: Path) -> None:
    lay_out(exercises, work)
    (work / "03_layer_norm.ipynb").write_text("my answer")
    (exercises / "03_layer_norm.ipynb").write_text("second release")
    lay_out(exercises, work)
    (work / "03_layer_norm.new.ipynb").write_text("my second answer")
    (exercises / "03_layer_norm.ipynb").write_text("third release")

    said = lay_out(exercises, work)

    assert (work / "03_layer_norm.new.ipynb").read_text() == "my second answer"
    assert said == ["03_layer_norm.ipynb: your copy is kept; the newer release is 03_layer_norm.new-2.ipynb"]
    assert (work / "03_layer_norm.new-2.ipynb").read_text() == "third release"


def test_a_deleted_copy_comes_back(exercises: Path, work: Path) -> None:
    lay_out(exercises, work)
    (work / "03_layer_norm.ipynb").unlink()

    assert lay_out(exercises, work) == ["03_layer_norm.ipynb: laid out"]


@pytest.mark.parametrize(("user", "as_root"), [(0, True), (1000, False)])
def test_jupyterlab_opens_in_the_working_copies(
    work: Path, monkeypatch: pytest.MonkeyPatch, user: int, as_root: bool
) -> None:
    commands: list[list[str]] = []
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)

    class Done:
        returncode = 0

    monkeypatch.setattr(lab.os, "geteuid", lambda: user)
    monkeypatch.setattr(lab.subprocess, "run", lambda command, **_: commands.append(command) or Done())

    assert lab.open_lab(work) == 0
    assert f"--ServerApp.root_dir={work}" in commands[0]
    assert ("--allow-root" in commands[0]) == as_root


@pytest.mark.parametrize("given", [None, "/elsewhere"])
def test_jupyterlab_asks_for_no_news_shows_no_menu_of_nbgrader_and_keeps_progress(
    work: Path, monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    environments: list[dict[str, str]] = []

    class Done:
        returncode = 0

    monkeypatch.setattr(
        lab.subprocess, "run", lambda command, *, env, **_: environments.append(env) or Done()
    )
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)
    if given is not None:
        monkeypatch.setenv("JUPYTER_CONFIG_PATH", given)

    lab.open_lab(work)

    assert environments[0][VARIABLE] == str(work / PROGRESS)
    path = environments[0]["JUPYTER_CONFIG_PATH"]
    assert path.split(":") == [str(work / CONFIG), *([given] if given else [])]
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", path)
    settings = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert get_static_page_config()["disabledExtensions"]["@jupyter/nbgrader"] is True
