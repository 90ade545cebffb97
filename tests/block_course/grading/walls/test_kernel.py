import ctypes
import os
import signal
from pathlib import Path

import pytest

from block_course.grading.walls import kernel
from block_course.grading.walls.forked import forked


def test_an_option_that_the_kernel_refuses_is_an_error() -> None:
    with pytest.raises(OSError, match=r"prctl\(38\): Invalid argument"):
        kernel.prctl(38, 5)


def test_a_system_call_that_fails_is_an_error_with_its_name() -> None:
    with pytest.raises(OSError, match="landlock_restrict_self: "):
        kernel.syscall("landlock_restrict_self", 446, -1, 0)


def test_a_process_can_be_asked_for_the_signal_it_gets_when_its_parent_ends() -> None:
    def asked() -> list[int]:
        before = kernel.parent_death_signal()
        kernel.die_with_parent(signal.SIGTERM)
        return [before, kernel.parent_death_signal()]

    assert forked(asked) == [0, signal.SIGTERM]


def test_memory_is_hidden_for_a_while() -> None:
    before = kernel.is_hidden()
    with kernel.hidden_memory():
        during = kernel.is_hidden()

    assert (before, during, kernel.is_hidden()) == (False, True, False)


def test_a_process_that_gains_nothing_says_so_and_stays_so() -> None:
    def asked() -> list[bool]:
        before = kernel.gains_nothing()
        kernel.gain_nothing()
        return [before, kernel.gains_nothing()]

    assert forked(asked) == [False, True]


def test_a_process_without_capabilities_has_none() -> None:
    def held() -> list[str]:
        kernel.give_up_capabilities()
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return [line.split()[1] for line in lines if line.startswith(("CapEff", "CapPrm", "CapInh"))]

    assert [int(each, 16) for each in forked(held)] == [0, 0, 0]


def test_orphans_are_adopted() -> None:
    def adopts() -> bool:
        kernel.adopt_orphans()
        reading, writing = os.pipe()
        if os.fork() == 0:
            if os.fork() == 0:
                os.read(reading, 1)
                os._exit(7)
            os._exit(0)
        first = os.wait()[1]
        os.write(writing, b"x")
        return (first, os.waitstatus_to_exitcode(os.wait()[1])) == (0, 7)

    assert forked(adopts)


def test_a_namespace_that_is_none_is_refused() -> None:
    with pytest.raises(OSError, match="unshare: Invalid argument"):
        kernel.unshare(0x1)


def test_a_mount_that_can_not_be_is_refused() -> None:
    with pytest.raises(OSError, match="mount /nowhere: "):
        kernel.mount("none", "/nowhere", "no such file system", 0)


def test_a_folder_that_is_no_mount_does_not_become_the_root(tmp_path: os.PathLike[str]) -> None:
    # in a fork: it is another's working folder that changes
    with pytest.raises(OSError, match="pivot_root: "):
        forked(lambda: kernel.pivot_into(str(tmp_path)))


def test_integers_go_in_as_wide_as_a_register() -> None:
    place = ctypes.create_string_buffer(8)
    address = ctypes.addressof(place)

    read = kernel.syscall("getrandom", {"x86_64": 318, "aarch64": 278}[os.uname().machine], address, 8, 0)

    assert read == 8
    assert place.raw != bytes(8)
