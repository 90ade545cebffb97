"""`training.dropout`: what is kept and stretched in training, and nothing at all in evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

TRAIN, TRAIN_32 = "training", "training in float32"
EVAL, EVAL_32, NOTHING = "evaluation", "evaluation in float32", "a rate of 0"


def reference(x: Array, keep: Array, rate: float, training: bool) -> Array:
    """Compute x · keep / (1 − rate) in training and x in evaluation, in float64."""
    y = x.astype(np.float64)
    if training:
        y = y * keep / (1.0 - rate)
    return y


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Both modes in both precisions; a rate at which nothing is dropped."""
    T, D = int(rng.integers(3, 6)), int(rng.integers(6, 9))
    rate = float(rng.choice([0.1, 0.2, 0.3, 0.4]))

    def drawn(name: str, rate: float, training: bool, dtype: str = "f8") -> Case:
        x, keep = rng.normal(size=(2, T, D)), rng.random((2, T, D)) >= rate
        keep[0, 0, :2] = [rate == 0.0, True]
        arrays = {"x": x.astype(dtype), "keep": keep}
        return Case(name=name, arguments={**arrays, "rate": rate, "training": training})

    return [
        drawn(TRAIN, rate, True),
        drawn(TRAIN_32, rate + 0.15, True, "f4"),
        drawn(EVAL, rate, False),
        drawn(EVAL_32, rate + 0.05, False, "f4"),
        drawn(NOTHING, 0.0, True),
    ]


def _rule(
    train: Callable[[Array, Array, float], Array] = lambda x, keep, p: np.asarray(x * keep / (1.0 - p)),
    evaluate: Callable[[Array, Array, float], Array] = lambda x, keep, p: x.copy(),
) -> Callable[..., Array]:
    def answer(x: Array, keep: Array, rate: float, training: bool) -> Array:
        return (train if training else evaluate)(x, keep, rate)

    return answer


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "kept and not stretched",
            _rule(train=lambda x, keep, p: np.asarray(x * keep)),
            "What is kept has to be stretched by 1/(1 − rate), or the next layer trains on less than it "
            "later gets.",
        ),
        (
            "divided by the rate",
            _rule(train=lambda x, keep, p: np.asarray(x * keep / p)),
            "The rate is the share that is dropped. What is kept is divided by the share that is kept, "
            "1 − rate.",
        ),
        (
            "mask turned over",
            _rule(train=lambda x, keep, p: np.asarray(x * ~keep / (1.0 - p))),
            "You leave out what should be kept. In `keep` True means kept.",
        ),
        (
            "divided by the share that was kept",
            _rule(train=lambda x, keep, p: np.asarray(x * keep / keep.mean())),
            "You divide by the share that happened to be kept in this draw. The stretch is 1/(1 − rate), the "
            "same in each draw.",
        ),
        (
            "dropout in evaluation",
            _rule(evaluate=lambda x, keep, p: np.asarray(x * keep / (1.0 - p))),
            "In evaluation nothing is left out, whatever `keep` says: the result is x.",
        ),
        (
            "scaled in evaluation",
            _rule(evaluate=lambda x, keep, p: np.asarray(x * (1.0 - p))),
            "In evaluation nothing is scaled. What was kept has been stretched in training already.",
        ),
        (
            "scaled in evaluation, not in training",
            _rule(
                train=lambda x, keep, p: np.asarray(x * keep),
                evaluate=lambda x, keep, p: np.asarray(x * (1.0 - p)),
            ),
            "This keeps the expectation too, but in the other place: here the stretch belongs to training, "
            "so that evaluation is x itself.",
        ),
    )
)

_EVAL_HINTS: Hints = (
    "What does a model do with dropout once it has been trained?",
    "Nothing: in evaluation y is x, with nothing dropped and nothing scaled.",
    "Where `training` is False, return the tokens as they came.",
)

EXERCISE = Exercise(
    id="training.dropout",
    answer="dropout",
    title="Dropout",
    level="warm-up",
    minutes=8,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("training", "training: kept and stretched", 1.25, on=(TRAIN, TRAIN_32)),
        values("evaluation", "evaluation: x itself", 1.0, on=(EVAL, EVAL_32), hints=_EVAL_HINTS),
        values("nothing", "a rate of 0 drops nothing", 0.25, on=(NOTHING,), requires=("training",)),
        dtype_kept(0.25, of="x", requires=("training", "evaluation")),
        inputs_unchanged(0.25, requires=("training", "evaluation")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "With a rate of one quarter, how many of eight ones are kept on average, and what must each be for "
        "their mean to stay 1?",
        "Six of eight are kept, and each becomes 1/(1 − 1/4). What is dropped is 0.",
        "In training multiply x by `keep` and divide by 1 − rate, in the dtype of x.",
    ),
    withheld=("transformer_block",),
)
