"""The page's own arithmetic, run in V8."""

from collections.abc import Iterator
from importlib import resources
from typing import Any, Protocol

import numpy as np
import pytest
from py_mini_racer import MiniRacer


class Call(Protocol):
    def __call__(self, function: str, *arguments: Any) -> Any:
        """What a function of arithmetic.js returns; arrays go in as lists."""


@pytest.fixture(scope="session")
def call() -> Iterator[Call]:
    source = (
        resources.files("transformer_block.explore").joinpath("arithmetic.js").read_text(encoding="utf-8")
    )
    with MiniRacer() as engine:
        engine.eval(source)

        def call(function: str, *arguments: Any) -> Any:
            return engine.call(function, *map(plain, arguments))

        yield call


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
