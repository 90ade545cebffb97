"""The bench of the grader: what its classes hold, and that it tells what it measures."""

import json
import os
from pathlib import Path

import pytest
from benchmarks.grading import __main__ as bench
from benchmarks.grading.classes import class_of, gallery, loop, solution
from benchmarks.grading.rows import Measured, Size, _killed, _without
from benchmarks.grading.running import _share_mb, _tree

pytestmark = pytest.mark.slow


def test_no_two_learners_of_a_class_handed_in_the_same(tmp_path: Path) -> None:
    files = list(class_of(tmp_path / "class", 5).glob("*/*.ipynb"))

    assert len({path.read_bytes() for path in files}) == 5
    assert {each["cell_type"] for path in files for each in json.loads(path.read_bytes())["cells"]} <= {
        "code",
        "markdown",
    }


def test_a_loop_begins_with_a_cell_that_never_ends() -> None:
    assert json.loads(loop("x"))["cells"][0]["source"] == "while True: pass  # x"
    assert json.loads(solution("x"))["cells"][-1]["source"] == "# x"


def test_the_gallery_holds_more_than_a_hundred_and_a_learner_after_each_damage(tmp_path: Path) -> None:
    names = sorted(path.name for path in gallery(tmp_path / "gallery").iterdir())
    damage, later = ([name for name in names if name.endswith(end)] for end in ("-damage", "-later"))

    assert len(names) >= 100
    assert [name.replace("-damage", "-later") for name in damage] == later


def test_memory_is_summed_over_the_tree_of_processes() -> None:
    assert os.getpid() in _tree(os.getppid())
    assert _share_mb(os.getpid()) > 1.0
    assert _share_mb(2**22 + 1) == 0.0


def test_a_run_is_killed_while_it_runs(tmp_path: Path) -> None:
    assert _killed(["sleep", "60"], tmp_path, more=0, moment=0.0)
    assert not _killed(["true"], tmp_path, more=5, moment=0.0)


def test_results_are_compared_without_what_tells_learners_apart() -> None:
    assert _without([{"learner": "a", "points": 3.0}], "learner") == [{"points": 3.0}]


def test_a_bound_that_is_missed_is_said_and_makes_the_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [Measured("holds", "at most 2", "1", True), Measured("does not", "at most 2", "3", False)]
    monkeypatch.setattr(bench, "ROWS", {"one": lambda folder, size: iter(lines[: size.kills])})
    monkeypatch.setattr(bench, "RESULTS", tmp_path / "made" / "bench.json")

    assert bench.main(["--kills", "2"]) == 1
    told = capsys.readouterr().out
    assert "MISSED" in told
    assert told.count("at most 2") == 2
    stored = json.loads((tmp_path / "made" / "bench.json").read_text())
    assert [row["holds"] for row in stored["rows"]] == [True, False]
    assert stored["size"] == vars(Size(kills=2))
    assert bench.main(["--kills", "1", "--row", "one"]) == 0
