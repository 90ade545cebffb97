"""What the chapter on variants shows from a file is what the script beside the file makes."""

import importlib.util
import json
from collections import Counter
from dataclasses import replace
from itertools import product
from types import ModuleType
from typing import Any

import pytest

from transformer_block.parameters import stack_shapes

from .conftest import COURSE

FOLDER = COURSE / "chapters" / "data"
STORED: dict[str, Any] = json.loads((FOLDER / "variants.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_variants", FOLDER / "make_variants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_variant_was_trained_at_every_rate_from_every_seed(script: ModuleType) -> None:
    ran = Counter((run["variant"], run["rate"], run["seed"]) for run in STORED["runs"])

    assert ran == Counter(product(script.VARIANTS, script.RATES, script.SEEDS))


def test_the_variants_are_of_one_size(script: ModuleType) -> None:
    assert STORED["parameters"] == {name: script.parameters(name) for name in script.VARIANTS}
    assert max(STORED["parameters"].values()) < 1.02 * min(STORED["parameters"].values())


def test_each_variant_turns_one_switch(script: ModuleType) -> None:
    base = script.BASE
    for name, line in script.VARIANTS.items():
        turned = {key for key, value in line.items() if getattr(base, key) != value} - {"d_ff"}
        assert len(turned) == (0 if name == "pre-norm" else 2 if name == "DeepNorm" else 1)
        assert stack_shapes(replace(base, **line))


def test_a_run_that_found_out_is_right_more_often_than_chance() -> None:
    for run in STORED["runs"]:
        if run["found"] is not None:
            assert run["accuracy"] > 0.8, run


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")  # shape checks would take most of the time
def test_a_run_made_anew_finds_out_about_when_the_stored_one_did(script: ModuleType) -> None:
    (stored,) = (
        run for run in STORED["runs"] if (run["variant"], run["rate"], run["seed"]) == ("ReZero", 0.008, 0)
    )

    anew = script.train(script.Setting("ReZero", 0.008, 0))

    assert abs(anew["found"] - stored["found"]) <= 12
