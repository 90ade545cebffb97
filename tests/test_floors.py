import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.floors import breaches

SRC = Path(__file__).parents[1] / "src"

CLEAN = {
    "transformer_block/__init__.py": "",
    "transformer_block/config.py": "import numpy",
    "transformer_block/in_numpy/__init__.py": "",
    "transformer_block/in_numpy/block.py": "from transformer_block.config import BlockConfig",
    "transformer_block/in_torch/__init__.py": "",
    "transformer_block/in_torch/block.py": "import torch\nfrom ..config import BlockConfig",
    "transformer_block/figures/__init__.py": "",
    "transformer_block/figures/block.py": "import matplotlib\nfrom transformer_block.in_numpy import block",
    "block_course/__init__.py": "",
    "block_course/exercise.py": "",
    "block_course/calling.py": "def kind():\n    import torch",
    "block_course/checks/__init__.py": "from block_course.exercise import Exercise",
    "block_course/grading/__init__.py": "",
    "block_course/grading/in_box.py": "import torch\nfrom .. import calling\nfrom . import wire",
    "block_course/grading/wire.py": "",
    "block_course/grading/judge.py": "from .. import calling, checks\nimport transformer_block.config",
    "block_course/cli.py": "from block_course.grading.judge import judge",
}


def house(tmp_path, **changes):
    for path, text in (CLEAN | changes).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return breaches(tmp_path)


def test_the_house_keeps_its_floors():
    assert breaches(SRC) == []


def test_a_house_in_order_has_no_breach(tmp_path):
    assert house(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "text", "breach"),
    [
        (
            "transformer_block/config.py",
            "\nfrom transformer_block.in_numpy import block",
            ":2: transformer_block.config on floor 0 reaches up to "
            "transformer_block.in_numpy.block on floor 1",
        ),
        (
            "transformer_block/in_torch/block.py",
            "def late():\n    from ..figures.block import draw",
            ":2: transformer_block.in_torch.block on floor 1 reaches up to "
            "transformer_block.figures.block on floor 2",
        ),
        (
            "block_course/calling.py",
            "import block_course.checks",
            ":1: block_course.calling on floor 0 reaches up to block_course.checks on floor 1",
        ),
        (
            "transformer_block/in_numpy/block.py",
            "import transformer_block.in_torch.block",
            ":1: transformer_block.in_numpy.block imports its twin transformer_block.in_torch.block",
        ),
        (
            "transformer_block/in_torch/block.py",
            "from .. import in_numpy",
            ":1: transformer_block.in_torch.block imports its twin transformer_block.in_numpy",
        ),
        (
            "transformer_block/figures/block.py",
            "import os\nimport block_course",
            ":2: transformer_block stands without block_course",
        ),
        (
            "block_course/cli.py",
            "def late():\n    from matplotlib import pyplot",
            ":2: block_course.cli imports matplotlib; only transformer_block.figures draws",
        ),
        (
            "transformer_block/config.py",
            "def late():\n    import torch",
            ":2: transformer_block.config imports torch and must work without it",
        ),
        (
            "transformer_block/in_numpy/block.py",
            "from torch.nn import functional",
            ":1: transformer_block.in_numpy.block imports torch.nn and must work without it",
        ),
        (
            "transformer_block/spare.py",
            "",
            ":1: transformer_block.spare has no floor: "
            "give it one in tests/floors.py and docs/ARCHITECTURE.md",
        ),
        (
            "attic/box.py",
            "",
            ":1: attic.box has no floor: give it one in tests/floors.py and docs/ARCHITECTURE.md",
        ),
        (
            "block_course/grading/in_box.py",
            "def late():\n    from block_course.grading import judge",
            ":1: block_course.grading.judge would be loaded beside the learner's code",
        ),
        (
            "transformer_block/config.py",
            "1\n" * 251,
            ":251: 251 lines in one file; 250 are the limit",
        ),
        (
            "transformer_block/config.py",
            "class A:\n    async def long(self):\n" + "        1\n" * 40,
            ":2: long has 41 lines; 40 are the limit",
        ),
    ],
)
def test_a_planted_breach_is_named(tmp_path, path, text, breach):
    assert f"{path}{breach}" in house(tmp_path, **{path: text})


def test_what_the_box_sends_for_is_followed(tmp_path):
    found = house(
        tmp_path,
        **{
            "block_course/calling.py": "def late():\n    import block_course.exercise, block_course.verdict",
            "block_course/verdict.py": "",
        },
    )
    breach = "block_course.verdict would be loaded beside the learner's code"
    assert f"block_course/grading/in_box.py:1: {breach}" in found


def test_the_judge_and_the_checks_load_no_torch_through_others(tmp_path):
    found = house(
        tmp_path, **{"block_course/exercise.py": "try:\n    import torch\nexcept ImportError:\n    pass"}
    )
    assert found == [
        "block_course/checks/__init__.py:1: block_course.checks loads torch through block_course.exercise; "
        "the judge works without it",
        "block_course/grading/judge.py:1: block_course.grading.judge loads torch through "
        "block_course.exercise; the judge works without it",
    ]


def test_an_annotation_loads_nothing(tmp_path):
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch"
    assert house(tmp_path, **{"block_course/exercise.py": text}) == []


def test_a_circle_is_named(tmp_path):
    found = house(
        tmp_path,
        **{
            "block_course/exercise.py": "from block_course import calling",
            "block_course/calling.py": "from block_course import exercise",
        },
    )
    assert len(found) == 1
    assert found[0].startswith("imports run in a circle: block_course.")


def test_the_limits_themselves_are_allowed(tmp_path):
    function = "def long():\n" + "    1\n" * 39
    assert house(tmp_path, **{"transformer_block/config.py": function + "1\n" * 210}) == []


def loaded_after(statement):
    """Names of the top-level modules that a fresh interpreter holds after one statement."""
    report = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(run.stdout)}


@pytest.mark.parametrize(
    "module",
    [
        "transformer_block",
        "transformer_block.config",
        "transformer_block.parameters",
        "transformer_block.in_numpy.block",
    ],
)
def test_the_numpy_side_of_the_package_loads_neither_torch_nor_what_draws_or_checks(module):
    assert loaded_after(f"import {module}").isdisjoint({"torch", "matplotlib", "beartype", "block_course"})


def test_the_judge_loads_no_torch():
    assert loaded_after("import block_course.grading.judge").isdisjoint({"torch", "matplotlib"})


@pytest.mark.slow
def test_the_probe_of_loaded_modules_sees_what_is_loaded():
    assert "torch" in loaded_after("import transformer_block.in_torch.block")
