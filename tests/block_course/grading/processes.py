"""Whether a process runs: one that has ended but was not waited for yet does not."""

import time
from pathlib import Path

from block_course.grading.fork_server import ForkServer
from block_course.grading.walls.descendants import _descendants
from block_course.grading.walls.namespaces import PIDS


def runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except FileNotFoundError:
        return False
    return stat.rpartition(b")")[2].split()[0] != b"Z"


def ends(pid: int) -> bool:
    """Whether it ends in a while: a kill takes a moment."""
    for _ in range(500):
        if not runs(pid):
            return True
        time.sleep(0.01)
    return False


def children_of(server: ForkServer) -> list[int]:
    """The processes that a box's server has started and that run, as this process counts them."""
    found = _descendants(server._process.pid)
    # in a pid namespace the server itself is a child of the process that was started
    first = {each for each in found if _parent(each) == server._process.pid}
    return [each for each in found if PIDS not in server.standing or each not in first]


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
