"""Small assignments for the tests of the grader, with a released notebook each."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from block_course.exercise import (
    Array,
    Assignment,
    Case,
    Exercise,
    Failure,
    Misconception,
    Outputs,
    Property,
    Run,
)
from block_course.grading.judge import Task
from block_course.grading.notebook import Notebook, read
from block_course.grading.secret import Secret
from tests.block_course.grading.notebooks import Content, answer, as_bytes, check, given, notebook

KEY = b"a secret for the tests alone"
SECRET = Secret(KEY)


def doubled(x: Array) -> Array:
    return x * 2.0


def summed(x: Array, y: Array) -> Array:
    return x + y


def _equals_reference(exercise: Exercise, run: Run) -> Failure | None:
    for case, seen in run:
        right = exercise.reference(**case.arguments)
        if len(seen.outputs) != 1 or not np.array_equal(seen.outputs[0], right):
            return Failure(case=case.name, message=f"{right} was expected")
    return None


def _inputs_unchanged(exercise: Exercise, run: Run) -> Failure | None:
    for case, seen in run:
        for name, after in seen.arguments_after.items():
            if not np.array_equal(after, np.asarray(case.arguments[name])):
                return Failure(case=case.name, message=f"{name} was changed")
    return None


def _one(rng: np.random.Generator) -> Sequence[Case]:
    return [Case(name=f"case {i}", arguments={"x": rng.standard_normal((2, 3 + i))}) for i in range(3)]


def _two(rng: np.random.Generator) -> Sequence[Case]:
    return [Case(name="the case", arguments={name: rng.standard_normal((4, 5)) for name in "xy"})]


def _tripled(x: Array) -> Array:
    return x * 3.0


def _told(case: Case, outputs: Outputs) -> str:
    return f"{outputs[0]} is three times {case.arguments['x']}"


TRIPLED = Misconception(name="three times", answer=_tripled, message=_told)

VALUES = Property(name="values", title="the values", points=2.0, holds=_equals_reference)
UNCHANGED = Property(
    name="unchanged", title="inputs unchanged", points=1.0, holds=_inputs_unchanged, requires=("values",)
)

DOUBLE = Exercise(
    id="tiny.double",
    answer="double",
    title="Twice",
    level="warm-up",
    minutes=1,
    framework="numpy",
    reference=doubled,
    cases=_one,
    properties=(VALUES, UNCHANGED),
    misconceptions=(TRIPLED,),
    hints=("look", "know", "write"),
)
ADD = Exercise(
    id="tiny.add",
    answer="add",
    title="The sum",
    level="core",
    minutes=2,
    framework="numpy",
    reference=summed,
    cases=_two,
    properties=(VALUES, UNCHANGED),
    misconceptions=(),
    hints=("look", "know", "write"),
)
TINY = Assignment(stem="00_tiny", exercises=(DOUBLE, ADD), permitted=("transformer_block.axes",))

SETUP = given("tiny-setup", "import numpy as np\nfrom block_course.check import check, progress")
DOUBLE_CHECK = check("tiny-double-check", 'check("tiny.double", double)')
ADD_CHECK = check("tiny-add-check", 'check("tiny.add", add)')
RIGHT_DOUBLE = "def double(x):\n    return x * 2.0"
RIGHT_ADD = "def add(x, y):\n    return x + y"
UNWRITTEN = "def {}(*arguments):\n    raise NotImplementedError()"


def submission(double: str = RIGHT_DOUBLE, add: str = RIGHT_ADD, *more: Content) -> bytes:
    return as_bytes(
        notebook(
            SETUP, answer("tiny-double", double), DOUBLE_CHECK, *more, answer("tiny-add", add), ADD_CHECK
        )
    )


RELEASED_BYTES = submission(UNWRITTEN.format("double"), UNWRITTEN.format("add"))
RELEASED: Notebook = read(RELEASED_BYTES)


def task(data: bytes, learner: str = "ann", problem: str = "") -> Task:
    return Task(learner, TINY, f"{learner}/00_tiny.ipynb", data, problem)


def released_in(folder: Path) -> Path:
    """A folder of released notebooks with that of the tiny assignment."""
    folder.mkdir(exist_ok=True)
    (folder / "00_tiny.ipynb").write_bytes(RELEASED_BYTES)
    return folder
