"""What the chapter on real weights compares with is what transformers says, asked anew."""

import importlib.util
import json
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from .conftest import COURSE

FOLDER = COURSE / "chapters" / "data"
STORED: dict[str, Any] = json.loads((FOLDER / "minilm.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_minilm", FOLDER / "make_minilm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.needs("weights")
def test_transformers_says_the_same_again(script: ModuleType) -> None:
    anew = script.made()

    assert anew.keys() == STORED.keys()
    assert (anew["sentence"], anew["seed"]) == (STORED["sentence"], STORED["seed"])
    np.testing.assert_allclose(anew["states"], STORED["states"], rtol=1e-11, atol=1e-11)
