"""`residual.add`: a sum that does not let NumPy stretch what doesn't fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.residual.right import add
from block_course.checks.wording import shape
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Misconception, Outputs, Property, Run

TOKEN, BATCH, BATCH_32 = "two numbers", "a batch", "a batch in float32"
NARROW, ONE_TOKEN, ONE_ITEM = "an update of one feature", "an update of one token", "an update of one item"
WIDE, TURNED, LATE = "an update that is too wide", "an update with its axes turned", "an update too long"
FITTING, STRETCHED, APART = (
    (TOKEN, BATCH, BATCH_32),
    (NARROW, ONE_TOKEN, ONE_ITEM),
    (WIDE, TURNED, LATE),
)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Updates that fit; three that NumPy would stretch; three that it would refuse."""
    B, T, D = 2, int(rng.integers(3, 5)), int(rng.integers(5, 9))
    shapes = {
        BATCH: (B, T, D),
        BATCH_32: (B, T, D),
        NARROW: (B, T, 1),
        ONE_TOKEN: (D,),
        ONE_ITEM: (1, T, D),
        WIDE: (B, T, D + 1),
        TURNED: (B, D, T),
        LATE: (B, T + 1, D),
    }
    drawn = [
        _case(name, _numbers(rng, (B, T, D)), _numbers(rng, sides), "f4" if name == BATCH_32 else "f8")
        for name, sides in shapes.items()
    ]
    return [_case(TOKEN, np.array([1.2, -0.4]), np.array([0.3, 0.5])), *drawn]


def _numbers(rng: np.random.Generator, sides: tuple[int, ...]) -> Array:
    """Of either sign, none near 0, so that adding can't be missed."""
    return np.asarray(rng.uniform(0.5, 2.0, sides) * rng.choice([-1.0, 1.0], sides))


def _case(name: str, x: Array, update: Array, dtype: str = "f8") -> Case:
    return Case(name=name, arguments={"x": x.astype(dtype), "update": update.astype(dtype)})


def _of_the_sum(whole: Property) -> Property:
    """The same property of the second output alone: the first is no array of floats."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        return whole.holds(
            exercise,
            [(case, replace(seen, outputs=seen.outputs[1:], kinds=seen.kinds[1:])) for case, seen in run],
        )

    return replace(whole, holds=holds)


def _shapes_told(name: str, answer: Callable[..., Outputs], sentence: str) -> Misconception:
    """Told by the shapes of x and update on the first case that shows it."""

    def message(case: Case, outputs: Outputs) -> str:
        x, update = (shape(np.asarray(case.arguments[each]).shape) for each in ("x", "update"))
        return sentence.format(x=x, update=update)

    return Misconception(name=name, answer=answer, message=message)


def _if(fits: Callable[[Array, Array], bool]) -> Callable[[Array, Array], Outputs]:
    """An answer that adds where its own condition holds, as NumPy adds."""

    def answer(x: Array, update: Array) -> Outputs:
        agreed = fits(x, update)
        return np.array(agreed), x + update if agreed else x.copy()

    return answer


def _stretches(x: Array, update: Array) -> bool:
    try:
        return bool(np.broadcast_shapes(x.shape, update.shape) == x.shape)
    except ValueError:
        return False


MISCONCEPTIONS = (
    _shapes_told(
        "whatever NumPy can stretch fits",
        _if(_stretches),
        "You say that an update of shape {update} fits a stream of shape {x}. NumPy can stretch it, and then "
        "one number goes to many places. A branch answers with as many numbers as the stream has.",
    ),
    _shapes_told(
        "last axis alone",
        _if(lambda x, update: x.shape[-1] == update.shape[-1] and _stretches(x, update)),
        "You say that an update of shape {update} fits a stream of shape {x}. Their last axes agree; all "
        "axes have to.",
    ),
    _shapes_told(
        "number of axes alone",
        _if(lambda x, update: x.ndim == update.ndim and _stretches(x, update)),
        "You say that an update of shape {update} fits a stream of shape {x}. They have as many axes; the "
        "sizes have to agree too.",
    ),
    _shapes_told(
        "number of entries",
        lambda x, update: (
            np.array(x.size == update.size),
            x + update.reshape(x.shape) if x.size == update.size else x.copy(),
        ),
        "You say that an update of shape {update} fits a stream of shape {x}. They have as many entries, but "
        "not in the same places.",
    ),
    _shapes_told(
        "update in place of the sum",
        lambda x, update: (
            np.array(x.shape == update.shape),
            update.copy() if x.shape == update.shape else x.copy(),
        ),
        "That is the update alone. The skip hands x on, and the update is added to it.",
    ),
    _shapes_told(
        "appended",
        lambda x, update: (
            np.array(x.shape == update.shape),
            np.concatenate([x, update], axis=-1) if x.shape == update.shape else x.copy(),
        ),
        "You set an update of shape {update} beside a stream of shape {x}, which is then twice as wide. It "
        "is added, feature by feature.",
    ),
    _shapes_told(
        "never added",
        lambda x, update: (np.array(x.shape == update.shape), x.copy()),
        "That is x. Where the update fits it is added.",
    ),
    _shapes_told(
        "turned over",
        lambda x, update: (np.array(x.shape != update.shape), add(x, update)[1]),
        "You say that an update fits where it does not, and the other way round.",
    ),
)


def _explain(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    x, update = (shape(np.asarray(case.arguments[each]).shape) for each in ("x", "update"))
    verb = "does not fit" if right else "fits"
    return f"you say that an update of shape {update} {verb} a stream of shape {x}"


_REFUSES_HINTS: Hints = (
    "What does NumPy do where an axis of the update has size 1, or is missing?",
    "It stretches that axis to the size of x, without a word. Shapes that differ are unequal, whatever NumPy "
    "can make of them.",
    "Compare `x.shape` with `update.shape`, whole, before you add anything.",
)

EXERCISE = Exercise(
    id="residual.add",
    answer="careful_add",
    title="A careful add",
    level="warm-up",
    minutes=6,
    framework="numpy",
    reference=add,  # type: ignore[arg-type]
    cases=cases,
    returns=("fits", "out"),
    withheld=("transformer_block.in_numpy.residual",),
    properties=(
        values("sum", "the sum, where the update fits", 0.75, on=FITTING, output=1),
        values(
            "stretched",
            "refuses what NumPy would stretch",
            1.0,
            on=STRETCHED,
            output=0,
            explain=_explain,
            requires=("sum",),
            hints=_REFUSES_HINTS,
        ),
        values(
            "apart",
            "refuses what has other sizes",
            0.5,
            on=APART,
            output=0,
            explain=_explain,
            requires=("sum",),
        ),
        values(
            "left", "leaves x as it is, then", 0.25, on=(*STRETCHED, *APART), output=1, requires=("apart",)
        ),
        values(
            "fits",
            "and says so where it fits",
            0.5,
            on=FITTING,
            output=0,
            explain=_explain,
            requires=("stretched",),
        ),
        _of_the_sum(dtype_kept(0.5, of="x", requires=("sum", "left"))),
        inputs_unchanged(0.5, requires=("sum",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What must be true of two arrays so that each number of one has its partner in the other?",
        "Their shapes are equal, axis by axis. NumPy's `+` asks for less.",
        "If the two shapes are equal return True and the sum, else False and `x`.",
    ),
)
