"""`attention.heads`: features cut into heads, and heads laid side by side again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.attention.drawn import misconception, sizes, tokens
from block_course.checks.attention.variants import bare_merge, interleaved_merge, merge, split
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

BATCH, BATCH_32, SEQUENCE = "a batch", "a batch in float32", "one sequence"


def reference(x: Array, z: Array, n_heads: int) -> Outputs:
    """Cut x (..., T, D) into (..., H, T, K), lay z (..., H, T, K) out as (..., T, D), in float64."""
    x, z = x.astype(np.float64), z.astype(np.float64)
    *batch, T, D = x.shape
    cut = np.moveaxis(x.reshape(*batch, T, n_heads, D // n_heads), -2, -3)
    return cut, np.moveaxis(z, -3, -2).reshape(*batch, T, D)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Batches in both precisions, and a sequence without a batch axis, which diagnosis passes over."""
    size = sizes(rng)
    shape = (size.B, size.H, size.T, size.K)
    x, z = tokens(rng, size), rng.normal(size=shape)
    return [
        _case(BATCH, x, z, size.H),
        _case(BATCH_32, tokens(rng, size, np.float32), rng.normal(size=shape).astype("f4"), size.H),
        _case(SEQUENCE, x[1].copy(), z[0].copy(), size.H, extreme=True),
    ]


def _case(name: str, x: Array, z: Array, n_heads: int, *, extreme: bool = False) -> Case:
    return Case(name=name, arguments={"x": x, "z": z, "n_heads": n_heads}, extreme=extreme)


def _bare_split(x: Array, n_heads: int) -> Array:
    *batch, T, D = x.shape
    return x.reshape(*batch, n_heads, T, D // n_heads)


def _dealt(x: Array, n_heads: int) -> Array:
    """Features dealt to the heads in turn."""
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, n_heads), -1, -3)


def _in_place(x: Array, n_heads: int) -> Array:
    """Heads that stay behind the tokens."""
    return x.reshape(*x.shape[:-1], n_heads, -1)


def _both(cut: Callable[[Array, int], Array], joined: Callable[[Array], Array]) -> Callable[..., Outputs]:
    return lambda x, z, n_heads: (cut(x, n_heads), joined(z))


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "heads not transposed back",
            _both(split, bare_merge),
            "`z` was reshaped as it was, (H, T, K) to (T, D): pieces of several tokens stand in one row. "
            "Swap H and T first.",
        ),
        (
            "cut by a bare reshape",
            _both(_bare_split, merge),
            "`x` was reshaped from (T, D) to (H, T, K) in one go: a head holds whole tokens, cut up. Cut D "
            "into H and K first, then swap T and H.",
        ),
        (
            "two bare reshapes",
            _both(_bare_split, bare_merge),
            "Both ways are a bare reshape. They undo each other, so that a test of the round trip passes; "
            "but each head holds pieces of other tokens.",
        ),
        (
            "features dealt in turn",
            _both(_dealt, interleaved_merge),
            "Feature 0 went to head 0, feature 1 to head 1 and so on. Head 0 has the first K features, head "
            "1 the next K.",
        ),
        (
            "features dealt in turn",
            _both(_dealt, merge),
            "Feature 0 went to head 0, feature 1 to head 1 and so on. Head 0 has the first K features, head "
            "1 the next K.",
        ),
        (
            "features of heads mixed in the merge",
            _both(split, interleaved_merge),
            "The heads of a token lie feature by feature: first feature 0 of each head. They lie "
            "head by head.",
        ),
        (
            "heads behind the tokens",
            _both(_in_place, merge),
            "Your heads have shape (…, T, H, K): cut, but not moved. The heads stand before the tokens, "
            "(…, H, T, K), so that one matrix product serves each head.",
        ),
    )
)

_MERGE_HINTS: Hints = (
    "Which numbers of `z` belong to token 0, and do they stand side by side in your row 0?",
    "In (H, T, K) the K numbers of a token in one head are neighbors, those of its other heads are T · K "
    "numbers away. A reshape moves nothing.",
    "Swap axes −3 and −2 of `z`, then reshape the last two to D.",
)

EXERCISE = Exercise(
    id="attention.heads",
    answer="heads",
    title="Into heads and back",
    level="warm-up",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=("cut", "merged"),
    properties=(
        values("cut", "features cut into heads", 1.0, on=(BATCH, BATCH_32), output=0),
        values("merged", "heads side by side", 1.0, on=(BATCH, BATCH_32), output=1, hints=_MERGE_HINTS),
        values("cut, one sequence", "cuts one sequence (T, D) too", 0.25, on=(SEQUENCE,), requires=("cut",)),
        values(
            "merged, one sequence",
            "merges one sequence (H, T, K) too",
            0.25,
            on=(SEQUENCE,),
            output=1,
            requires=("merged",),
        ),
        dtype_kept(0.25, of="x", requires=("cut", "merged")),
        inputs_unchanged(0.25, requires=("cut", "merged")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write the shapes down: from which to which, and is there a step between?",
        "D is cut into (H, K), head by head, with a reshape of the last axis; then the axes T and H change "
        "places. The way back does the same in the opposite order.",
        "Reshape `x` to (…, T, H, K) and swap axes −3 and −2. Swap the same axes of `z` and reshape the last "
        "two to D.",
    ),
    withheld=("transformer_block",),
)
