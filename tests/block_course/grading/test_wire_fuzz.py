import random
import resource
from collections import Counter

import pytest

from block_course.grading import wire
from tests.block_course.grading.frames import REAL, mutated, taken

FRAMES = 100_000
MOST_READS = 2 + wire.MAX_ARRAYS
"""The length, the header, and each array once: an enemy's frame makes no more work than this."""


def test_real_frames_are_taken() -> None:
    assert {taken(data) for data in REAL} == {"frame"}


@pytest.mark.slow
def test_of_100_000_mutated_frames_each_is_taken_or_refused_by_its_name() -> None:
    chance = random.Random(20)
    ends: Counter[str] = Counter()
    different: set[int] = set()
    reads: Counter[int] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(FRAMES):
        data = mutated(chance)
        different.add(hash(data))
        ends[taken(data, reads)] += 1

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert set(ends) == {"frame", "Gone", "Malformed"}
    assert min(ends.values()) > FRAMES / 50  # none is what nearly all come to
    assert len(different) > 0.7 * FRAMES
    assert max(reads) <= MOST_READS
    assert grown * 1024 < 2 * wire.MAX_ARRAY_BYTES
