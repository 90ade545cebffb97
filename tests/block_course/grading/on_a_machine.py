"""Run on a machine that `container.py` stands in for: what a box is there, and what comes of attempts on it.

Prints JSON: the walls that stand, those that are missing, what each attempt came to, how an attack through
the kernel ended, and what a solution earns. Where nothing may run, it says why.
"""

import json
import sys
import time

from block_course.grading.attempt import Limits
from block_course.grading.box import Box, BoxError
from block_course.grading.hidden import Hidden
from block_course.grading.judge import grade_one
from block_course.grading.worker import settings
from tests.block_course.grading import reaching
from tests.block_course.grading.examples import RELEASED, SECRET, TINY, submission, task

LIMITS = Limits(memory_mb=512)
THREADS = """
import threading
threading.stack_size(64 << 10)
done, started = threading.Event(), 0
try:
    while started < 3000:
        threading.Thread(target=done.wait, daemon=True).start()
        started += 1
except RuntimeError:
    print(started)
done.set()
"""


def report(*, unsafe: bool) -> dict[str, object]:
    """What is found here."""
    with Box(settings(TINY, LIMITS, unsafe=unsafe)) as box:
        result = grade_one(task(submission()), RELEASED, box, Hidden(SECRET), LIMITS)
        looking = box.child()
        looked = looking.run_cell("cell 1", reaching.CELL, time.monotonic() + 60)
        reached = json.loads(looking.printed() or "{}")
        looking.end()
        crowd = box.child()
        crowd.run_cell("cell 1", THREADS, time.monotonic() + 60)
        threads = int(crowd.printed() or b"0")
        crowd.end()
        deadly = box.child()
        first = next(iter(reaching.DEADLY.values()))
        ended = deadly.run_cell("cell 1", reaching.DEADLY_CELL.format(first), time.monotonic() + 60)
        assert box._server is not None
        missing = box._server.missing
    return {
        "walls": result["walls"],
        "missing": missing,
        "points": result["points"],
        "of": result["of"],
        "notes": result["notes"],
        "reached": {name: got for name, got in reached.items() if got},
        "looked": [looked.status, looked.message, len(reached)],
        "threads": threads,
        "deadly": ended.status,
    }


if __name__ == "__main__":
    try:
        told = report(unsafe="unsafe" in sys.argv)
    except BoxError as error:
        told = {"refused": str(error)}
    sys.stdout.write(json.dumps(told))
