"""The stored times are those of the script's settings, and say what the chapter says of them."""

import importlib.util
import json
from types import ModuleType
from typing import Any

import pytest

from .conftest import COURSE

FOLDER = COURSE / "chapters" / "data"
STORED: dict[str, Any] = json.loads((FOLDER / "cache.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_cache", FOLDER / "make_cache.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_length_was_measured(script: ModuleType) -> None:
    assert STORED["held"] == [*script.HELD]
    assert min(STORED["step"]) == 1
    for name in ("step", "again"):
        assert len(STORED[name]) == len(script.HELD)


def test_a_step_hardly_grows_and_reading_again_grows_with_every_length() -> None:
    assert max(STORED["step"]) < 2
    assert STORED["again"] == sorted(STORED["again"])
    assert STORED["again"][-1] > 100 * STORED["step"][-1]


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")  # shape checks would take most of the time
def test_the_script_measures_what_it_says(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "HELD", (8, 16))
    monkeypatch.setattr(script, "TRIES", 2)
    calls: list[object] = []
    times = iter(range(1, 100))

    def counted(act: Any) -> float:
        calls.append(act())
        return float(next(times))

    monkeypatch.setattr(script, "seconds", counted)

    made = script.made()

    shapes = [tuple(each.shape) for each in calls]
    width = script.CONFIG.d_model
    assert shapes == [(n, width) for held in (8, 8, 16) for n in (1, held + 1) * 2]
    for step, again in zip(calls[::2], calls[1::2], strict=True):
        assert step.shape[0] == 1
        assert again.isfinite().all()
    assert made == {"held": (8, 16), "step": [1.0, 1.8], "again": [1.2, 2.0]}
