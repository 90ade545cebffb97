"""The walls around a learner's code. The fork server prepares them and tries each; every child puts them up.

A wall that the machine refuses is named, with the reason. Without seccomp, and without Landlock or a root of
the box's own, nothing is run: that is the base. The others are walls behind walls.
"""

from block_course.grading.walls.descendants import end_descendants
from block_course.grading.walls.kernel import adopt_orphans, hidden_memory, hide_memory, map_shared
from block_course.grading.walls.names import UNSAFE
from block_course.grading.walls.namespaces import Namespaces, enter
from block_course.grading.walls.plan import CANARY, HOME, PRIVATE, ROOT, Order, Plan, put_up
from block_course.grading.walls.prepare import Refused, prepare

__all__ = [
    "CANARY",
    "HOME",
    "PRIVATE",
    "ROOT",
    "UNSAFE",
    "Namespaces",
    "Order",
    "Plan",
    "Refused",
    "adopt_orphans",
    "end_descendants",
    "enter",
    "hidden_memory",
    "hide_memory",
    "map_shared",
    "prepare",
    "put_up",
]
