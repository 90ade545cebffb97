from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from block_course.grading import wishes
from block_course.grading.attempt import Limits
from block_course.grading.box import Box
from block_course.grading.worker import settings
from tests.block_course.grading.course import Course
from tests.block_course.grading.examples import RELEASED_BYTES, TINY, submission


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    """A box for the tiny assignment, which all tests of a process share."""
    with Box(settings(TINY, Limits())) as box:
        yield box


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """A call in the box puts nothing back; one that a test makes in its own process is followed by this."""
    with np.errstate():
        yield


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setattr(wishes, "assignments", lambda: (TINY,))
    course = Course(tmp_path)
    course.hand_in("ann", submission())
    course.hand_in("bob", RELEASED_BYTES)
    return course


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts a fork server needs Linux."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.needs("fork"))
