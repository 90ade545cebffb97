"""`attention.mend`: a self-attention with two faults, each invisible to the test that one tries first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.attention import variants
from block_course.checks.attention.drawn import CONDITION, Sizes, matrix, misconception, sizes, tokens
from block_course.checks.attention.variants import Merge, Softmax
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.exercise import Array, Case, Exercise, Hints

BATCH, BATCH_32, ONE_HEAD, ALIKE = "a batch", "a batch in float32", "one head", "queries of zero"


def reference(x: Array, qkv: Array, out: Array, n_heads: int) -> Array:
    """Compute merge(softmax(q · kᵀ / √K) · v) · outᵀ in float64."""
    x, qkv, out = x.astype(np.float64), qkv.astype(np.float64), out.astype(np.float64)
    heads = (x @ qkv.T).reshape(*x.shape[:-1], 3, n_heads, x.shape[-1] // n_heads)
    q, k, v = np.moveaxis(heads, -3, 0)
    shares = np.exp(np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1]))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("...hts,...shk->...thk", weights, v).reshape(x.shape) @ out.T)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """One head, where a merge has nothing to do; queries of zero, where all shares are equal; both."""
    size = sizes(rng)
    qkv, out = matrix(rng, 3 * size.D, size.D), matrix(rng, size.D, size.D)
    silent = qkv.copy()
    silent[: size.D] = 0.0
    return [
        _case(ONE_HEAD, tokens(rng, size), qkv, out, 1),
        _case(ALIKE, tokens(rng, size), silent, out, size.H),
        _case(BATCH, tokens(rng, size), qkv, out, size.H),
        _case(BATCH_32, *_in_float32(rng, size), size.H),
    ]


def _in_float32(rng: np.random.Generator, size: Sizes) -> tuple[Array, Array, Array]:
    qkv, out = (matrix(rng, rows, size.D).astype(np.float32) for rows in (3 * size.D, size.D))
    return tokens(rng, size, np.float32), qkv, out


def _case(name: str, x: Array, qkv: Array, out: Array, n_heads: int) -> Case:
    return Case(
        name=name, arguments={"x": x, "qkv": qkv, "out": out, "n_heads": n_heads}, condition=CONDITION
    )


def _with(softmax: Softmax = variants.over_keys, merge: Merge = variants.merge) -> Callable[..., Array]:
    def answer(x: Array, qkv: Array, out: Array, n_heads: int) -> Array:
        none = np.zeros(3 * x.shape[-1], x.dtype), np.zeros(x.shape[-1], x.dtype)
        return variants.attention(x, qkv, none[0], out, none[1], n_heads, softmax=softmax, merge=merge)

    return answer


_OVER_QUERIES, _OVER_HEADS = variants.softmax_over(-2), variants.softmax_over(-3)
_OVER_ALL = variants.softmax_over(-2, -1)

MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "nothing mended",
            _with(_OVER_QUERIES, variants.bare_merge),
            "This is the broken one. On one token it is right; on several it is not.",
        ),
        (
            "softmax still over the queries",
            _with(_OVER_QUERIES),
            "The heads come back right now. The weights of a query still don't sum to 1: with one head and "
            "equal values for all tokens, what is gathered should be that value.",
        ),
        (
            "heads still not transposed back",
            _with(merge=variants.bare_merge),
            "The softmax is right now. With queries of zero each token gathers the mean of the values, and "
            "all rows of the output should be equal; yours are not.",
        ),
        (
            "softmax over the heads",
            _with(_OVER_HEADS),
            "The shares sum to 1 over the heads now. They sum to 1 over the keys, the last axis of the "
            "scores.",
        ),
        (
            "softmax over the whole pattern",
            _with(_OVER_ALL),
            "All shares of a head together sum to 1 now. Each query's own do.",
        ),
        (
            "features of heads mixed in the merge",
            _with(merge=variants.interleaved_merge),
            "Positions no longer mix. But the features of a token lie feature by feature, first feature 0 of "
            "each head; they lie head by head, as `out` expects them.",
        ),
        (
            "features of heads mixed in the merge",
            _with(_OVER_QUERIES, variants.interleaved_merge),
            "The features of a token lie feature by feature, first feature 0 of each head; they lie head by "
            "head. And the softmax still runs over the wrong axis.",
        ),
    )
)

_MERGE_HINTS: Hints = (
    "With queries of zero all shares are equal. How do the rows of the output differ then?",
    "What the heads gathered has the axes (B, H, T, K). A reshape keeps the order of all numbers and only "
    "draws other borders.",
    "Swap the axes of heads and tokens before the reshape.",
)

EXERCISE = Exercise(
    id="attention.mend",
    answer="mended",
    title="Two near misses",
    level="core",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("softmax", "the softmax runs over the keys", 1.0, on=(ONE_HEAD,)),
        values("merge", "the heads of a token lie side by side", 1.0, on=(ALIKE,), hints=_MERGE_HINTS),
        values(
            "both", "several heads, any queries", 0.5, on=(BATCH, BATCH_32), requires=("softmax", "merge")
        ),
        dtype_kept(0.25, of="x", requires=("both",)),
        inputs_unchanged(0.25, requires=("both",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Over which axis do the weights of one query sum to 1, and over which do yours?",
        "The scores have the axes (B, H, T, S). The weights of a query are one row of them, over the keys.",
        "Take the maximum and the sum over axis −1.",
    ),
    withheld=("transformer_block",),
)
