"""The box on machines of several kinds: root and ordinary users, with and without namespaces and Landlock."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from block_course.grading.walls import names
from tests.block_course.grading import reaching

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
NAMESPACES = {names.OWN_ROOT, "pid namespace", "network namespace", "ipc namespace"}
MACHINES = {
    "all is allowed": ([], {names.SECCOMP, names.LANDLOCK}, set()),
    "no namespaces": (["--no-namespaces"], {names.SECCOMP, names.LANDLOCK}, NAMESPACES),
    "no Landlock": (["--no-landlock"], {names.SECCOMP, names.OWN_ROOT}, {names.LANDLOCK}),
    "an ordinary user": (["--user"], {names.SECCOMP, names.LANDLOCK}, {names.OTHER_USER}),
    "an ordinary user without namespaces": (
        ["--user", "--no-namespaces"],
        {names.SECCOMP, names.LANDLOCK},
        {names.OTHER_USER, *NAMESPACES},
    ),
}


def on(options: list[str], *arguments: str) -> dict[str, Any]:
    """What `on_a_machine.py` prints there."""
    paths = [str(HERE.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, str(HERE / "container.py"), *options]
    command += [sys.executable, "-B", str(HERE / "on_a_machine.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize(("options", "standing", "missing"), MACHINES.values(), ids=MACHINES.keys())
def test_the_box_is_closed_where(options: list[str], standing: set[str], missing: set[str]) -> None:
    told = on(options)

    # without Landlock the names in the box's own root can be listed: there are none but Python's
    listed = {"names in the root", "names in /tmp"} if names.LANDLOCK in missing else set()
    assert set(told["reached"]) == listed
    assert told["looked"] == ["done", "", len(reaching.REACHES)]
    assert told["deadly"] == "forbidden"
    assert 0 < told["threads"] < 3000
    assert told["points"] == told["of"]
    assert standing <= set(told["walls"])
    assert missing <= set(told["missing"])
    assert set(told["missing"]).isdisjoint(told["walls"])
    assert names.UNSAFE not in told["walls"]


NOTHING = ["--no-namespaces", "--no-landlock"]


def test_without_the_base_nothing_runs_and_the_cure_is_said() -> None:
    refused = on(NOTHING)["refused"]

    assert "Landlock (landlock_create_ruleset: Function not implemented)" in refused
    assert "own root (unshare: Operation not permitted)" in refused
    assert "Linux 5.13 and later" in refused
    assert "--unsafe" in refused


def test_the_way_past_it_marks_each_result() -> None:
    told = on(NOTHING, "unsafe")

    assert told["points"] == told["of"]
    assert told["walls"][0] == names.UNSAFE
    assert told["notes"][0].startswith("graded with --unsafe")
    assert "the reference" in told["reached"]  # the attempts can succeed
