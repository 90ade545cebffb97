"""Whether a process runs: one that has ended but was not waited for yet does not."""

import time
from pathlib import Path


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
