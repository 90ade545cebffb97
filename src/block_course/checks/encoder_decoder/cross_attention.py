"""`encoder_decoder.cross_attention`: queries from the target, keys and values from the memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.attention.drawn import CONDITION, matrix
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import paired, values
from block_course.checks.telling import misconception
from block_course.checks.wording import entry, two_numbers
from block_course.exercise import Array, Case, Exercise, Hints

ONE_HEAD, HEADS, HEADS_32 = "one head", "several heads", "several heads in float32"
PADDED, REPLACED, OTHER = "padding", "the same, other numbers in the padding", "another memory"


def reference(
    x: Array, memory: Array, visible: Array, q: Array, kv: Array, out: Array, n_heads: int
) -> Array:
    """Compute softmax(q · kᵀ / √K) · v with q of x, k and v of memory, over the visible keys, in float64."""
    x, memory, q, kv, out = (each.astype(np.float64) for each in (x, memory, q, kv, out))
    queries = _heads(x @ q.T, n_heads)
    keys, gathered = (_heads(memory @ each.T, n_heads) for each in np.split(kv, 2))
    scores = queries @ keys.swapaxes(2, 3) / np.sqrt(queries.shape[-1])
    shares = np.exp(scores) * visible[:, None, None]
    weights = shares / shares.sum(axis=-1, keepdims=True)
    side_by_side = (weights @ gathered).swapaxes(1, 2).reshape(x.shape)
    return side_by_side @ out.T  # type: ignore[no-any-return]


def _heads(x: Array, n_heads: int) -> Array:
    return np.asarray(x.reshape(*x.shape[:2], n_heads, -1).swapaxes(1, 2))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """A source longer than the target; no padding, padding, and padding that holds other numbers."""
    B, T, S, H = 2, 3, int(rng.integers(5, 7)), 4
    D = H * int(rng.integers(2, 4))
    x, memory = rng.normal(size=(B, T, D)), rng.normal(size=(B, S, D))
    parts = matrix(rng, D, D), matrix(rng, 2 * D, D), matrix(rng, D, D)
    every, real = np.ones((B, S), bool), np.arange(S) < np.array([[S - 2], [S - 1]])
    replaced = np.where(real[..., None], memory, rng.normal(size=memory.shape))
    small = [each.astype(np.float32) for each in (x, memory, *parts)]
    return [
        _case(ONE_HEAD, x, memory, every, parts, 1),
        _case(HEADS, x, memory, every, parts, H),
        _case(HEADS_32, small[0], small[1], every, small[2:], H),
        _case(OTHER, x, rng.normal(size=memory.shape), every, parts, H),
        _case(PADDED, x, memory, real, parts, H),
        _case(REPLACED, x, replaced, real, parts, H),
    ]


def _case(name: str, x: Array, memory: Array, visible: Array, parts: Sequence[Array], n_heads: int) -> Case:
    arguments = {"x": x, "memory": memory, "visible": visible}
    arguments |= dict(zip(("q", "kv", "out"), parts, strict=True))
    return Case(name=name, arguments={**arguments, "n_heads": n_heads}, condition=CONDITION)


Read = Callable[[Array, Array], tuple[Array, Array]]


def _cross(
    *,
    read: Read = lambda x, memory: (x, memory),
    mask: Callable[[Array, int], Array] = lambda visible, T: visible[:, None, None],
    swap: bool = False,
    axis: int = -1,
    root: Callable[[int, int], float] = lambda K, D: K**0.5,
    merged: bool = True,
) -> Callable[..., Array]:
    """Cross-attention with one step changed."""

    def answer(
        x: Array, memory: Array, visible: Array, q: Array, kv: Array, out: Array, n_heads: int
    ) -> Array:
        asks, asked = read(x, memory)
        queries = _heads(asks @ q.T, n_heads)
        k, v = np.split(kv, 2)[:: -1 if swap else 1]
        keys, gathered = _heads(asked @ k.T, n_heads), _heads(asked @ v.T, n_heads)
        scores = queries @ keys.swapaxes(-1, -2) / root(queries.shape[-1], x.shape[-1])
        hidden = visible if asked.shape == memory.shape else np.ones(asked.shape[:2], bool)
        shares = np.where(mask(hidden, asks.shape[1]), np.exp(scores), 0.0)
        total = shares.sum(axis=axis, keepdims=True)
        if not total.all():
            raise ValueError("nothing is visible")
        z = shares / total @ gathered
        rows = z.swapaxes(1, 2).reshape(asks.shape) if merged else z.reshape(asks.shape)
        return np.asarray(rows @ out.T)

    return answer


def _causal(visible: Array, T: int) -> Array:
    S = visible.shape[-1]
    return np.asarray(np.tri(T, S, S - T, dtype=bool) & visible[:, None, None])


def _causal_from_the_start(visible: Array, T: int) -> Array:
    return np.asarray(np.tri(T, visible.shape[-1], dtype=bool) & visible[:, None, None])


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "self-attention",
            _cross(read=lambda x, memory: (x, x)),
            "Keys and values come from x here, and the memory is never read. They come from the memory.",
        ),
        (
            "queries from the memory",
            _cross(read=lambda x, memory: (memory, x)),
            "The memory asks here and x is asked. The target asks: each of its tokens gets an output.",
        ),
        (
            "padding not hidden",
            _cross(mask=lambda visible, T: np.ones((1, 1, 1, 1), bool)),
            "Every row of the memory is read, the padding too. Hide the keys where `visible` is False.",
        ),
        (
            "mask turned over",
            _cross(mask=lambda visible, T: ~visible[:, None, None]),
            "Only the padding is read. True means visible.",
        ),
        *(
            (
                "a causal mask on the memory",
                _cross(mask=mask),
                "Some queries don't see all of the source. It is complete before the first target token is "
                "written: only padding is hidden.",
            )
            for mask in (_causal, _causal_from_the_start)
        ),
        (
            "keys and values exchanged",
            _cross(swap=True),
            "The first D rows of `kv` make the keys, the others the values.",
        ),
        (
            "softmax over the queries",
            _cross(axis=-2),
            "The weights sum to 1 over the queries. Those of one query sum to 1 over the source.",
        ),
        (
            "root of D",
            _cross(root=lambda K, D: D**0.5),
            "The scores were divided by √D. A head's queries and keys have K = D / H features: divide by √K.",
        ),
        (
            "heads not transposed back",
            _cross(merged=False),
            "What the heads gathered, (B, H, T, K), was reshaped as it was. Swap H and T first.",
        ),
    )
)


def _same(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return y


def _heard(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
    is_now, was = two_numbers(got[index], expected[index])
    return f"other numbers were put in the padding, and entry {entry(index)} went from {was} to {is_now}"


_PADDING_HINTS: Hints = (
    "Which axis of the scores belongs to the source, and which shape has `visible`?",
    "The scores are (B, H, T, S) and the mask is (B, S): it needs two axes between, for heads and queries.",
    "Fill the scores with −∞ where `visible`, with two axes put in after the first, is False.",
)

EXERCISE = Exercise(
    id="encoder_decoder.cross_attention",
    answer="cross_attention",
    title="Cross-attention",
    level="core",
    minutes=15,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("one head", "one head, no padding", 1.0, on=(ONE_HEAD,)),
        values("heads", "several heads, no padding", 1.0, on=(HEADS, HEADS_32)),
        paired(
            "unheard",
            "numbers in the padding are not heard",
            0.5,
            pairs=((PADDED, REPLACED),),
            alive=(HEADS, OTHER),
            expect=_same,
            explain=_heard,
            hints=_PADDING_HINTS,
        ),
        values("padding", "several heads, padding", 1.0, on=(PADDED, REPLACED), hints=_PADDING_HINTS),
        dtype_kept(0.25, of="x", requires=("heads",)),
        inputs_unchanged(0.25, requires=("heads",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which of the two sequences asks, and which is asked? Which shape have the weights of a head?",
        "Queries are made of x; keys and values are made of the memory, by the first and the last D rows of "
        "`kv`. Scores are (B, H, T, S): the mask (B, S) needs an axis for the heads and one for the queries.",
        "Project; cut queries, keys and values into heads; product of queries with keys over √K; hide, "
        "softmax over the last axis; product with the values; heads side by side; times `out` transposed.",
    ),
    withheld=("transformer_block",),
)
