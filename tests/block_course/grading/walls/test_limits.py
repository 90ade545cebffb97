import os
import resource
from typing import Any

import pytest

from block_course.grading.walls import limits
from block_course.grading.walls.forked import forked

USED = limits.Usage(size=100, data=40, threads=300)


def test_a_child_may_add_to_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)

    given = limits.limits(USED, 1000, 7, counted_apart=True)

    assert given[resource.RLIMIT_AS] == (limits.SHARED_BYTES + 1100,) * 2
    assert given[resource.RLIMIT_DATA] == (1040, 1040)
    assert given[resource.RLIMIT_CPU] == (7, 8)
    assert given[resource.RLIMIT_NPROC] == (64, 64)
    assert given[resource.RLIMIT_NOFILE] == (64, 64)
    assert given[resource.RLIMIT_CORE] == given[resource.RLIMIT_MEMLOCK] == (0, 0)


def test_where_threads_are_counted_with_others_those_of_the_machine_are_granted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)

    assert limits.limits(USED, 1000, 7, counted_apart=False)[resource.RLIMIT_NPROC] == (364, 364)


def test_a_narrower_limit_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    present = {resource.RLIMIT_CPU: (3, 3), resource.RLIMIT_NOFILE: (10, 50)}
    everything = (resource.RLIM_INFINITY,) * 2
    monkeypatch.setattr(resource, "getrlimit", lambda kind: present.get(kind, everything))

    given = limits.limits(USED, 1000, 7, counted_apart=True)

    assert given[resource.RLIMIT_CPU] == (3, 3)
    assert given[resource.RLIMIT_NOFILE] == (50, 50)


def test_what_is_used_is_what_the_kernel_says() -> None:
    used = limits.usage()

    assert used.size > used.data > 1 << 20
    assert used.threads >= 1


def test_limits_hold_in_a_real_process(tmp_path: Any) -> None:
    def tried() -> list[object]:
        given = limits.limits(limits.usage(), 200 << 20, 5, counted_apart=False)
        before = limits.are_set(given)
        limits.set_limits(given)
        try:
            bytearray(400 << 20)
        except MemoryError:
            refused = True
        with open(tmp_path / "large", "wb", buffering=0) as file:
            written = file.write(b"x" * (17 << 20))
        return [before, limits.are_set(given), refused, written, resource.getrlimit(resource.RLIMIT_CPU)]

    assert forked(tried) == [False, True, True, 16 << 20, [5, 6]]
    assert os.path.getsize(tmp_path / "large") == 16 << 20
