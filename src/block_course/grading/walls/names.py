"""The names of the walls, as they are shown and stored, and which of them must stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping

SECCOMP = "seccomp"
LANDLOCK = "Landlock"
OWN_ROOT = "own root"
OTHER_USER = "other user"
CAPABILITIES = "no capabilities"
NO_NEW_PRIVILEGES = "no_new_privs"
LIMITS = "rlimits"
NOT_DUMPABLE = "not dumpable"
SESSION = "private session"
OWN_PROCESS = "process of its own"
UNSAFE = "UNSAFE"
"""Stands in the place of the base where it is missing."""
ALWAYS = (CAPABILITIES, NO_NEW_PRIVILEGES, LIMITS, NOT_DUMPABLE, SESSION, OWN_PROCESS)
"""These need nothing of the machine."""

READABLE = "Python and its packages must be readable for the user who grades: try another installation"


def is_base(standing: Collection[str]) -> bool:
    """Whether the walls without which nothing is run are among those that stand."""
    return SECCOMP in standing and (LANDLOCK in standing or OWN_ROOT in standing)


def cure(missing: Mapping[str, str]) -> str:
    """What is missing of the base, why, and what helps."""
    lacking = [f"{name} ({missing[name]})" for name in (SECCOMP, LANDLOCK, OWN_ROOT) if name in missing]
    return (
        f"nothing keeps learners' code from the rest of this machine: {', '.join(lacking)}. Grading needs "
        "seccomp, and Landlock (Linux 5.13 and later, named in /sys/kernel/security/lsm) or the right to "
        "make mount and pid namespaces. --unsafe grades without, for notebooks that you wrote yourself"
    )
