"""Stands in for a machine that allows less than this one, then runs a command there.

    python container.py [--no-namespaces] [--no-landlock] [--user] COMMAND …

`--no-namespaces` answers as a container does that denies them, `--no-landlock` as a kernel without it, both
by a filter on system calls. `--user` runs it as an ordinary user who may read Python, wherever that lies.
"""

import ctypes
import errno
import os
import sys
from pathlib import Path

import pyseccomp

from block_course.grading.walls import kernel

_USER = 61000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_OF_NAMESPACES = ("unshare", "setns", "mount", "pivot_root", "umount2")
_OF_LANDLOCK = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
_NEW_ANY = kernel.NEW_MOUNTS | kernel.NEW_IPC | kernel.NEW_USER | kernel.NEW_PIDS | kernel.NEW_NETWORK


def deny(*, namespaces: bool, landlock: bool) -> None:
    """From now on the kernel refuses them to this process and all that it starts."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    if namespaces:
        for name in _OF_NAMESPACES:
            rules.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
        for flag in (1 << bit for bit in range(32) if _NEW_ANY >> bit & 1):
            having = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag)
            rules.add_rule(pyseccomp.ERRNO(errno.EPERM), "clone", having)
    if landlock:
        for name in _OF_LANDLOCK:
            rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), name)
    rules.load()


def have_own_view() -> None:
    """Mounts of one's own. After a chroot the root is none, and only a mount can be made private."""
    kernel.unshare(kernel.NEW_MOUNTS)
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    if "/" not in mounts:
        folder, here = str(Path(__file__).parent), os.getcwd()
        kernel.mount("/", folder, None, _BIND | _RECURSIVE)
        os.chroot(folder)
        os.chdir(here)
    kernel.mount("none", "/", None, _RECURSIVE | _PRIVATE)


def become_ordinary(*needed: str) -> None:
    """Become a user without rights. Folders that only root may enter are opened, in an own view."""
    for path in map(Path, needed):
        shut = [each for each in reversed(path.parents) if not each.stat().st_mode & 0o001]
        if shut:
            held = os.open(path, os.O_PATH)
            kernel.mount("tmpfs", str(shut[0]), "tmpfs", 0, "mode=755")
            path.mkdir(parents=True)
            kernel.mount(f"/proc/self/fd/{held}", str(path), None, _BIND | _RECURSIVE)
    os.setgroups([])
    os.setresgid(_USER, _USER, _USER)
    os.setresuid(_USER, _USER, _USER)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # the change of user hid /proc/self, which maps ids


def main(arguments: list[str]) -> None:
    """Do as the options say, and become the command."""
    options = {each for each in arguments if each.startswith("--")}
    command = [each for each in arguments if each not in options]
    if os.geteuid() == 0:
        have_own_view()
    if "--user" in options and os.geteuid() == 0:
        become_ordinary(sys.base_prefix)
    deny(namespaces="--no-namespaces" in options, landlock="--no-landlock" in options)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
