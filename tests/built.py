"""The book as the tree has it now, built once for all tests of a run, whatever process they are in."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from block_course.book.build import build

COURSE = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the book's pages."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # which the processes of a run share
    with FileLock(base / "book.lock"):
        if not (base / "book" / "built").exists():
            assert build(COURSE, base / "book") == 0, "the book builds without a warning"
            (base / "book" / "built").touch()
    return base / "book" / "_build" / "html"
