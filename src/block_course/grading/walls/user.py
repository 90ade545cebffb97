"""Who a learner's code is to the system: where root grades, another user; never one with rights."""

from __future__ import annotations

import os

from block_course.grading.walls import kernel

FIRST_USER, USERS = 64000, 1000
"""Ids that are given to nobody, and lie within what a container maps."""


def user_for(process: int) -> int:
    """The id for the children of one grader's box: those of several don't share a count of threads."""
    return FIRST_USER + process % USERS


def become(user: int) -> None:
    """Become a user that owns nothing, for good. Raises OSError if the machine has no such id for us."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def be_counted_as(user: int) -> None:
    """Stay root for the files that only root may read, but let the kernel count threads as another user's."""
    os.setgroups([])
    os.setresuid(user, -1, -1)


def give_up_rights() -> None:
    """Give up what is left of root's rights: no capability, and none to gain. Raises OSError."""
    kernel.give_up_capabilities()
    kernel.gain_nothing()
