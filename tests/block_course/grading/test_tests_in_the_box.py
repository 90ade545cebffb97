"""Answers that are tests, in the box: the blocks stay outside, each test meets each of them afresh."""

import inspect
import time
from collections.abc import Iterator

import numpy as np
import pytest

from block_course.exercise import Exercise, Run
from block_course.grading.attempt import Attempt, Limits
from block_course.grading.box import Box, Child
from block_course.grading.plan import Step
from block_course.verdict import Verdict, judge
from tests.block_course import judging

pytestmark = pytest.mark.slow

LIMITS = Limits(cell_seconds=5.0, submission_seconds=30.0)
IMPORTS = f"import numpy as np\nWIDTH = {judging.WIDTH}\n"


def source_of(answer: object) -> str:
    text = inspect.getsource(answer)  # type: ignore[arg-type]
    return IMPORTS + text.replace(f"def {answer.__name__}(", "def is_causal(")  # type: ignore[attr-defined]


def attempted(box: Box, source: str, limits: Limits = LIMITS) -> tuple[Run, Verdict]:
    exercise: Exercise = judging.EXERCISE
    with Attempt(box, [Step("cell 1", source)], limits) as attempt:
        run = attempt.run(exercise, exercise.cases(np.random.default_rng(3)))
    return run, judge(exercise, run)


@pytest.mark.parametrize("answer", [judging.good, judging.by_gradients])
def test_a_test_asks_its_block_through_the_wire(box: Box, answer: object) -> None:
    _, verdict = attempted(box, source_of(answer))

    assert (verdict.status, verdict.points) == ("pass", 3.0)


def test_a_test_that_looks_at_one_row_earns_its_share(box: Box) -> None:
    _, verdict = attempted(box, source_of(judging.looks_at_the_first_row))

    assert verdict.points == 2.0
    assert verdict.diagnosis is not None
    assert verdict.diagnosis.name == "one row"


def test_a_test_remembers_nothing_of_the_block_before(box: Box) -> None:
    counting = "met = []\ndef is_causal(block, x):\n    met.append(1)\n    return len(met) > 1\n"

    run, _ = attempted(box, counting)

    assert [bool(seen.outputs[0]) for _, seen in run] == [False, False, False]


def test_a_block_that_cannot_answer_says_so_to_the_test(box: Box) -> None:
    asking = (
        "def is_causal(block, x):\n    try:\n        block(x[:2])\n"
        "    except ValueError as error:\n        return 'no answer' in str(error)\n    return False\n"
    )

    run, _ = attempted(box, asking)

    told = {case.name: seen.outputs[0].tolist() for case, seen in run}
    assert told == {"a running mean": True, "no mask, wide": False, judging.LATE: True}


def test_a_test_that_asks_without_end_runs_into_the_cap_of_questions(box: Box) -> None:
    run, _ = attempted(box, "def is_causal(block, x):\n    while True: block(x)\n")

    assert {seen.message for _, seen in run} == {"ValueError: a test may call its block 200 times"}


def test_a_test_that_never_ends_costs_its_own_time_alone(box: Box) -> None:
    began = time.monotonic()

    run, verdict = attempted(
        box,
        "def is_causal(block, x):\n    while True: pass\n",
        Limits(cell_seconds=0.5, submission_seconds=4.0),
    )

    assert {seen.status for _, seen in run} == {"timeout"}
    assert verdict.points == 0.0
    assert time.monotonic() - began < 5.0


@pytest.fixture
def child(box: Box) -> Iterator[Child]:
    child = box.child()
    yield child
    child.end()


def test_an_answer_that_is_no_test_finds_no_block_to_ask(child: Child) -> None:
    forged = (
        "import sys\ndef double(x):\n    frame = sys._getframe()\n"
        "    while '_ask' not in frame.f_globals: frame = frame.f_back\n"
        "    return frame.f_globals['_ask'](3, 'forward', (x,))\n"
    )
    child.run_cell("cell 1", forged, time.monotonic() + 5.0)
    exercise = judging.EXERCISE
    [case, *_] = exercise.cases(np.random.default_rng(0))
    bare = type(case)(name=case.name, arguments=case.arguments)

    seen = child.call("double", type(exercise.manner)(), bare, time.monotonic() + 5.0)

    assert (seen.status, seen.message) == ("raised", "ValueError: there is no block to ask")
