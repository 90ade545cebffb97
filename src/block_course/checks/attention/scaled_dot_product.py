"""`attention.scaled_dot_product`: shares from queries and keys, and the average that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.attention.drawn import CONDITION, misconception, sizes
from block_course.checks.attention.variants import Softmax, over_keys, softmax_over
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.outputs import on_cases, output_of
from block_course.checks.properties import values
from block_course.checks.wording import entry, number, two_numbers
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Outputs, Property, Run
from block_course.tolerance import case_tolerance, first_difference

HEADS, HEADS_32, ONE_HEAD, HUGE = "several heads", "several heads in float32", "a single head", "huge scores"


def reference(q: Array, k: Array, v: Array) -> Outputs:
    """softmax(q · kᵀ / √K) · v and the softmax itself, in float64."""
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    scores = np.einsum("...tk,...sk->...ts", q, k) / np.sqrt(q.shape[-1])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    return np.einsum("...ts,...sv->...tv", weights, v), weights


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """As many keys as queries in none; values of another width than keys; scores that overflow an exp."""
    size = sizes(rng)
    T, S, K, V = size.T, size.T + 3, size.K, size.D
    heads = [rng.normal(0.0, spread, (size.H, *side)) for spread, side in _sides(T, S, K, V)]
    in_32 = [rng.normal(0.0, spread, (size.H, *side)).astype("f4") for spread, side in _sides(T, S, K, V)]
    huge = [heads[0] * 400.0, *heads[1:]]
    largest = float(np.max(np.abs(huge[0] @ huge[1].swapaxes(-1, -2))))
    return [
        _case(HEADS, heads),
        _case(HEADS_32, in_32),
        _case(ONE_HEAD, [each[1].copy() for each in heads], extreme=True),
        _case(HUGE, huge, condition=largest, extreme=True),
    ]


def _sides(T: int, S: int, K: int, V: int) -> tuple[tuple[float, tuple[int, int]], ...]:
    return (1.5, (T, K)), (1.5, (S, K)), (1.0, (S, V))


def _case(name: str, qkv: list[Array], *, condition: float = CONDITION, extreme: bool = False) -> Case:
    given = dict(zip(("q", "k", "v"), qkv, strict=True))
    return Case(name=name, arguments=given, condition=condition, extreme=extreme)


def _scaled(
    root: Callable[[int, int], float] = lambda K, V: K**0.5,
    softmax: Softmax = over_keys,
) -> Callable[..., Outputs]:
    def answer(q: Array, k: Array, v: Array) -> Outputs:
        weights = softmax(q @ k.swapaxes(-1, -2) / root(q.shape[-1], v.shape[-1]))
        return np.asarray(weights @ v), weights

    return answer


def _scaled_late(q: Array, k: Array, v: Array) -> Outputs:
    weights = over_keys(q @ k.swapaxes(-1, -2)) / q.shape[-1] ** 0.5
    return np.asarray(weights @ v), weights


def _reversed(q: Array, k: Array, v: Array) -> Outputs:
    gathered, weights = reference(q, k, v)
    return weights, gathered


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "no √K",
            _scaled(lambda K, V: 1.0),
            "The scores were not divided: q · k has a variance that grows with K. Divide by √K.",
        ),
        (
            "divided by K",
            _scaled(lambda K, V: K),
            "The scores were divided by K. Divide by its root.",
        ),
        (
            "root of the value width",
            _scaled(lambda K, V: V**0.5),
            "The scores were divided by the root of the width of the values. K is the width of queries and "
            "keys, the number of terms in q · k.",
        ),
        (
            "softmax over the queries",
            _scaled(softmax=softmax_over(-2)),
            "The softmax runs over the queries, so that what each key gives away sums to 1. The weights of "
            "one query sum to 1 over the keys, the last axis.",
        ),
        (
            "softmax over the whole pattern",
            _scaled(softmax=softmax_over(-2, -1)),
            "All weights of a head together sum to 1. Each query's own do.",
        ),
        (
            "no softmax",
            _scaled(softmax=lambda scores: scores),
            "These are the scores themselves, some of them negative. The softmax makes shares of them.",
        ),
        (
            "exponentials not divided by their sum",
            _scaled(softmax=np.exp),
            "These are the exponentials of the scores. Divide them by their sum over the keys.",
        ),
        (
            "√K after the softmax",
            _scaled_late,
            "The weights of a query sum to 1/√K: the division came after the softmax. It belongs to the "
            "scores, before it.",
        ),
        (
            "weights first",
            _reversed,
            "You return the weights first and what was gathered second; it is the other way round.",
        ),
        (
            "largest score not subtracted",
            _scaled(softmax=lambda scores: np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)),
            "The exponential of a score above 709 is infinite, that of one far below 0 is 0, and neither "
            "∞ / ∞ nor 0 / 0 is a number. Subtract from each query's scores the largest of them, its own and "
            "not that of all queries: the shares stay the same.",
        ),
    )
)


def _sums_to_one(exercise: Exercise, run: Run) -> Failure | None:
    for case, seen in on_cases(run, (HEADS, HEADS_32)):
        weights, complaint = output_of(exercise, case, seen, 1)
        if weights is None:
            return Failure(case=case.name, message=complaint)
        if weights.ndim == 0 or not np.all(weights >= 0.0):
            return Failure(case=case.name, message="not all of your weights are shares, 0 or more")
        sums = weights.sum(axis=-1)
        bound = case_tolerance(case, np.ones(1), given=weights)
        index = first_difference(sums, np.ones_like(sums), bound)
        if index is not None:
            message = f"the weights of query {entry(index)} sum to {number(sums[index])}"
            return Failure(case=case.name, message=message)
    return None


def _gathers_by_its_weights(exercise: Exercise, run: Run) -> Failure | None:
    for case, seen in on_cases(run, (HEADS, HEADS_32)):
        (gathered, one), (weights, other) = (output_of(exercise, case, seen, index) for index in (0, 1))
        if gathered is None or weights is None:
            return Failure(case=case.name, message=one or other)
        q, _, v = (np.asarray(each, np.float64) for each in case.arguments.values())
        if weights.shape != (*q.shape[:-1], v.shape[-2]):
            message = "your weights are not one number for each query and key"
            return Failure(case=case.name, message=message)
        implied = weights.astype(np.float64) @ v
        if gathered.shape != implied.shape:
            return Failure(case=case.name, message="what you gather has not the width of a value")
        coarser = min(gathered, weights, key=lambda output: output.itemsize)
        index = first_difference(gathered, implied, 2.0 * case_tolerance(case, implied, given=coarser))
        if index is not None:
            is_now, should_be = two_numbers(gathered[index], implied[index])
            message = f"by your weights, entry {entry(index)} should be {should_be}; it is {is_now}"
            return Failure(case=case.name, message=message)
    return None


_HUGE_HINTS: Hints = (
    "What is the exponential of 1,000?",
    "A softmax stays the same when one number is subtracted from all scores of a query.",
    "Subtract from each query's scores the largest of them, before the exponential.",
)

EXERCISE = Exercise(
    id="attention.scaled_dot_product",
    answer="scaled_dot_product",
    title="Scaled dot-product attention",
    level="core",
    minutes=15,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=("gathered", "weights"),
    properties=(
        Property(
            name="sums", title="each query's weights sum to 1 over the keys", points=0.25, holds=_sums_to_one
        ),
        values("weights", "the weights", 1.5, on=(HEADS, HEADS_32), output=1),
        Property(
            name="average",
            title="what is gathered is the average of the values by your weights",
            points=0.75,
            holds=_gathers_by_its_weights,
            requires=("sums",),
        ),
        values("gathered", "what is gathered", 1.0, on=(HEADS, HEADS_32), output=0),
        values("one head", "takes (T, K) without heads too", 0.25, on=(ONE_HEAD,), requires=("gathered",)),
        values("huge", "huge scores do no harm", 0.75, on=(HUGE,), hints=_HUGE_HINTS, requires=("gathered",)),
        dtype_kept(0.25, of="q", requires=("gathered",)),
        inputs_unchanged(0.25, requires=("gathered",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which shape have the scores of all queries with all keys, and over which of its axes do shares sum "
        "to 1?",
        "Scores are products of queries with keys, divided by the root of their width. A softmax over the "
        "last axis, the keys, makes shares of them, and the shares average the values.",
        "Matrix product of `q` and `k` with its last two axes swapped, over √K; exponentials of that less "
        "its maximum over axis −1; divide by their sum over axis −1; matrix product with `v`.",
    ),
    withheld=("transformer_block",),
)
