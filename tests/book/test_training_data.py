"""What the chapter on training shows from a file is what the script beside the file makes."""

import importlib.util
import json
from collections import Counter
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from transformer_block.training import LENGTH, STEPS

from .conftest import COURSE

FOLDER = COURSE / "chapters" / "data"
STORED: dict[str, Any] = json.loads((FOLDER / "training.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_training", FOLDER / "make_training.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def setting(run: dict[str, Any]) -> tuple[str, int, float, int]:
    return run["placement"], run["warmup"], run["rate"], run["seed"]


def test_every_setting_of_the_sweep_was_run_once(script: ModuleType) -> None:
    expected = product(script.PLACEMENTS, script.WARMUPS, script.RATES, script.SEEDS)

    assert Counter(map(setting, STORED["runs"])) == Counter(expected)
    assert STORED["every"] == script.EVERY


def test_the_four_runs_that_the_chapter_repeats_have_losses_and_a_map(script: ModuleType) -> None:
    kept = {setting(run): run for run in STORED["runs"] if "losses" in run or "attention" in run}

    assert set(kept) == set(product(script.PLACEMENTS, script.WARMUPS, [script.LIVE_RATE], [0]))
    for run in kept.values():
        assert len(run["losses"]) == STEPS // script.EVERY
        weights = np.array(run["attention"])
        assert weights.shape == (LENGTH, LENGTH)
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=0.031)


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")  # shape checks would take most of the time
@pytest.mark.parametrize(("placement", "warmup"), [("pre", 100), ("post", 0)])
def test_a_run_made_anew_ends_as_the_stored_one(script: ModuleType, placement: str, warmup: int) -> None:
    wanted = (placement, warmup, script.LIVE_RATE, 0)
    (stored,) = (run for run in STORED["runs"] if setting(run) == wanted)

    anew = script.train(script.Setting(*wanted))

    assert (anew["accuracy"] > 0.9) == (stored["accuracy"] > 0.9)
    assert anew["losses"][0] == pytest.approx(stored["losses"][0], abs=0.02)
