from dataclasses import replace

import numpy as np
import pytest

from block_course.exercise import Assignment, Exercise, Run
from block_course.grading import judge as grading_judge
from block_course.grading.attempt import Limits
from block_course.grading.box import Box
from block_course.grading.hidden import Hidden
from block_course.grading.judge import Task, grade_one, grader_error
from block_course.grading.result import Mark, Result, has_grader_error, total
from block_course.grading.secret import Secret
from tests.block_course.grading.examples import (
    ADD,
    DOUBLE,
    RELEASED,
    RELEASED_BYTES,
    RIGHT_ADD,
    SECRET,
    TINY,
    submission,
    task,
)
from tests.block_course.grading.notebooks import code

pytestmark = pytest.mark.slow

LIMITS = Limits(cell_seconds=1.0, submission_seconds=20.0)


def grade(box: Box, data: bytes, secret: Secret = SECRET) -> Result:
    return grade_one(task(data), RELEASED, box, Hidden(secret), LIMITS)


def marks(result: Result) -> dict[str, tuple[str, float | None, str]]:
    return {mark["id"]: (mark["verdict"], mark["points"], mark["why"]) for mark in result["exercises"]}


def test_right_answers_earn_full_marks(box: Box) -> None:
    result = grade(box, submission())

    assert (result["points"], result["of"]) == (6.0, 6.0)
    assert marks(result) == {"tiny.double": ("pass", 3.0, ""), "tiny.add": ("pass", 3.0, "")}
    assert result["notes"] == []
    assert (result["learner"], result["assignment"], result["file"]) == (
        "ann",
        "00_tiny",
        "ann/00_tiny.ipynb",
    )
    assert "rlimits" in result["walls"]


def test_the_untouched_notebook_earns_nothing_and_nothing_is_wrong_with_it(box: Box) -> None:
    result = grade(box, RELEASED_BYTES)

    assert result["points"] == 0.0
    assert marks(result) == {
        "tiny.double": ("not attempted", 0.0, ""),
        "tiny.add": ("not attempted", 0.0, ""),
    }
    assert result["notes"] == []


def test_a_known_wrong_answer_is_named_and_no_number_is_told(box: Box) -> None:
    result = grade(box, submission("def double(x):\n    return x * 3.0"))
    (first, _) = result["exercises"]

    assert (first["verdict"], first["points"], first["diagnosis"]) == ("wrong", 0.0, "three times")
    assert first["feedback"] == [
        {"property": "the values", "outcome": "fails", "points": 0.0, "of": 2.0},
        {"property": "inputs unchanged", "outcome": "not counted", "points": 0.0, "of": 1.0},
    ]
    assert first["why"] == ""


def test_part_of_the_properties_earns_part_of_the_points(box: Box) -> None:
    result = grade(box, submission("def double(x):\n    x *= 2.0\n    return x"))

    assert marks(result)["tiny.double"] == ("wrong", 2.0, "")
    assert result["points"] == 5.0


BROKEN = {
    "def double(x):\n    raise ValueError(f'hidden {x}')": ("error", "a call raised ValueError"),
    "class Mine(Exception): pass\ndef double(x):\n    raise Mine(x)": (
        "error",
        "a call raised an exception of its own",
    ),
    "double = 3": ("error", "a call raised TypeError"),
    "def double(x):\n    raise MemoryError(str(x))": ("memory", "a call asked for more memory than there is"),
    "def double(x):\n    while True: pass": ("timeout", "the time was used up"),
    "import os\ndef double(x):\n    os._exit(0)": ("error", "the process ended itself, with status 0"),
    "pass": ("not attempted", "the notebook defines no double"),
    "1 / 0": ("error", "cell 2 (tiny-double): line 1: ZeroDivisionError: division by zero"),
    "def double(x)\n    return x": ("error", "cell 2 (tiny-double): line 1: SyntaxError: expected ':'"),
    "while True: pass": ("timeout", "cell 2 (tiny-double): the time was used up"),
    "import os; os._exit(0)": ("error", "cell 2 (tiny-double): the process ended itself, with status 0"),
    "import numpy; numpy.ones(1 << 40)": ("memory", "cell 2 (tiny-double): MemoryError"),
}


@pytest.mark.parametrize(("source", "end"), BROKEN.items())
def test_an_answer_that_breaks_costs_its_exercise_and_no_other(
    box: Box, source: str, end: tuple[str, str]
) -> None:
    result = grade(box, submission(source))

    assert marks(result) == {"tiny.double": (end[0], 0.0, end[1]), "tiny.add": ("pass", 3.0, "")}


def test_a_cell_that_fails_after_it_defined_the_answer_costs_nothing(box: Box) -> None:
    result = grade(box, submission("def double(x):\n    return x * 2.0\nprint(double('a') / 3)"))

    assert result["points"] == 6.0
    assert result["notes"] == [
        "cell 2 (tiny-double): line 2: TypeError: can't multiply sequence by non-int of type 'float'"
    ]


def test_the_learners_output_and_faults_are_noted_and_harmless(box: Box) -> None:
    result = grade(
        box,
        submission(
            RIGHT_ADD,
            RIGHT_ADD,
            code("print('\\x1b[2J', end='')\nprint('a\\u202eb')\nraise OSError('\\x07')"),
        ),
    )

    assert result["printed"] == "\\x1b[2Ja\\u202eb\n"
    assert result["notes"] == ["cell 4: line 3: OSError: \\x07"]


def test_notes_are_cut_at_a_number(box: Box) -> None:
    result = grade(box, submission(RIGHT_ADD, RIGHT_ADD, *[code("1 / 0")] * 50))

    assert len(result["notes"]) == grading_judge.MOST_NOTES + 1
    assert result["notes"][-1] == "and 10 more"


def test_a_submission_that_can_not_be_read_is_no_error_of_the_grader(box: Box) -> None:
    result = grade(box, submission()[:200])

    assert result["points"] == 0.0
    assert {mark["verdict"] for mark in result["exercises"]} == {"unreadable"}
    assert "the file looks cut off" in result["exercises"][0]["why"]
    assert not has_grader_error(result)


def test_a_file_that_could_not_be_opened_says_why(box: Box) -> None:
    result = grade_one(
        task(b"", problem="the file can't be read: Permission denied"), RELEASED, box, Hidden(SECRET), LIMITS
    )

    assert marks(result)["tiny.add"] == ("unreadable", 0.0, "the file can't be read: Permission denied")


def test_the_same_secret_gives_the_same_result_and_another_gives_other_inputs(box: Box) -> None:
    telling = submission("def double(x):\n    return x * 2.0 if x[0, 0] > 0 else x")

    def without_time(secret: Secret) -> Result:
        result = grade(box, telling, secret)
        result["seconds"] = 0.0
        return result

    results = [without_time(Secret(b"another secret no. %d" % number)) for number in range(12)]
    again = [without_time(Secret(b"another secret no. %d" % number)) for number in range(12)]

    assert results == again
    assert len({result["points"] for result in results}) == 2


def _broken(*given: object) -> None:
    raise ZeroDivisionError("a fault of the check")


@pytest.mark.parametrize(
    "fault",
    [
        replace(DOUBLE, cases=_broken),
        replace(DOUBLE, reference=_broken),
        replace(DOUBLE, properties=(replace(DOUBLE.properties[0], holds=_broken),)),
        replace(DOUBLE, cases=lambda rng: []),
    ],
)
def test_a_fault_of_a_check_is_never_a_zero(box: Box, fault: Exercise) -> None:
    faulty = Assignment(stem=TINY.stem, exercises=(fault, ADD))

    result = grade_one(Task("ann", faulty, "f", submission()), RELEASED, box, Hidden(SECRET), LIMITS)

    assert result is not None
    assert marks(result)["tiny.double"][:2] == ("grader error", None)
    assert marks(result)["tiny.add"] == ("pass", 3.0, "")
    assert result["points"] is None
    assert has_grader_error(result)


def test_a_box_that_does_not_work_is_never_a_zero(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Box, "child", _broken)

    result = grade(box, submission())

    assert marks(result)["tiny.double"] == ("grader error", None, "ZeroDivisionError: a fault of the check")
    assert result["points"] is None


def test_a_submission_that_the_grader_failed_on_has_no_points() -> None:
    result = grader_error(task(b"data"), "the process that graded it ended")

    assert result["points"] is None
    assert result["of"] == 6.0
    assert marks(result)["tiny.add"] == ("grader error", None, "the process that graded it ended")


def test_a_total_is_known_when_all_points_are() -> None:
    mark = Mark(id="", title="", verdict="", points=1.5, of=2.0, feedback=[], diagnosis=None, why="")

    assert total([mark, {**mark, "points": 0.25}]) == 1.75
    assert total([mark, {**mark, "points": None}]) is None
    assert total([]) == 0.0


def test_nothing_of_hidden_inputs_is_in_the_result(box: Box) -> None:
    loud = (
        "def double(x):\n"
        "    print('hidden', x.tolist(), flush=True)\n"
        "    import sys, os; os.write(2, str(x.tolist()).encode())\n"
        "    raise ValueError(str(x.tolist()))"
    )
    drawn: list[str] = []

    def spy(exercise: Exercise, run: Run) -> None:
        drawn.extend(str(float(np.asarray(case.arguments["x"]).flat[0])) for case, _ in run)

    watched = replace(DOUBLE, properties=(replace(DOUBLE.properties[0], holds=spy),))
    result = grade_one(
        Task("ann", Assignment(stem=TINY.stem, exercises=(watched,)), "f", submission(loud)),
        RELEASED,
        box,
        Hidden(SECRET),
        LIMITS,
    )

    assert len(drawn) == 3
    assert not any(number in str(result) for number in drawn)
    assert result["printed"] == ""
