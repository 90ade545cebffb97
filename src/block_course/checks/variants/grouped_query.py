"""`variants.grouped_query`: attention in which several heads of queries share keys and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.attention.drawn import CONDITION
from block_course.checks.attention.variants import over_keys, softmax_over
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

FULL, MULTI = "a head of keys for each head of queries", "one head of keys for all"
GROUPED, GROUPED_32, SEQUENCE = "shared heads", "shared heads in float32", "one sequence"
HUGE = "huge scores"


def reference(q: Array, k: Array, v: Array) -> Array:
    """Head h of the queries reads head h·G/H of keys and values, rounded down, in float64."""
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    H, G = q.shape[-3], k.shape[-3]
    serving = np.arange(H) * G // H
    k, v = k[..., serving, :, :], v[..., serving, :, :]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shares @ v / shares.sum(axis=-1, keepdims=True))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """None shared, all shared, groups; scores that overflow an exp, and no batch axis: not for diagnosis."""
    B, H, G = 2, int(rng.choice([6, 9])), 3
    T, S, K = (int(rng.choice(ends)) for ends in ((4, 5), (7, 8), (10, 11)))

    def case(name: str, G: int, *, dtype: str = "f8", condition: float = CONDITION) -> Case:
        q, k, v = rng.normal(size=(B, H, T, K)), *rng.normal(size=(2, B, G, S, K))
        arguments = {"q": q.astype(dtype), "k": k.astype(dtype), "v": v.astype(dtype)}
        return Case(name=name, arguments=arguments, condition=condition, extreme=name == HUGE)

    shared, huge = case(GROUPED, G), case(HUGE, G, condition=1e4)
    huge.arguments["k"] *= 1000.0  # type: ignore[index,operator]
    one = {name: np.asarray(value)[0].copy() for name, value in shared.arguments.items()}
    sequence = Case(name=SEQUENCE, arguments=one, condition=CONDITION, extreme=True)
    return [case(FULL, H), case(MULTI, 1), shared, case(GROUPED_32, G, dtype="f4"), sequence, huge]


Share = Callable[[Array, int], Array]
"""From heads of keys or values and the number of queries' heads to as many heads."""


def _repeated(heads: Array, H: int) -> Array:
    return np.repeat(heads, H // heads.shape[-3], axis=-3)


def _tiled(heads: Array, H: int) -> Array:
    return np.concatenate([heads] * (H // heads.shape[-3]), axis=-3)


def _in_opposite_order(heads: Array, H: int) -> Array:
    return np.flip(_repeated(heads, H), axis=-3)


def _first_for_all(heads: Array, H: int) -> Array:
    return np.repeat(heads[..., :1, :, :], H, axis=-3)


def _mean_for_all(heads: Array, H: int) -> Array:
    return np.repeat(heads.mean(axis=-3, keepdims=True), H, axis=-3)


def _attention(
    *,
    keys: Share = _repeated,
    values: Share = _repeated,
    root: Callable[[int, int], float] = lambda K, H: K**0.5,
    softmax: Callable[[Array], Array] = over_keys,
    gather: Callable[[Array], Array] = lambda queries: queries,
) -> Callable[..., Array]:
    """Attention that is right as it stands; `gather` makes of the queries what is compared."""

    def answer(q: Array, k: Array, v: Array) -> Array:
        H, G = q.shape[-3], k.shape[-3]
        compared = gather(q.reshape(*q.shape[:-3], G, H // G, *q.shape[-2:]))
        compared = compared.reshape(*q.shape[:-3], -1, *q.shape[-2:])
        k, v = keys(k, compared.shape[-3]), values(v, compared.shape[-3])
        return softmax(compared @ k.swapaxes(-1, -2) / root(q.shape[-1], H)) @ v

    return answer


_WAYS = (
    (
        "heads tiled",
        _attention(keys=_tiled, values=_tiled),
        "The heads of keys and values were laid side by side as a whole, 0 1 2 0 1 2. The heads of a group "
        "stand together: 0 0 1 1 2 2.",
    ),
    (
        "values tiled",
        _attention(values=_tiled),
        "Each query head weighs with one head's keys and gathers another's values: the keys were repeated "
        "0 0 1 1, the values 0 1 0 1.",
    ),
    (
        "groups in the opposite order",
        _attention(keys=_in_opposite_order, values=_in_opposite_order),
        "The first group of query heads reads the last head of keys. Groups and heads of keys stand in the "
        "same order.",
    ),
    (
        "first head for all",
        _attention(keys=_first_for_all, values=_first_for_all),
        "All heads of queries read the first head of keys and values. Each group has a head of its own.",
    ),
    (
        "mean of the heads",
        _attention(keys=_mean_for_all, values=_mean_for_all),
        "All heads of queries read the mean of the heads of keys and values. Each group has a head of its "
        "own.",
    ),
    (
        "one query for a group",
        _attention(gather=lambda queries: queries.mean(axis=-3)),
        "The queries of a group were averaged, which leaves G heads. Each of the H heads attends by itself; "
        "only what it reads is shared.",
    ),
    (
        "no √K",
        _attention(root=lambda K, H: 1.0),
        "The scores were not divided by the root of the head width.",
    ),
    (
        "root of D",
        _attention(root=lambda K, H: (H * K) ** 0.5),
        "The scores were divided by √D, D = H·K. Each head is K wide: √K.",
    ),
    (
        "softmax over queries",
        _attention(softmax=softmax_over(-2)),
        "The weights of each key sum to 1 over the queries. Those of each query sum to 1 over the keys.",
    ),
    (
        "no softmax",
        _attention(softmax=lambda scores: scores),
        "The values were weighed by the scores. A softmax over the keys makes shares of them.",
    ),
)

MISCONCEPTIONS = tuple(
    misconception(name, way, reference, sentence, tells=lambda case: case.name == GROUPED)
    for name, way, sentence in _WAYS
)

_GROUP_HINTS: Hints = (
    "For H = 6 and G = 3, which head of keys does each of the six heads of queries read?",
    "Heads 0 and 1 read head 0, 2 and 3 read head 1, 4 and 5 read head 2.",
    "`np.repeat(k, H // G, axis=-3)`, and the same for the values.",
)
_HUGE_HINTS: Hints = (
    "What does `np.exp` give for 1000?",
    "Infinity. Subtracting a number from all scores of a row changes no weight.",
    "Subtract each row's largest score before the exponential.",
)

EXERCISE = Exercise(
    id="variants.grouped_query",
    answer="grouped_query",
    title="Shared keys and values",
    level="core",
    minutes=12,
    framework="numpy",
    withheld=("transformer_block",),
    reference=reference,
    cases=cases,
    properties=(
        values("full", "with a head of keys for each head of queries", 0.75, on=(FULL,)),
        values("multi", "with one head of keys for all", 0.75, on=(MULTI,)),
        values(
            "groups", "with a head of keys for each group", 1.5, on=(GROUPED, GROUPED_32), hints=_GROUP_HINTS
        ),
        values("sequence", "one sequence (H, T, K) too", 0.25, on=(SEQUENCE,), requires=("groups",)),
        values("huge", "huge scores do no harm", 0.25, on=(HUGE,), requires=("groups",), hints=_HUGE_HINTS),
        dtype_kept(0.25, of="q", requires=("full",)),
        inputs_unchanged(0.25, requires=("full",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write attention for G = H first. What has to change so that the shapes fit for G < H?",
        "Each head of keys and of values stands for H/G heads of queries in a row. Copied that often, they "
        "make ordinary attention of H heads.",
        "Repeat keys and values along the axis of heads; scores over √K; softmax over the last axis; times "
        "the values.",
    ),
)
