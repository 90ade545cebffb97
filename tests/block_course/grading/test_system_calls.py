import builtins
import errno
import fcntl
import os
import socket
import sys
from typing import Any

import pytest

from block_course.grading import system_calls
from tests.block_course.grading.bpf import ALLOW, ERRNO, KILL, verdict

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
NUMBERS = {
    # name: x86-64, aarch64
    "read": (0, 63),
    "write": (1, 64),
    "mmap": (9, 222),
    "futex": (202, 98),
    "exit_group": (231, 94),
    "getrandom": (318, 278),
    "openat": (257, 56),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "execveat": (322, 281),
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "socketpair": (53, 199),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "bpf": (321, 280),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "pidfd_open": (434, 434),
    "io_uring_setup": (425, 425),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "unlinkat": (263, 35),
    "mkdirat": (258, 34),
    "renameat2": (316, 276),
    "truncate": (76, 45),
    "chdir": (80, 49),
    "setuid": (105, 146),
    "setresuid": (117, 147),
    "setrlimit": (160, 164),
    "prlimit64": (302, 261),
    "prctl": (157, 167),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "sched_setaffinity": (203, 122),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
    "setpriority": (141, 140),
    "a call of the future": (900, 900),
}
EPERM, ENOSYS = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS

ALLOWED = ["read", "write", "mmap", "futex", "exit_group", "getrandom", "openat"]
KILLED = [
    "ptrace",
    "process_vm_readv",
    "bpf",
    "unshare",
    "setns",
    "mount",
    "pidfd_open",
    "io_uring_setup",
]
WITH_ARGUMENTS = {
    "clone",
    "clone3",
    "sendto",
    "socketpair",
    "prlimit64",
    "prctl",
    "ioctl",
    "fcntl",
    "sched_setaffinity",
}
REFUSED = [each for each in NUMBERS if each not in {*ALLOWED, *KILLED, *WITH_ARGUMENTS}]


def on(machine: str, name: str, *arguments: int) -> int:
    number = NUMBERS[name][list(MACHINES).index(machine)]
    return verdict(system_calls.program(machine), MACHINES[machine], number, *arguments)


@pytest.mark.parametrize("machine", MACHINES)
class TestTheFilter:
    def test_lets_through_what_computes(self, machine: str) -> None:
        assert {name: on(machine, name) for name in ALLOWED} == dict.fromkeys(ALLOWED, ALLOW)

    def test_refuses_what_reaches_out(self, machine: str) -> None:
        assert {name: on(machine, name) for name in REFUSED} == dict.fromkeys(REFUSED, EPERM)

    def test_ends_a_process_that_no_honest_code_would_be(self, machine: str) -> None:
        assert {name: on(machine, name) for name in KILLED} == dict.fromkeys(KILLED, KILL)

    def test_lets_threads_start_and_no_process(self, machine: str) -> None:
        of_pthread = 0x3D0F00
        of_fork, of_vfork, new_user_namespace = 0x1200011, 0x4111, 0x10000000

        assert on(machine, "clone", of_pthread) == ALLOW
        assert on(machine, "clone3") == ENOSYS
        for flags in (of_fork, of_vfork, new_user_namespace, 0):
            assert on(machine, "clone", flags) == EPERM

    def test_lets_a_pair_of_sockets_talk_and_nobody_else(self, machine: str) -> None:
        unix, internet = int(socket.AF_UNIX), int(socket.AF_INET)
        stream, datagram = int(socket.SOCK_STREAM), int(socket.SOCK_DGRAM)

        assert on(machine, "socketpair", unix, stream | int(socket.SOCK_CLOEXEC)) == ALLOW
        assert on(machine, "socketpair", unix, datagram) == EPERM
        assert on(machine, "socketpair", internet, stream) == EPERM
        assert on(machine, "sendto", 3, 0x1000, 8, 0, 0) == ALLOW
        assert on(machine, "sendto", 3, 0x1000, 8, 0, 0x2000) == EPERM
        assert on(machine, "sendto", 3, 0x1000, 8, 0, 1 << 32) == EPERM

    def test_lets_limits_be_read_and_not_set(self, machine: str) -> None:
        assert on(machine, "prlimit64", 0, 7, 0, 0x1000) == ALLOW
        assert on(machine, "prlimit64", 0, 7, 0x1000, 0) == EPERM
        assert on(machine, "prlimit64", 1, 7, 0, 0x1000) == EPERM

    def test_lets_a_process_set_nothing_but_its_name_and_processors(self, machine: str) -> None:
        assert on(machine, "prctl", 15) == ALLOW
        assert {on(machine, "prctl", option) for option in (1, 4, 8, 22, 24, 36, 38)} == {EPERM}
        assert on(machine, "sched_setaffinity", 0) == ALLOW
        assert on(machine, "sched_setaffinity", 1) == EPERM

    def test_lets_no_descriptor_send_a_signal(self, machine: str) -> None:
        for command in (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_SETFL):
            assert on(machine, "fcntl", 3, command) == ALLOW
        owner_or_group, lease = 15, 1024
        for command in (fcntl.F_SETOWN, fcntl.F_SETSIG, owner_or_group, lease, fcntl.F_NOTIFY):
            assert on(machine, "fcntl", 3, command) == EPERM

    def test_lets_a_terminal_be_asked_for_and_not_typed_into(self, machine: str) -> None:
        assert on(machine, "ioctl", 1, 0x5401) == ALLOW
        assert on(machine, "ioctl", 1, 0x5412) == EPERM

    def test_ends_calls_of_another_architecture(self, machine: str) -> None:
        program = system_calls.program(machine)
        others = {I386, ARM, *MACHINES.values()} - {MACHINES[machine]}

        assert {verdict(program, other, 0) for other in others} == {KILL}


def test_calls_with_the_numbers_of_x32_end_the_process() -> None:
    assert verdict(system_calls.program("x86_64"), MACHINES["x86_64"], 0x40000000) == KILL


def test_a_machine_without_a_list_is_refused_by_name() -> None:
    with pytest.raises(system_calls.NoFilter, match="for aarch64 and x86_64, not for riscv64"):
        system_calls.program("riscv64")


@pytest.mark.parametrize(
    ("error", "cure"),
    [
        (ImportError("no module"), "pyseccomp is not installed; pip install pyseccomp"),
        (RuntimeError("Unable to find libseccomp"), "apt install libseccomp2"),
    ],
)
def test_a_missing_library_is_named_with_its_cure(
    monkeypatch: pytest.MonkeyPatch, error: Exception, cure: str
) -> None:
    real = builtins.__import__

    def fail(name: str, *more: Any) -> Any:
        if name == "pyseccomp":
            raise error
        return real(name, *more)

    monkeypatch.delitem(sys.modules, "pyseccomp", raising=False)
    monkeypatch.setattr(builtins, "__import__", fail)

    with pytest.raises(system_calls.NoFilter, match=cure):
        system_calls.program.__wrapped__(os.uname().machine)
