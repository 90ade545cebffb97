from collections.abc import Iterator

import pytest

from block_course.grading.attempt import Limits
from block_course.grading.box import Box
from block_course.grading.worker import settings
from tests.block_course.grading.examples import TINY


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    """A box for the tiny assignment, which all tests of a process share."""
    with Box(settings(TINY, Limits())) as box:
        yield box
