"""Finding out which walls can stand on this machine, by trying each at what it forbids."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from block_course.grading.walls import kernel, landlock, limits, names, own_root, probe, seccomp, user
from block_course.grading.walls.forked import reason
from block_course.grading.walls.namespaces import MOUNTS, PIDS, USER, Namespaces
from block_course.grading.walls.plan import CANARY, HOME, PRIVATE, ROOT, Order, Plan, become, put_up
from block_course.grading.walls.readable import WRITABLE, readable


class Refused(Exception):
    """Nothing may run here; the message says what is missing, why, and the cure."""


def prepare(order: Order, spaces: Namespaces, needed: tuple[str, ...]) -> Plan:
    """What can stand here, each wall tried at what it forbids. The calling process may find its root changed.

    `needed` are files that a learner's code must be able to read. Raises Refused.
    """
    usage = limits.usage()
    open_to_read = readable(order.withheld)
    spaces = _in_own_root(order, spaces, open_to_read)
    plan = Plan(
        server=os.getpid(), home=order.home, limits={}, around=spaces.entered, missing=dict(spaces.missing)
    )
    plan = _with_user(plan, order, needed)
    apart = USER in spaces.entered or (plan.user or plan.counted_as) is not None
    given = limits.limits(usage, order.memory_bytes, order.cpu_seconds, counted_apart=apart)
    plan = _with_files(replace(plan, limits=given), order, open_to_read)
    plan = _with_calls(plan, order)
    _try_together(plan, needed)
    if not names.is_base(plan.standing) and not order.unsafe:
        raise Refused(names.cure(plan.missing))
    return plan


def _in_own_root(order: Order, spaces: Namespaces, open_to_read: tuple[str, ...]) -> Namespaces:
    """Move into a root of the box's own, tried first in a fork; not without a pid namespace.

    The way to all of a process's descendants leads through /proc otherwise, which that root doesn't have.
    """
    entered = tuple(name for name in spaces.entered if name != MOUNTS)
    if MOUNTS not in spaces.entered or PIDS not in spaces.entered:
        why = spaces.missing.get(MOUNTS) or spaces.missing.get(PIDS, "there is no pid namespace")
        missing = {name: words for name, words in spaces.missing.items() if name != MOUNTS}
        return Namespaces(entered, {**missing, names.OWN_ROOT: why})
    visible = (
        *open_to_read,
        *WRITABLE,
        *(os.path.join(order.folder, each) for each in (HOME, CANARY, PRIVATE)),
    )
    outside = __file__

    def move() -> None:
        os.stat(outside)  # it is in reach before
        own_root.move_in(os.path.join(order.folder, ROOT), visible, order.withheld)
        probe.of_own_root(outside, order.home)

    def move_elsewhere() -> None:
        kernel.unshare(kernel.NEW_MOUNTS)  # to change the root is to change it for all in the namespace
        move()

    why = reason(move_elsewhere)
    if why:
        return Namespaces(entered, {**spaces.missing, names.OWN_ROOT: why})
    move()
    return Namespaces((names.OWN_ROOT, *entered), spaces.missing)


def _with_user(plan: Plan, order: Order, needed: tuple[str, ...]) -> Plan:
    """Another user, where root grades and Python may be read by others; else root without its rights."""
    root = os.geteuid()
    if root != 0:
        return replace(plan, missing={**plan.missing, names.OTHER_USER: "only root can become another user"})
    private = os.path.join(order.folder, PRIVATE)

    def attempt() -> None:
        open(private, "rb").close()  # it can be read before
        user.become(order.user)
        probe.works(needed, order.home)
        probe.of_other_user(private, root)

    why = reason(attempt)
    if not why:
        return replace(plan, user=order.user)
    counted_as = order.user if not reason(lambda: user.be_counted_as(order.user)) else None
    return replace(plan, counted_as=counted_as, missing={**plan.missing, names.OTHER_USER: why})


def _with_files(plan: Plan, order: Order, open_to_read: tuple[str, ...]) -> Plan:
    canary = os.path.join(order.folder, CANARY)
    try:
        rules = landlock.ruleset((*open_to_read, order.home), order.withheld, WRITABLE)
    except OSError as error:
        return replace(plan, missing={**plan.missing, names.LANDLOCK: str(error.strerror)})

    def attempt() -> None:
        open(canary, "rb").close()  # it can be read before
        kernel.gain_nothing()
        landlock.restrict(rules)
        probe.of_files(canary, order.home)

    return _if_it_stands(replace(plan, rules=rules), names.LANDLOCK, attempt, plan)


def _with_calls(plan: Plan, order: Order) -> Plan:
    if not order.program:
        return replace(plan, missing={**plan.missing, names.SECCOMP: order.no_program})

    def install() -> None:
        kernel.gain_nothing()
        seccomp.install(order.program)

    def attempt() -> None:
        probe.of_deadly_calls(install)
        install()
        probe.of_seccomp()

    return _if_it_stands(replace(plan, program=order.program), names.SECCOMP, attempt, plan)


def _if_it_stands(plan: Plan, name: str, attempt: Callable[[], None], without: Plan) -> Plan:
    why = reason(attempt)
    return replace(without, missing={**without.missing, name: why}) if why else plan


def _try_together(plan: Plan, needed: tuple[str, ...]) -> None:
    """All at once: what is needed can be done, and the limits and the missing rights hold."""

    def limited() -> None:
        limits.set_limits(plan.limits)
        become(plan)
        probe.of_capabilities()
        probe.of_limits(plan.limits)

    def lives() -> None:
        put_up(plan)
        probe.works(needed, plan.home)

    for attempt in (limited, lives):
        why = reason(attempt)
        if why:
            raise Refused(f"the box doesn't work on this machine: {why}. {names.READABLE}")
