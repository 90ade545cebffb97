import random
import resource
import time
from collections import Counter

import pytest

from block_course.grading import wire
from tests.block_course.grading.frames import REAL, mutated, taken

FRAMES = 100_000
LONGEST_SECONDS = 1.0


def test_real_frames_are_taken() -> None:
    assert {taken(data) for data in REAL} == {"frame"}


@pytest.mark.slow
def test_of_100_000_mutated_frames_each_is_taken_or_refused_by_its_name() -> None:
    chance = random.Random(20)
    ends: Counter[str] = Counter()
    different: set[int] = set()
    longest = 0.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(FRAMES):
        data = mutated(chance)
        different.add(hash(data))
        began = time.process_time()
        ends[taken(data)] += 1
        longest = max(longest, time.process_time() - began)

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert set(ends) == {"frame", "Gone", "Malformed"}
    assert min(ends.values()) > FRAMES / 50  # none is what nearly all come to
    assert len(different) > 0.7 * FRAMES
    assert longest < LONGEST_SECONDS
    assert grown * 1024 < 2 * wire.MAX_ARRAY_BYTES
