"""The real notebooks through the real box: honest, damaged, careless and hostile ones."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from block_course.checks import assignment
from block_course.grading import fork_server
from block_course.grading.attempt import Limits
from block_course.grading.box import Box
from block_course.grading.grade import EXERCISES
from block_course.grading.hidden import Hidden
from block_course.grading.judge import Task, grade_one
from block_course.grading.notebook import read
from block_course.grading.result import Result
from block_course.grading.worker import settings
from tests.block_course.grading.cheats import CHEATS, CHEATS_OF_A_TEST
from tests.block_course.grading.damage import DAMAGE
from tests.block_course.grading.examples import SECRET
from tests.block_course.grading.hand_ins import (
    CHECKS,
    DDOF_1,
    FORWARD,
    STATISTICS,
    STEM,
    UNTOUCHED,
    copied,
    each_cell,
    edited,
    flags,
    last,
    source,
)
from tests.block_course.grading.honest import HONEST

pytestmark = pytest.mark.slow

WHOLE = assignment(STEM)
# the first two are what the edits are about; a test among the others would run the cells for each block
LAYER_NORM = replace(WHOLE, exercises=WHOLE.exercises[:2])
RELEASED = read((EXERCISES / f"{STEM}.ipynb").read_bytes())
LIMITS = Limits(memory_mb=512)
HASTY = Limits(cell_seconds=2.0, submission_seconds=30.0, memory_mb=512)


@pytest.fixture(scope="module")
def layer_norm_box() -> Iterator[Box]:
    with Box(settings(LAYER_NORM, LIMITS)) as box:
        yield box


class Grade:
    def __init__(self, box: Box) -> None:
        self.box = box

    def __call__(self, data: bytes, limits: Limits = LIMITS) -> Result:
        result = grade_one(Task("ann", LAYER_NORM, "file", data), RELEASED, self.box, Hidden(SECRET), limits)
        result["seconds"] = 0.0
        return result


@pytest.fixture
def grade(layer_norm_box: Box) -> Grade:
    return Grade(layer_norm_box)


def verdicts(result: Result) -> list[str]:
    return [mark["verdict"] for mark in result["exercises"]]


def test_the_solution_earns_full_marks(grade: Grade) -> None:
    result = grade(edited())

    assert result["points"] == result["of"] == LAYER_NORM.points
    assert ({*verdicts(result)}, result["notes"]) == ({"pass"}, [])


def test_the_untouched_exercise_earns_nothing_and_runs_without_an_exception(grade: Grade) -> None:
    result = grade(edited(of=UNTOUCHED))

    assert result["points"] == 0.0
    assert ({*verdicts(result)}, result["notes"]) == ({"not attempted"}, [])


def test_dividing_by_one_less_earns_less_and_is_named(grade: Grade) -> None:
    result = grade(edited(source(FORWARD, DDOF_1)))
    _, forward, *_ = result["exercises"]

    assert 0.0 <= forward["points"] < forward["of"]  # type: ignore[operator]
    assert (forward["verdict"], forward["diagnosis"]) == ("wrong", "sample variance")
    assert result["exercises"][0]["verdict"] == "pass"


@pytest.mark.parametrize("data", HONEST.values(), ids=HONEST.keys())
def test_honest_work_earns_what_it_deserves_with(grade: Grade, data: bytes) -> None:
    result = grade(data)

    assert result["points"] == LAYER_NORM.points, (verdicts(result), result["notes"])


def test_points_in_the_notebook_mean_nothing(grade: Grade) -> None:
    raised = each_cell(flags(points=1000), *CHECKS)

    assert grade(edited(raised, source(FORWARD, DDOF_1))) == {
        **grade(edited(source(FORWARD, DDOF_1))),
        "content": grade(edited(raised, source(FORWARD, DDOF_1)))["content"],
    }


def test_a_copy_of_an_answer_with_a_wrong_draft_is_reported_and_the_last_counts(grade: Grade) -> None:
    draft_last = grade(edited(copied(FORWARD, "def layer_norm(x, gamma, beta, eps=1e-5):\n    return x")))
    same = grade(edited(copied(FORWARD)))

    note = f"cell {FORWARD} occurs more than once; all run in order, so the last one counts"
    assert draft_last["notes"] == same["notes"] == [note]
    assert verdicts(draft_last)[:2] == ["pass", "wrong"]
    assert same["points"] == LAYER_NORM.points


WRONG = "def {}(x, *more):\n    return np.zeros_like(x)"
NOTHING_RIGHT = [source(STATISTICS, WRONG.format("statistics")), source(FORWARD, WRONG.format("layer_norm"))]


@pytest.mark.parametrize("text", CHEATS.values(), ids=CHEATS.keys())
def test_a_cheat_gains_nothing_with(grade: Grade, text: str) -> None:
    honest = grade(edited(*NOTHING_RIGHT))

    result = grade(edited(*NOTHING_RIGHT, last(text)), HASTY)

    assert honest["points"] is not None
    assert result["points"] is not None, result
    assert result["points"] <= honest["points"], result


@pytest.mark.parametrize("text", CHEATS_OF_A_TEST.values(), ids=CHEATS_OF_A_TEST.keys())
def test_a_test_can_go_by_nothing_but_the_block_such_as(layer_norm_box: Box, text: str) -> None:
    judging = [each for each in WHOLE.exercises if each.calls == "test"]
    task = Task("ann", replace(WHOLE, exercises=tuple(judging)), "file", edited(last(text)))

    result = grade_one(task, RELEASED, layer_norm_box, Hidden(SECRET), LIMITS)

    assert result["points"] == 0.0, result


@pytest.mark.parametrize("text", DAMAGE.values(), ids=DAMAGE.keys())
def test_the_next_learner_is_graded_as_before_after(
    grade: Grade, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(fork_server, "ANSWER_SECONDS", 2.0)
    before = grade(edited())

    result = grade(edited(last(text)), HASTY)
    after_it = grade(edited())

    assert after_it == before
    assert result["points"] is not None  # whatever it did, it is no error of the grader


def test_a_loop_in_one_answer_costs_that_exercise_alone(grade: Grade) -> None:
    result = grade(edited(source(FORWARD, "def layer_norm(*a):\n    while True: pass")), HASTY)

    assert verdicts(result)[:2] == ["pass", "timeout"]
    assert result["points"] == LAYER_NORM.points - result["exercises"][1]["of"]


CHANGES_ITS_INPUT = """
def layer_norm(x, gamma, beta, eps=1e-5):
    x -= x.mean(-1, keepdims=True)
    return (gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) + beta).astype(x.dtype)
"""
FORGES_THE_REPORT = """
import dataclasses, sys
frame = sys._getframe()
while 'observe' not in frame.f_globals:
    frame = frame.f_back
def forged(answer, case, *more, real=frame.f_globals['observe'], **named):
    before = {name: value.copy() for name, value in case.arguments.items() if hasattr(value, 'copy')}
    return dataclasses.replace(real(answer, case, *more, **named), arguments_after=before)
frame.f_globals['observe'] = forged
"""


def test_what_a_call_does_to_its_inputs_is_not_for_the_box_to_say(grade: Grade) -> None:
    honest = grade(edited(source(FORWARD, CHANGES_ITS_INPUT)))
    forged = grade(edited(source(FORWARD, CHANGES_ITS_INPUT), last(FORGES_THE_REPORT)))

    changed = [each for each in honest["exercises"][1]["feedback"] if each["outcome"] == "fails"]
    assert "leaves its inputs unchanged" in {each["property"] for each in changed}
    assert forged["notes"] == []  # the forgery ran
    assert forged["points"] == honest["points"]


def test_what_is_written_during_hidden_calls_is_not_kept(grade: Grade) -> None:
    loud = (
        "import contextlib, os\n"
        "print('seen before')\n"
        "right = layer_norm\n"
        "def layer_norm(x, *more):\n"
        "    print('HIDDEN', x)\n"
        "    os.write(1, b'HIDDEN'); os.write(2, repr(x).encode())\n"
        "    with contextlib.suppress(OSError): open('/proc/self/fd/1', 'w').write('HIDDEN')\n"
        "    return right(x, *more)"
    )

    result = grade(edited(last(loud)))

    assert result["points"] == LAYER_NORM.points
    assert result["printed"].endswith("seen before\n")
    assert "HIDDEN" not in str(result)


UNREADABLE = {
    "truncated JSON": edited()[:2000],
    "no bytes": b"",
    "a list": b"[1, 2]",
    "no cells": b'{"nbformat": 4, "metadata": {}}',
    "nested 200,000 deep": b'{"cells": ' + b"[" * 200_000,
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_it_is_reported_unreadable_with(grade: Grade, data: bytes) -> None:
    result = grade(data)

    assert {*verdicts(result)} == {"unreadable"}
    assert result["points"] == 0.0
    assert result["exercises"][0]["why"]
