import time

import numpy as np
import pytest

from block_course.exercise import Case, Manner
from block_course.grading.box import Box, Child
from block_course.grading.reply import Outcome
from tests.block_course.grading.processes import children_of, ends

pytestmark = pytest.mark.slow

X = np.arange(6.0).reshape(2, 3)
CASE = Case(name="a case", arguments={"x": X, "by": 2.5})
ONE = Case(name="a case", arguments={"x": X})


def soon(seconds: float = 30.0) -> float:
    return time.monotonic() + seconds


@pytest.fixture
def child(box: Box) -> Child:
    child = box.child()
    yield child  # type: ignore[misc]
    child.end()


def define(child: Child, source: str) -> None:
    assert child.run_cell("cell 1", source, soon()) == Outcome("done")


def test_cells_share_one_namespace_and_answers_are_called_in_it(child: Child) -> None:
    define(child, "factor = 10.0")
    define(child, "def f(x, by):\n    return x * by * factor")

    seen = child.call("f", Manner(), CASE, soon())

    assert (seen.status, seen.kinds) == ("returned", ("numpy.ndarray",))
    np.testing.assert_array_equal(seen.outputs[0], X * 25.0)
    np.testing.assert_array_equal(seen.arguments_after["x"], X)


def test_a_cell_that_raises_says_so_and_the_next_runs(child: Child) -> None:
    assert child.run_cell("cell 4", "1 / 0", soon()) == Outcome(
        "raised", "line 1: ZeroDivisionError: division by zero"
    )
    define(child, "x = 1")


def test_output_before_the_first_call_is_kept_and_output_of_calls_is_not(child: Child) -> None:
    define(child, "import os\nprint('of the cell')\nos.write(2, b'straight\\n')")
    define(
        child,
        "import threading, time\n"
        "def f(x):\n"
        "    print('hidden', x)\n"
        "    os.write(1, b'hidden')\n"
        "    threading.Timer(0.01, print, ['hidden', x]).start()\n"
        "    return x",
    )

    for _ in range(3):
        assert child.call("f", Manner(), ONE, soon()).status == "returned"
        time.sleep(0.03)
    child.end()

    assert child.printed() == b"of the cell\nstraight\n"


DEADLY = {
    "import os; os._exit(3)": ("died", "the process ended itself, with status 3"),
    "import ctypes; ctypes.string_at(0)": ("died", "the process was ended by SIGSEGV"),
    "import ctypes; ctypes.CDLL(None).unshare(0x10000000)": (
        "forbidden",
        "the process did what is forbidden while grading",
    ),
    "import os; os.close(3)": ("died", "the process ended itself, with status 1"),
    "import os, time; os.closerange(3, 9); time.sleep(60)": (
        "died",
        "the process closed its channel to the grader",
    ),
    "import os; os.write(3, b'x' * 100)": ("died", "the process sent the grader what is no answer"),
}


@pytest.mark.parametrize(("source", "end"), DEADLY.items())
def test_a_process_that_ends_or_talks_nonsense_is_named(
    child: Child, source: str, end: tuple[str, str]
) -> None:
    outcome = child.run_cell("cell 1", source, soon())

    assert (outcome.status, outcome.message) == end
    assert not child.alive


@pytest.mark.parametrize("source", ["while True: pass", "import time; time.sleep(60)"])
def test_a_cell_without_end_is_ended_at_its_deadline(child: Child, box: Box, source: str) -> None:
    outcome = child.run_cell("cell 1", source, soon(0.2))

    assert outcome == Outcome("timeout", "the time was used up")
    assert box._server is not None
    assert all(map(ends, children_of(box._server)))


def test_a_loop_that_swallows_every_exception_and_signal_is_ended_too(child: Child, box: Box) -> None:
    stubborn = (
        "import signal\n"
        "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        "while True:\n"
        "    try:\n"
        "        while True: pass\n"
        "    except BaseException: pass\n"
    )

    assert child.run_cell("cell 1", stubborn, soon(0.3)).status == "timeout"
    assert box._server is not None
    assert all(map(ends, children_of(box._server)))


def test_a_call_without_end_is_ended_at_its_deadline(child: Child) -> None:
    define(child, "def f(x):\n    while True: pass")

    seen = child.call("f", Manner(), ONE, soon(0.2))

    assert (seen.status, seen.message) == ("timeout", "the time was used up")
    assert not child.alive


def test_printing_without_end_is_ended_at_its_deadline(child: Child) -> None:
    assert child.run_cell("cell 1", "while True: print('x' * 1_000_000)", soon(0.5)).status == "timeout"
    assert child.printed().endswith(b"x\n[cut]\n")


def test_more_memory_than_allowed_is_an_error_of_the_cell_or_the_call(child: Child) -> None:
    define(child, "def f(x):\n    return [bytearray(1 << 28) for _ in range(64)]")

    outcome = child.run_cell("cell 1", "import numpy\nhog = numpy.ones(1 << 32)", soon())
    seen = child.call("f", Manner(), ONE, soon())

    assert (outcome.status, seen.status) == ("memory", "memory")
    assert child.alive


def test_an_answer_that_is_too_large_costs_no_more_than_the_call(child: Child) -> None:
    define(child, "import numpy\ndef f(x):\n    return [numpy.zeros(3_000_000)] * 4\ndef g(x): return x")

    assert child.call("f", Manner(), ONE, soon()).status == "raised"
    assert child.call("g", Manner(), ONE, soon()).status == "returned"


def test_what_a_child_has_running_ends_with_it(child: Child, box: Box) -> None:
    define(child, "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()")
    assert box._server is not None
    running = children_of(box._server)

    child.end()

    assert len(running) == 1
    assert all(map(ends, running))


def test_there_is_no_place_to_write_in(child: Child) -> None:
    outcome = child.run_cell("cell 1", "open('file', 'w')", soon())

    assert outcome.status == "raised"
    assert outcome.message.startswith(("line 1: PermissionError", "line 1: OSError: [Errno 30] Read-only"))
