"""What a module offers is read from its text, with shapes that stay readable."""

from pathlib import Path

import pytest

from block_course.book.signatures import Entry, Module, read

SOURCE = '''"""A module.

More of it.
"""

import numpy as np
from jaxtyping import Bool, Float

from package._private import Shape
from package.config import Config as Choices
from package.config import _hidden

Pair = tuple[Float[np.ndarray, "D"], Float[np.ndarray, "D"]]
RATES = {"low": 0.1}
"""What the rates are for."""
_SECRET = 1


def double(
    x: Float[np.ndarray, "*B D"],
    /,
    seen: Bool[np.ndarray, "T S"] | None = None,
    *rest: int,
    eps: float = 1e-5,
    **choices: Choices,
) -> Pair:
    """Twice."""


def bare(x, *, y=(1, 2)):
    """Without types."""


def of_shape(shape: Shape) -> np.ndarray:
    """From a private type."""


def _not_shown():
    """Private."""


class Block:
    """A block."""

    def __init__(self, config: Choices) -> None:
        self.config = config

    def __call__(self, x: int) -> "Block":
        """Run it."""

    def undocumented(self):
        pass

    @property
    def width(self) -> int:
        """How wide."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Fields."""

    width: int = len(
        "µ"  # a comment
    )
    pair: Pair | None = None  # µ


class _Private:
    """Not shown."""
'''


@pytest.fixture
def module(tmp_path: Path) -> Module:
    path = tmp_path / "part.py"
    path.write_text(SOURCE, encoding="utf-8")
    return read(path, "package.part")


def entry(module: Module, name: str) -> Entry:
    (found,) = [each for each in module.entries if each.name == name]
    return found


def test_public_names_come_in_the_order_of_the_file(module: Module) -> None:
    names = [each.name for each in module.entries]

    assert names == ["Pair", "RATES", "double", "bare", "of_shape", "Block", "Facts"]
    assert module.doc == "A module.\n\nMore of it."


def test_a_shape_loses_its_library_and_a_public_type_gets_its_path(module: Module) -> None:
    assert entry(module, "double").signature == (
        "(x: Float['*B D'], /, seen: Bool['T S'] | None = None, *rest: int, eps: float = 1e-5, "
        "**choices: package.config.Config) -> package.part.Pair"
    )


def test_names_without_types_and_types_of_private_modules_stay_as_they_are(module: Module) -> None:
    assert entry(module, "bare").signature == "(x, *, y = (1, 2))"
    assert entry(module, "of_shape").signature == "(shape: Shape) -> np.ndarray"


def test_a_class_is_called_as_its_start_or_its_fields_say(module: Module) -> None:
    assert entry(module, "Block").signature == "(config: package.config.Config)"
    assert (
        entry(module, "Facts").signature
        == "(*, width: int = len('µ'), pair: package.part.Pair | None = None)"
    )


def test_members_are_the_documented_ones_and_a_quoted_type_is_a_type(module: Module) -> None:
    members = entry(module, "Block").members

    assert [(each.kind, each.name, each.signature, each.doc) for each in members] == [
        ("method", "__call__", "(x: int) -> package.part.Block", "Run it."),
        ("property", "width", "int", "How wide."),
    ]


def test_a_named_value_has_its_source_and_the_words_below_it(module: Module) -> None:
    assert entry(module, "Pair").signature == "tuple[Float['D'], Float['D']]"
    assert entry(module, "RATES") == Entry("data", "RATES", "{'low': 0.1}", "What the rates are for.")
