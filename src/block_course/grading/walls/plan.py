"""What stands around a process that runs a learner's code, and putting it up."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import Any

from block_course.grading.walls import kernel, landlock, limits, names, seccomp, user

CANARY, PRIVATE, HOME, ROOT = "canary", "private", "home", "root"
"""In the box's folder: files that a learner's code must not read, where it is, where its root is made."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the grader asks for: its folder, what is withheld, how much may be used, the filter or why not."""

    folder: str
    withheld: tuple[str, ...]
    user: int
    memory_bytes: int
    cpu_seconds: int
    program: bytes
    no_program: str = ""
    unsafe: bool = False

    @classmethod
    def read(cls, order: dict[str, Any]) -> Order:
        """From what the grader sends as JSON: the filter in hex, a process instead of a user."""
        return cls(
            **{
                **order,
                "withheld": tuple(order["withheld"]),
                "program": bytes.fromhex(order["program"]),
                "user": user.user_for(order["user"]),
            }
        )

    @property
    def home(self) -> str:
        """The empty folder in which a learner's code finds itself."""
        return os.path.join(self.folder, HOME)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a child puts up, what stands around it already, and why the rest is missing."""

    server: int
    home: str
    limits: limits.Limits
    around: tuple[str, ...] = ()
    user: int | None = None
    counted_as: int | None = None
    rules: int | None = None
    program: bytes | None = None
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def standing(self) -> tuple[str, ...]:
        """The names of all walls around a child."""
        own = {
            names.SECCOMP: self.program,
            names.LANDLOCK: self.rules,
            names.OTHER_USER: self.user,
        }
        chosen = [name for name, value in own.items() if value is not None]
        return (*chosen, *self.around, *names.ALWAYS)

    @property
    def shown(self) -> tuple[str, ...]:
        """The same, with a mark in front where the base is missing."""
        return self.standing if names.is_base(self.standing) else (names.UNSAFE, *self.standing)


def put_up(plan: Plan) -> tuple[str, ...]:
    """Lock the calling process in for good, and give the names of the walls that stand.

    A process whose server is gone already doesn't go on. Raises OSError if a wall is refused, or does not
    stand when looked at.
    """
    os.setsid()
    os.chdir(plan.home)
    limits.set_limits(plan.limits)
    become(plan)
    kernel.die_with_parent(signal.SIGKILL)
    kernel.hide_memory()
    if plan.rules is not None:
        landlock.restrict(plan.rules)
        os.close(plan.rules)
    _look(plan)
    if plan.program is not None:
        seccomp.install(plan.program)
    return plan.shown


def _look(plan: Plan) -> None:
    own = os.getppid() == plan.server and kernel.parent_death_signal() == signal.SIGKILL
    standing = {
        names.OWN_PROCESS: own,
        names.SESSION: os.getsid(0) == os.getpid(),
        names.NO_NEW_PRIVILEGES: kernel.gains_nothing(),
        names.NOT_DUMPABLE: kernel.is_hidden(),
        names.LIMITS: limits.are_set(plan.limits),
        names.OTHER_USER: plan.user is None or os.getresuid() == (plan.user,) * 3,
    }
    for name, stands in standing.items():
        if not stands:
            raise OSError(f"the wall {name!r} does not stand")


def become(plan: Plan) -> None:
    """Be the user that the plan says, and give up all rights. Raises OSError."""
    if plan.user is not None:
        user.become(plan.user)
    elif plan.counted_as is not None:
        user.be_counted_as(plan.counted_as)
    user.give_up_rights()
