"""The page for teachers and the workflow that it tells of: every command is run, every promise looked at."""

import csv
import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from block_course.checks import assignment
from block_course.grading import batch
from tests.block_course.grading.hand_ins import STEM, edited

COURSE = Path(__file__).parents[3]
PAGE = (COURSE / "chapters" / "grade_your_course.md").read_text(encoding="utf-8")
WORKFLOWS = COURSE / ".github" / "workflows"
PROGRAMS = Path(sys.executable).parent
ALL = assignment(STEM).points


def fenced(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    lines = [line for block in fenced("console") for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in lines)
    return [line.removeprefix("$ ") for line in lines]


def environment(folder: Path, **more: str) -> dict[str, str]:
    home = {
        name: str(folder / "home")
        for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    }
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"]])
    return {**os.environ, **home, "PATH": path, **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def script(port: int) -> str:
    """All commands of the page one after the other, on this machine, each in the course's folder."""
    lines = ["set -eu", "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"]
    for command in commands():
        here = command.replace("scheduler.example.org:8786", f"127.0.0.1:{port}").replace("8786", str(port))
        stays = here.endswith("&") or here.startswith("export ")
        lines.append(here if stays else f"( {here} )")
    return "\n".join(lines)


@pytest.mark.slow
def test_every_command_of_the_page_does_what_it_says(tmp_path: Path) -> None:
    work = edited()
    (tmp_path / f"{STEM}.ipynb").write_bytes(work)
    (tmp_path / "submitted" / "ann").mkdir(parents=True)
    (tmp_path / "submitted" / "ann" / f"{STEM}.ipynb").write_bytes(work)
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
        archive.writestr(f"leeann_340934_90210_{STEM}.ipynb", work)
    (tmp_path / "class.csv").write_text("ID,Login ID\n340934,ann\n17,bob\n")
    (tmp_path / "times.csv").write_text("learner,submitted\nann,2026-11-30 18:02:11\n")

    done = subprocess.run(
        ["bash", "-c", script(free_port())],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{STEM}, missing (1): bob" in done.stdout
    with open(tmp_path / "grades" / "grades.csv", newline="", encoding="utf-8") as file:
        (ann,) = (row for row in csv.DictReader(file) if row["learner"] == "ann")
    assert (float(ann["points"]), ann["submitted"], ann["comment"]) == (ALL - 3.0, "2026-11-30 18:02:11", "")
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {
        "grades/summary.md",
        "grades/junit.xml",
        "grades/feedback.csv",
        f"grades/feedback/ann/{STEM}.html",
        f"grades/gradescope/ann/{STEM}.json",
        "marking/gradebook.db",
        f"marking/feedback/ann/{STEM}/{STEM}.html",
    } <= made
    (on_the_cluster,) = json.loads((tmp_path / "marks" / "results.json").read_text())["results"]
    assert (on_the_cluster["learner"], on_the_cluster["points"]) == ("ann", ALL)


def test_the_exit_statuses_of_the_page_are_those_of_the_grader() -> None:
    told = {int(row) for row in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}

    assert told == {
        batch.GRADED,
        batch.GRADER_ERROR,
        batch.BAD_USAGE,
        batch.BELOW_PASS_MARK,
        batch.OUT_OF_TIME,
        batch.INTERRUPTED,
    }


def loaded(text: str) -> dict[str, Any]:
    """A workflow, in which YAML takes the key `on` for a truth value."""
    found: dict[Any, Any] = yaml.safe_load(text)
    return {"on" if name is True else name: value for name, value in found.items()}


GRADE = loaded((WORKFLOWS / "grade.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = GRADE["jobs"]["grade"]["steps"]


def test_workflows_may_only_read_and_name_actions_by_commit() -> None:
    for path in WORKFLOWS.glob("*.yml"):
        workflow = loaded(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        assert "pull_request_target" not in path.read_text(encoding="utf-8")
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", "a@" + "0" * 40))
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False


def test_the_workflow_puts_no_input_into_a_command_and_the_secret_into_one_step() -> None:
    assert not [step for step in STEPS if "${{" in step.get("run", "")]
    with_secret = [step["name"] for step in STEPS if "secrets." in json.dumps(step)]
    assert with_secret == ["Put the secret where only the grader reads it"]
    assert GRADE["on"]["workflow_call"]["secrets"]["grading-secret"]["required"] is False


def test_the_pages_workflows_call_it_with_what_it_takes() -> None:
    learners, teachers = map(loaded, fenced("yaml"))

    for workflow in (learners, teachers):
        job = workflow["jobs"]["grade"]
        wanted = GRADE["on"]["workflow_call"]["inputs"]
        assert workflow["permissions"] == {"contents": "read"}
        assert job["uses"].endswith("/.github/workflows/grade.yml@COMMIT")
        assert (
            {name for name, each in wanted.items() if each.get("required")} <= set(job["with"]) <= set(wanted)
        )
    assert "secrets" not in learners["jobs"]["grade"]
    assert set(teachers["jobs"]["grade"]["secrets"]) == {"grading-secret"}


@pytest.mark.slow
def test_the_workflows_own_steps_grade_and_leave_no_secret_behind(tmp_path: Path) -> None:
    (tmp_path / "course" / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "course" / ".venv" / "bin" / "block-course").symlink_to(PROGRAMS / "block-course")
    (tmp_path / "work" / "my work").mkdir(parents=True)
    (tmp_path / "work" / "my work" / f"{STEM}.ipynb").write_bytes(edited())
    given = {
        "GRADING_SECRET": "a secret of the teacher's own",
        "SUBMISSIONS": "my work",
        "PASS_MARK": "50",
        "MINUTES": "5",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "CI": "true",
    }

    for step in STEPS:
        if "run" in step and "make" not in step["run"]:
            own = {name: given[name] for name in (*step.get("env", {}), "GITHUB_STEP_SUMMARY", "CI")}
            subprocess.run(
                ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment(tmp_path, **own), check=True
            )

    (found,) = json.loads((tmp_path / "grades" / "results.json").read_text())["results"]
    assert found["points"] == ALL
    assert "my work" in (tmp_path / "summary").read_text()
    assert not (tmp_path / "grades" / "secret").exists()
