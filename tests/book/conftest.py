from pathlib import Path

import pytest

from block_course.book.build import build

COURSE = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the whole book once, from what is in the tree now, and give the folder of its pages."""
    output = tmp_path_factory.mktemp("book")
    assert build(COURSE, output) == 0, "the book builds without a warning"
    return output / "_build" / "html"
