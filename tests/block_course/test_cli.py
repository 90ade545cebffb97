"""The command line hands each option to the part that does the work, and its exit status back."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from block_course import cli, lab, refresh, release, working
from block_course.book import build
from block_course.grading import grade, handing_back
from block_course.grading.cluster import Cluster
from block_course.grading.gradebook import Place
from block_course.grading.wishes import Wishes

COURSE = Path(__file__).resolve().parents[2]


class Recorder:
    """Stands in for a part: keeps what it was called with, returns a status of its own."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> int:
        self.calls.append((args, kwargs))
        return self.status


def run(*words: str) -> int:
    return CliRunner().invoke(cli.app, words).exit_code


def test_book_builds_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Recorder(3)
    monkeypatch.setattr(build, "build", part)

    assert run("book") == 3
    assert part.calls == [((COURSE,), {})]


def test_check_runs_each_notebook_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Recorder(1)
    monkeypatch.setattr(working, "main", part)

    assert run("check", "a.ipynb", "b.ipynb", "--cell-seconds", "7") == 1
    assert part.calls == [(([Path("a.ipynb"), Path("b.ipynb")], 7), {})]


def test_lab_lays_out_before_it_opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    part = Recorder(4)
    monkeypatch.setattr(lab, "open_lab", part)

    assert run("lab", "--work", str(tmp_path)) == 4
    assert part.calls == [((tmp_path,), {})]
    assert (tmp_path / "03_layer_norm.ipynb").exists()


def test_lab_can_lay_out_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    part = Recorder(4)
    monkeypatch.setattr(lab, "open_lab", part)

    assert run("lab", "--work", str(tmp_path), "--prepare-only") == 0
    assert part.calls == []


@pytest.mark.parametrize(("words", "check"), [((), False), (("--check",), True)])
def test_release_takes_every_solution(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], check: bool
) -> None:
    part = Recorder(5)
    monkeypatch.setattr(release, "main", part)

    assert run("release", *words) == 5
    assert part.calls == [((sorted((COURSE / "solutions").glob("*.ipynb")), check), {})]


def test_release_takes_the_named_solutions_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Recorder(0)
    monkeypatch.setattr(release, "main", part)

    assert run("release", "a.ipynb") == 0
    assert part.calls == [(([Path("a.ipynb")], False), {})]


def test_refresh_takes_notebooks_and_folders_of_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    part = Recorder(6)
    monkeypatch.setattr(refresh, "main", part)
    for name in ("b.ipynb", "a.ipynb", "notes.md"):
        (tmp_path / name).touch()

    assert run("refresh", str(tmp_path), "single.ipynb", "--check") == 6
    assert part.calls == [(([tmp_path / "a.ipynb", tmp_path / "b.ipynb", Path("single.ipynb")], True), {})]


def test_grade_hands_every_option_on(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Recorder(1)
    monkeypatch.setattr(grade, "run", part)
    words = (
        "submitted one.ipynb --out marks --secret s --cell-seconds 1.5 --submission-seconds 7 --memory-mb 300"
    )

    more = (
        "--workers 2 --regrade --quiet --json --unsafe --store sqlite:///s.db --roster r.csv --pass-mark 60 "
        "--times t.csv --time-budget 90 --gradebook course --gradebook-url sqlite:///g.db "
        "--cluster tls://h:1 --cluster-secret cs"
    )

    assert run("grade", *words.split(), *more.split(), "--report", "junit", "--report", "markdown") == 1
    assert part.calls == [
        (
            ([Path("submitted"), Path("one.ipynb")], Path("marks")),
            {
                "secret": Path("s"),
                "limits": (1.5, 7.0, 300),
                "wishes": Wishes(
                    2,
                    True,
                    "sqlite:///s.db",
                    ("junit", "markdown"),
                    Path("r.csv"),
                    Path("t.csv"),
                    60.0,
                    90.0,
                    Place(Path("course"), "sqlite:///g.db"),
                    Cluster("tls://h:1", Path("cs")),
                ),
                "quiet": True,
                "as_json": True,
                "unsafe": True,
            },
        )
    ]


AFTERWARDS = {
    "report": ("report out --format junit", ((Path("out"), None, ("junit",)), {})),
    "feedback": ("feedback out --store sqlite:///s.db", ((Path("out"), "sqlite:///s.db"), {})),
    "mark": (
        "mark out ann 03_layer_norm --exercise e --points 1.5 --comment c",
        ((Path("out"), None, "ann", "03_layer_norm", "e", 1.5, "c"), {}),
    ),
}


@pytest.mark.parametrize("name", AFTERWARDS)
def test_what_follows_a_run_gets_its_options(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    part = Recorder(2)
    monkeypatch.setattr(handing_back, name, part)
    words, call = AFTERWARDS[name]

    assert run(*words.split()) == 2
    assert part.calls == [call]


def test_outside_a_clone_the_command_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cli, "COURSE", tmp_path)

    result = CliRunner().invoke(cli.app, ["book"])

    assert result.exit_code == 2
    assert "no folder chapters/" in result.output


def test_the_installed_command_is_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["block-course", "--help"])

    with pytest.raises(SystemExit) as ended:
        cli.main()

    assert ended.value.code == 0
