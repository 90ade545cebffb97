"""`cache.step`: one attention step behind held keys and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from block_course.checks.attention.drawn import CONDITION, matrix
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints, Outputs
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.positions import rotary
from transformer_block.in_numpy.scaled_dot_product import softmax

ONE, CHUNK, CHUNK_32 = "one new token", "a chunk", "a chunk in float32"
FIRST, HUGE = "nothing held yet", "huge scores"
NAMES = ("y", "keys", "values")


def reference(x: Array, keys: Array, values: Array, qkv: Array, out: Array, n_heads: int) -> Outputs:
    """Attention of T new tokens to S held ones and to themselves, and what is held then, in float64."""
    x, keys, values, qkv, out = (each.astype(np.float64) for each in (x, keys, values, qkv, out))
    (T, D), held = x.shape, keys.shape[-2]
    parts = np.split(x @ qkv.T, 3, axis=-1)
    q, k, v = (each.reshape(T, n_heads, D // n_heads).swapaxes(0, 1) for each in parts)
    keys = np.concatenate([keys, rotary(k, held)], axis=-2)
    values = np.concatenate([values, v], axis=-2)
    scores = rotary(q, held) @ keys.swapaxes(-1, -2) / np.sqrt(keys.shape[-1])
    scores = np.where(np.arange(held + T) <= held + np.arange(T)[:, None], scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    gathered = shares @ values / shares.sum(axis=-1, keepdims=True)
    return gathered.swapaxes(0, 1).reshape(T, D) @ out.T, keys, values


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """One token and several behind held ones; the first chunk; scores that overflow an exp."""
    heads, width = ((3, 4), (2, 6))[rng.integers(2)]
    D, T, S = heads * width, 5 - heads, 7
    given = {"qkv": matrix(rng, 3 * D, D), "out": matrix(rng, D, D)}

    def case(name: str, new: int, held: int, *, condition: float = CONDITION, extreme: bool = False) -> Case:
        keys, values = rng.normal(size=(2, heads, held, width))
        arrays = {"x": rng.normal(size=(new, D)), "keys": keys, "values": values, **given}
        return Case(name=name, arguments={**arrays, "n_heads": heads}, condition=condition, extreme=extreme)

    drawn = [case(ONE, 1, S), case(CHUNK, T, S), case(CHUNK_32, T, S), case(FIRST, T, 0)]
    for name, value in drawn[2].arguments.items():
        if isinstance(value, np.ndarray):
            drawn[2].arguments[name] = value.astype(np.float32)  # type: ignore[index]
    huge = case(HUGE, T, S, condition=1e4, extreme=True)
    huge.arguments["keys"] *= 1000.0  # type: ignore[index,operator]
    return [*drawn, huge]


@dataclass(frozen=True, kw_only=True)
class _Way:
    """A step with parts exchanged; as it stands it is right."""

    offset: Callable[[int], int] = lambda S: S
    mask: Callable[[int, int], Array] = causal_mask
    turn: Callable[[Array, int], Array] = rotary
    turn_queries: Callable[[Array, int], Array] | None = None
    turn_values: Callable[[Array, int], Array] = lambda v, offset: v
    join: Callable[[Array, Array], Array] = lambda held, new: np.concatenate([held, new], axis=-2)
    root: Callable[[int], float] = lambda K: K**0.5
    again: bool = False
    merge: Callable[[Array], Array] = lambda g: g.swapaxes(0, 1).reshape(g.shape[1], -1)

    def __call__(self, x: Array, keys: Array, values: Array, qkv: Array, out: Array, n_heads: int) -> Outputs:
        (T, D), held = x.shape, keys.shape[-2]
        parts = np.split(x @ qkv.T, 3, axis=-1)
        q, k, v = (each.reshape(T, n_heads, D // n_heads).swapaxes(0, 1) for each in parts)
        offset = self.offset(held)
        q = (self.turn_queries or self.turn)(q, offset)
        k, v = self.turn(k, offset), self.turn_values(v, offset)
        if self.again:
            keys, k = rotary(keys, 0), k
        keys, values = self.join(keys, k), self.join(values, v)
        scores = q @ keys.swapaxes(-1, -2) / self.root(D // n_heads)
        weights = softmax(scores, self.mask(T, held + T))
        return self.merge(weights @ values) @ out.T, keys, values


_WAYS = (
    (
        "offset 0",
        _Way(offset=lambda S: 0),
        "The new tokens are turned as if they stood at position 0. Behind S held tokens they stand at S, "
        "S + 1 and so on.",
    ),
    (
        "offset one too large",
        _Way(offset=lambda S: S + 1),
        "The new tokens are turned one position too far: positions count from 0, so that the first token "
        "behind S held ones stands at S.",
    ),
    (
        "not turned at all",
        _Way(turn=lambda heads, offset: heads),
        "Queries and keys were not turned. The held keys are; `rotary(q, offset)` turns new ones.",
    ),
    (
        "queries not turned",
        _Way(turn_queries=lambda heads, offset: heads),
        "The keys were turned and the queries were not, so that each key is turned by how far it stands from "
        "the start, and not from the query. Turn both.",
    ),
    (
        "held keys turned again",
        _Way(again=True),
        "The held keys were turned a second time. They lie in the cache as they are compared.",
    ),
    (
        "values turned too",
        _Way(turn_values=rotary),
        "The values were turned as well. Positions act on what is compared, queries and keys.",
    ),
    (
        "no mask inside the chunk",
        _Way(mask=lambda T, S: np.ones((T, S), dtype=bool)),
        "Earlier tokens of the chunk see later ones. The held keys are all in the past; those of the chunk "
        "are not.",
    ),
    (
        "mask from the start",
        _Way(mask=lambda T, S: np.tri(T, S, dtype=bool)),
        "Your mask begins at key 0. The new queries stand at the end: query t sees the keys up to S + t.",
    ),
    (
        "new tokens in front",
        _Way(join=lambda held, new: np.concatenate([new, held], axis=-2)),
        "The new keys and values were put before the held ones. They belong behind them.",
    ),
    (
        "heads not put back",
        _Way(merge=lambda g: g.reshape(g.shape[1], -1)),
        "The result was reshaped from (H, T, K) to (T, D) without swapping the first two axes, which mixes "
        "tokens.",
    ),
    (
        "no √K",
        _Way(root=lambda K: 1.0),
        "The scores were not divided by the root of the head width.",
    ),
)

MISCONCEPTIONS = tuple(
    misconception(
        name,
        way,
        reference,
        sentence,
        returns=NAMES,
        tells=lambda case: case.name == CHUNK,
    )
    for name, way, sentence in _WAYS
)

_KEYS_HINTS: Hints = (
    "Which rows of `qkv` make keys, and at which positions stand the new tokens?",
    "The second D rows make keys. Cut them into heads, (T, H, K) → (H, T, K), and turn them from position "
    "S on, the number of held keys.",
    "`rotary(k, keys.shape[1])`, then `np.concatenate([keys, k], axis=1)`.",
)
_CHUNK_HINTS: Hints = (
    "Compare your result for one token with that for several. What may the first of several not see?",
    "Query t of the chunk stands at S + t and sees the keys up to there.",
    "Set the scores of keys beyond `S + t` to −∞ before the softmax.",
)

EXERCISE = Exercise(
    id="cache.step",
    answer="step",
    title="A cached step",
    level="core",
    minutes=20,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=NAMES,
    properties=(
        values(
            "keys",
            "the keys held afterwards, new ones turned and last",
            1.25,
            on=(ONE, CHUNK, CHUNK_32, FIRST),
            output=1,
            hints=_KEYS_HINTS,
        ),
        values("values", "the values held afterwards", 0.75, on=(ONE, CHUNK, CHUNK_32, FIRST), output=2),
        values("one", "the output of one new token", 1.5, on=(ONE,)),
        values("chunk", "the outputs of a chunk", 1.5, on=(CHUNK, CHUNK_32), hints=_CHUNK_HINTS),
        values("first", "works with nothing held yet", 0.25, on=(FIRST,), requires=("chunk",)),
        values("huge", "huge scores do no harm", 0.25, on=(HUGE,), requires=("one",)),
        dtype_kept(0.25, of="x", requires=("keys",)),
        inputs_unchanged(0.25, requires=("keys",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What must be made of the new tokens, what is there already, and in which order do they stand?",
        "Queries, keys and values of the new tokens; queries and keys turned from position S on; keys and "
        "values appended; then ordinary attention, in which query t sees the keys up to S + t.",
        "Split `x @ qkv.T` in three, cut into heads, turn, concatenate, scores over √K, hide, softmax, "
        "gather, swap the axes back, and multiply by `out.T`.",
    ),
    withheld=(
        "transformer_block.in_numpy.block",
        "transformer_block.in_numpy.cache",
        "transformer_block.in_numpy.attention",
    ),
)
