"""The system calls that a learner's code may make: an allow-list, as a filter program for the kernel.

What computes is on it; what reaches for another process, the network, a program to run or a file to change is
not. Which files may be opened is for Landlock and the box's own root to say: a filter can't read a path.
"""

from __future__ import annotations

import errno
import fcntl
import platform
import tempfile
from functools import cache
from typing import Any

_ALLOWED = """
read readv pread64 preadv write writev pwrite64 lseek close close_range openat open
fstat newfstatat stat lstat statx access faccessat faccessat2 getdents64 readlink readlinkat getcwd fstatfs
mmap munmap mremap mprotect madvise brk mincore mbind get_mempolicy membarrier
futex rseq set_robust_list get_robust_list set_tid_address arch_prctl sched_yield sched_getaffinity getcpu
gettid getpid getppid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage getitimer setitimer
alarm getrandom sysinfo uname umask getrlimit getpriority
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause
restart_syscall wait4 waitid
poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 pipe pipe2
dup dup2 dup3 recvfrom getsockopt getsockname getpeername shutdown exit exit_group
"""

_DEADLY = """
ptrace process_vm_readv process_vm_writev bpf perf_event_open userfaultfd io_uring_setup io_uring_enter
io_uring_register pidfd_open pidfd_getfd pidfd_send_signal keyctl add_key request_key open_by_handle_at
init_module finit_module delete_module kexec_load kexec_file_load reboot mount umount2 pivot_root chroot
unshare setns move_mount open_tree fsopen fsmount fsconfig fspick mount_setattr swapon swapoff
"""
"""No honest code makes these: they end the process, and the verdict is "forbidden". All others just fail."""

_THREAD = 0x10000
_TERMINAL_SETTINGS, _TERMINAL_SIZE, _NOT_BLOCKING = 0x5401, 0x5413, 0x5421
_CLOSE_ON_EXEC, _KEEP_ON_EXEC = 0x5451, 0x5450
_DUPLICATE = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC)
_SET_NAME = 15
_UNIX, _STREAM, _KIND = 1, 1, 0xF

MACHINES = {"x86_64": "X86_64", "aarch64": "AARCH64", "arm64": "AARCH64"}


class NoFilter(Exception):
    """There is no way to a filter here; the message says why, and the cure."""


@cache
def program(machine: str = platform.machine()) -> bytes:
    """The filter, as the kernel takes it: 8 bytes an instruction. Raises NoFilter."""
    if machine not in MACHINES:
        known = " and ".join(sorted({"x86_64", "aarch64"}))
        raise NoFilter(
            f"there is a list of system calls for {known}, not for {machine}; grade on one of them"
        )
    try:
        import pyseccomp  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise NoFilter("pyseccomp is not installed; pip install pyseccomp") from None
    except RuntimeError:
        raise NoFilter(
            "the system has no libseccomp; on Debian and Ubuntu: apt install libseccomp2"
        ) from None
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    rules.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    wanted, native = getattr(pyseccomp.Arch, MACHINES[machine]), pyseccomp.Arch.NATIVE
    if not rules.exist_arch(wanted):
        rules.add_arch(wanted)
        rules.remove_arch(native)
    _add_rules(rules, pyseccomp)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _add_rules(rules: Any, S: Any) -> None:
    equal, masked = S.EQ, S.MASKED_EQ
    for name in _ALLOWED.split():
        rules.add_rule(S.ALLOW, name)
    for name in _DEADLY.split():
        rules.add_rule(S.KILL_PROCESS, name)
    # the C library takes the older call when there is no newer one
    rules.add_rule(S.ERRNO(errno.ENOSYS), "clone3")
    rules.add_rule(S.ERRNO(errno.ENOSYS), "openat2")
    rules.add_rule(S.ALLOW, "clone", S.Arg(0, masked, _THREAD, _THREAD))
    for request in (_TERMINAL_SETTINGS, _TERMINAL_SIZE, _NOT_BLOCKING, _CLOSE_ON_EXEC, _KEEP_ON_EXEC):
        rules.add_rule(S.ALLOW, "ioctl", S.Arg(1, equal, request))
    # F_SETOWN and F_SETSIG are not among them: they make the kernel send another process a signal
    for command in (fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL, *_DUPLICATE):
        rules.add_rule(S.ALLOW, "fcntl", S.Arg(1, equal, command))
    rules.add_rule(S.ALLOW, "prctl", S.Arg(0, equal, _SET_NAME))
    rules.add_rule(S.ALLOW, "prlimit64", S.Arg(0, equal, 0), S.Arg(2, equal, 0))
    rules.add_rule(S.ALLOW, "sched_setaffinity", S.Arg(0, equal, 0))
    # asyncio wakes itself through a pair of sockets; a datagram socket could be sent elsewhere
    rules.add_rule(S.ALLOW, "socketpair", S.Arg(0, equal, _UNIX), S.Arg(1, masked, _KIND, _STREAM))
    rules.add_rule(S.ALLOW, "sendto", S.Arg(4, equal, 0))
