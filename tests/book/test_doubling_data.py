"""The times that the chapter on compute shows from a file are those that the script beside it takes."""

import importlib.util
import json
from types import ModuleType
from typing import Any

import pytest

from .conftest import COURSE

FOLDER = COURSE / "chapters" / "data"
STORED: dict[str, Any] = json.loads((FOLDER / "doubling.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_doubling", FOLDER / "make_doubling.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_setting_is_stored_once_in_its_order(script: ModuleType) -> None:
    lengths = [str(T) for T in script.LENGTHS]

    assert list(STORED["by_width"]) == [str(D) for D in script.WIDTHS]
    assert list(STORED["by_length"]) == lengths
    assert {part: list(found) for part, found in STORED["branches"].items()} == {
        "feed_forward": lengths,
        "attention": lengths,
    }
    assert tuple(STORED["training"]) == script.TRAINING


def test_what_is_stored_are_ratios_to_the_first(script: ModuleType) -> None:
    first = {kind: next(iter(STORED[kind].values())) for kind in ("by_width", "by_length", "training")}

    assert first == {"by_width": 1, "by_length": 1, "training": 1}
    assert STORED["branches"]["feed_forward"][str(script.LENGTHS[0])] == 1


def test_a_ratio_is_the_median_of_those_of_each_round(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = {"small": iter([1.0, 2.0, 4.0]), "large": iter([3.0, 10.0, 16.0])}
    timed = {name: lambda name=name: name for name in taken}
    monkeypatch.setattr(script, "seconds", lambda work, least: next(taken[work()]))

    assert script.ratios(timed, rounds=3) == {"small": 1, "large": 4}


def test_parts_are_timed_beside_the_first_setting_of_the_first(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"a": 2.0, "b": 3.0, "c": 8.0}
    monkeypatch.setattr(script, "seconds", lambda work, least: seconds[work()])
    parts = {"one": {"1": lambda: "a", "2": lambda: "b"}, "other": {"1": lambda: "c"}}

    assert script.beside(parts, rounds=2) == {"one": {"1": 1, "2": 1.5}, "other": {"1": 4}}


def test_the_timed_block_is_the_one_that_the_count_is_of(script: ModuleType) -> None:
    config = script.block(128).config

    assert (config.d_model, config.d_ff, config.gated, config.kv_heads) == (128, 512, False, config.n_heads)
    assert script.tokens(7, 128).shape == (1, 7, 128)


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_a_round_times_the_work_of_training(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "TRAINED", (64, 16))

    found = script.ratios(script.training(), rounds=1, least=0.0)

    assert tuple(found) == script.TRAINING
