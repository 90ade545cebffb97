"""`backward.softmax`: the gradient of a softmax's scores, from its weights alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.outputs import informative, on_cases
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.checks.wording import entry, number
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Property, Run
from block_course.tolerance import case_tolerance, first_difference

QUERY, BATCH, BATCH_32 = "one query", "a batch", "a batch in float32"
HEADS, MASKED, SURE = "several heads", "hidden keys", "a weight of one"


def reference(dw: Array, w: Array) -> Array:
    """Compute ds = w ⊙ (dw − Σ w · dw) over the last axis in float64."""
    dw, w = dw.astype(np.float64), w.astype(np.float64)
    return np.asarray(w * (dw - (w * dw).sum(axis=-1, keepdims=True)))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """One query, many, weights that are 0 where a key was hidden, and a query that is sure."""
    T, S = (int(each) for each in rng.permutation([4, 5]))
    masked = rng.random((T, S)) < 0.6
    masked[0], masked[1] = False, np.arange(S) < 2
    sure = np.eye(S)[:T] if T < S else np.eye(T)[:, :S]
    return [
        _case(QUERY, np.array([1.0, 0.0, 3.0]), np.array([0.5, 0.25, 0.25])),
        _case(BATCH, rng.normal(size=(2, T, S)), _weights(rng, (2, T, S))),
        _case(BATCH_32, rng.normal(size=(2, T, S)), _weights(rng, (2, T, S)), "f4"),
        _case(HEADS, rng.normal(size=(2, 3, T, S)), _weights(rng, (2, 3, T, S))),
        _case(MASKED, rng.normal(size=(T, S)), _weights(rng, (T, S), masked)),
        _case(SURE, rng.normal(size=sure.shape), sure),
    ]


def _weights(rng: np.random.Generator, sides: tuple[int, ...], visible: Array | None = None) -> Array:
    shares = np.exp(rng.normal(size=sides)) * (1.0 if visible is None else visible)
    total = shares.sum(axis=-1, keepdims=True)
    return np.asarray(shares / np.where(total == 0.0, 1.0, total))


def _case(name: str, dw: Array, w: Array, dtype: str = "f8") -> Case:
    arguments = {"dw": dw.astype(dtype), "w": w.astype(dtype)}
    return Case(name=name, arguments=arguments, condition=8.0)


def _less(taken: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    return lambda dw, w: np.asarray(w * (dw - taken(dw, w)))


_WRONG_NUMBERS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "entry by entry",
            lambda dw, w: np.asarray(dw * w * (1.0 - w)),
            "w · (1 − w) is the diagonal of the derivative. A score also lowers all other weights: nothing "
            "of that is in your gradient.",
        ),
        (
            "plain mean taken away",
            _less(lambda dw, w: dw.mean(axis=-1, keepdims=True)),
            "You subtract the plain mean of dw. The mean that is taken away is weighted by w.",
        ),
        (
            "unweighted sum taken away",
            _less(lambda dw, w: dw.sum(axis=-1, keepdims=True)),
            "You subtract the sum of dw. What is taken away is Σ w · dw, weighted by w.",
        ),
        (
            "not multiplied by the weights",
            lambda dw, w: np.asarray(dw - (w * dw).sum(axis=-1, keepdims=True)),
            "The weighted mean is taken away; then each entry is multiplied by its own weight.",
        ),
        (
            "one weight left out",
            lambda dw, w: np.asarray(w * dw - (w * dw).sum(axis=-1, keepdims=True)),
            "You take Σ w · dw from w · dw. What is taken away is multiplied by the key's own weight, "
            "too: w stands before both.",
        ),
        (
            "nothing taken away",
            lambda dw, w: np.asarray(w * dw),
            "w · dw is half of it. Raising a score takes from the other weights: subtract the weighted mean "
            "of dw first.",
        ),
        (
            "summed over the queries",
            _less(lambda dw, w: (w * dw).sum(axis=-2, keepdims=True)),
            "The sum runs over the queries. A softmax shares out among the keys of one query: the last axis.",
        ),
        (
            "summed over everything",
            _less(lambda dw, w: (w * dw).sum()),
            "One sum for all queries is taken away. Each query has its own.",
        ),
        (
            "backward of the logarithm",
            lambda dw, w: np.asarray(dw - w * dw.sum(axis=-1, keepdims=True)),
            "That is the backward of a log-softmax. Here dw belongs to the weights themselves.",
        ),
    )
)
MISCONCEPTIONS = (
    *_WRONG_NUMBERS,
    misconception(
        "axis of the sum lost",
        _less(lambda dw, w: (w * dw).sum(axis=-1)),
        reference,
        "The sum has one axis less than dw, and NumPy can't tell which. Keep the axis, with length 1: "
        "`keepdims=True`.",
        tells=lambda case: np.ndim(case.arguments["w"]) > 1,  # type: ignore[arg-type]
    ),
)


def _sums_to_zero(exercise: Exercise, run: Run) -> Failure | None:
    for case, seen in on_cases(run, (QUERY, BATCH, HEADS)):
        got, complaint = informative(exercise, case, seen)
        if got is None:
            return Failure(case=case.name, message=complaint)
        sums = got.sum(axis=-1)
        where = first_difference(sums, np.zeros_like(sums), case_tolerance(case, got, given=got))
        if where is not None:
            said = f"the gradient of query {entry(where)}" if where else "your gradient"
            return Failure(case=case.name, message=f"{said} sums to {number(sums[where])} over the keys")
    return None


_ZERO_HINTS: Hints = (
    "What happens to the weights if all scores of a query rise alike?",
    "Nothing: so that the slopes of one query sum to 0, whatever dw is.",
    "Multiplied by the weights, dw less its weighted mean sums to 0. Check which of the two you left out.",
)

EXERCISE = Exercise(
    id="backward.softmax",
    answer="softmax_backward",
    title="A softmax, backward",
    level="core",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        Property(
            name="sums",
            title="the gradient of a query's scores sums to 0",
            points=0.5,
            holds=_sums_to_zero,
            hints=_ZERO_HINTS,
        ),
        values("query", "one query alone", 1.0, on=(QUERY,)),
        values("queries", "many queries, in a batch and in heads", 1.5, on=(BATCH, BATCH_32, HEADS)),
        values(
            "hidden", "hidden keys, and a weight of one, get 0", 0.5, on=(MASKED, SURE), requires=("queries",)
        ),
        dtype_kept(0.25, of="w", requires=("queries",)),
        inputs_unchanged(0.25, requires=("queries",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "By how much does weight j change when score i rises, for j = i and for another j?",
        "∂wᵢ/∂sⱼ is wᵢ(δᵢⱼ − wⱼ). Multiplied by dw and summed over i, the first part gives wⱼ·dwⱼ, and the "
        "second −wⱼ·Σ wᵢ·dwᵢ.",
        "Multiply w by dw and sum over the last axis, which stays with length 1. Take that from dw, and "
        "multiply by w.",
    ),
    withheld=("transformer_block",),
)
