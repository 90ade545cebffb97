"""`backward.scaled_dot_product`: attention walked back, step by step, to queries, keys and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.attention.drawn import CONDITION, sizes
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

RETURNS = ("dq", "dk", "dv")
HEADS, HEADS_32, SELF = "several heads", "several heads in float32", "as many keys as queries"
ONE_HEAD, HUGE = "a single head", "huge scores"


def reference(dy: Array, q: Array, k: Array, v: Array) -> Outputs:
    """Compute dv = wᵀ · dy, dw = dy · vᵀ, ds = w ⊙ (dw − Σ w · dw), dq = ds · k / √K, dk = dsᵀ · q / √K."""
    dy, q, k, v = (each.astype(np.float64) for each in (dy, q, k, v))
    root = np.sqrt(q.shape[-1])
    scores = q @ k.swapaxes(-1, -2) / root
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = shares / shares.sum(axis=-1, keepdims=True)
    dw = dy @ v.swapaxes(-1, -2)
    ds = w * (dw - (w * dw).sum(axis=-1, keepdims=True)) / root
    return ds @ k, ds.swapaxes(-1, -2) @ q, w.swapaxes(-1, -2) @ dy


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Other keys than queries; as many of them, where a transposed product fits too; huge scores."""
    size = sizes(rng)
    T, K, V, heads = size.T, size.K, size.D, (size.H,)
    huge = _drawn(rng, heads, T, T + 3, K, V)
    huge[1] *= 400.0
    largest = float(np.max(np.abs(huge[1] @ huge[2].swapaxes(-1, -2))))
    return [
        _case(HEADS, _drawn(rng, heads, T, T + 3, K, V)),
        _case(HEADS_32, [each.astype("f4") for each in _drawn(rng, heads, T, T + 3, K, V)]),
        _case(SELF, _drawn(rng, heads, T, T, K, K)),
        _case(ONE_HEAD, _drawn(rng, (), T, T + 3, K, V), extreme=True),
        _case(HUGE, huge, condition=largest, extreme=True),
    ]


def _drawn(rng: np.random.Generator, heads: tuple[int, ...], T: int, S: int, K: int, V: int) -> list[Array]:
    return [rng.normal(size=(*heads, *sides)) for sides in ((T, V), (T, K), (S, K), (S, V))]


def _case(name: str, given: list[Array], *, condition: float = CONDITION, extreme: bool = False) -> Case:
    arguments = dict(zip(("dy", "q", "k", "v"), given, strict=True))
    return Case(name=name, arguments=arguments, condition=condition, extreme=extreme)


Scores = Callable[[Array, Array], Array]


def _through(dw: Array, w: Array) -> Array:
    return np.asarray(w * (dw - (w * dw).sum(axis=-1, keepdims=True)))


def _shares(scores: Array) -> Array:
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def _walk(
    *,
    softmax: Callable[[Array], Array] = _shares,
    back: Scores = _through,
    there: Callable[[int], float] = np.sqrt,
    then: Callable[[int], float] = np.sqrt,
    gathered: Callable[[Array, Array], Array] = lambda w, dy: np.asarray(w.swapaxes(-1, -2) @ dy),
) -> Callable[..., Outputs]:
    """Attention's backward with one step changed; `there` and `then` are the roots of the two ways."""

    def answer(dy: Array, q: Array, k: Array, v: Array) -> Outputs:
        w = softmax(q @ k.swapaxes(-1, -2) / there(q.shape[-1]))
        ds = back(dy @ v.swapaxes(-1, -2), w) / then(q.shape[-1])
        return ds @ k, ds.swapaxes(-1, -2) @ q, gathered(w, dy)

    return answer


def _exchanged(dy: Array, q: Array, k: Array, v: Array) -> Outputs:
    dq, dk, dv = reference(dy, q, k, v)
    return dk, dq, dv


def _one(K: int) -> float:
    return 1.0


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence, returns=RETURNS)
    for name, answer, sentence in (
        (
            "√K forgotten on the way back",
            _walk(then=_one),
            "The scores were divided by √K on the way there. A factor on the way there is a factor on the "
            "way back: divide ds by √K, too.",
        ),
        (
            "no √K at all",
            _walk(there=_one, then=_one),
            "The scores are q · kᵀ/√K. Without the root the weights are others, and so is everything else.",
        ),
        (
            "softmax passed over",
            _walk(back=lambda dw, w: dw),
            "dw went to q and k as it was. Between the weights and the scores stands the softmax: walk back "
            "through it.",
        ),
        (
            "softmax entry by entry",
            _walk(back=lambda dw, w: dw * w * (1.0 - w)),
            "The softmax was taken entry by entry. Each score moves all weights of its query.",
        ),
        (
            "softmax without its mean",
            _walk(back=lambda dw, w: dw * w),
            "From dw, the mean of the query that its weights make is taken away before the product with w.",
        ),
        (
            "weights not transposed",
            _walk(gathered=lambda w, dy: w @ dy),
            "For dv, the weights (T, S) have to be transposed: value s gets what comes back from each query "
            "t that used it.",
        ),
        (
            "queries and keys exchanged",
            _exchanged,
            "What you return as the gradient of q is that of k, and the other way round.",
        ),
        (
            "largest score not subtracted",
            _walk(softmax=lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)),
            "The exponential of a score above 709 is infinite, and ∞ / ∞ is not a number. Subtract each "
            "query's largest score first: the weights stay the same.",
        ),
    )
)

_V_HINTS: Hints = (
    "Value s is gathered by each query t with the weight w[t, s]. What comes back to it?",
    "dv[s] is the sum over the queries of w[t, s]·dy[t]: a product with the weights transposed.",
    "Compute the weights as on the way there, swap their last two axes, and multiply by `dy`.",
)
_Q_HINTS: Hints = (
    "The walk back has three steps: from y to the weights, to the scores, to q. Which do you have?",
    "dw = dy · vᵀ; ds by the softmax's backward; each score is q · kᵀ/√K, so that dq = ds · k/√K.",
    "Multiply `dy` by `v` with its last axes swapped, send it through the softmax's backward, divide by √K "
    "and multiply by `k`.",
)
_K_HINTS: Hints = (
    "Which queries used key s, and with what?",
    "Key s meets all queries: dk[s] is the sum over t of ds[t, s]·q[t]/√K.",
    "As for q, but with ds transposed, and `q` in place of `k`.",
)

_BOTH = (HEADS, HEADS_32, SELF)

EXERCISE = Exercise(
    id="backward.scaled_dot_product",
    answer="attention_backward",
    title="Attention, backward",
    level="stretch",
    minutes=20,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=RETURNS,
    properties=(
        values("dv", "the gradient of the values", 1.25, on=_BOTH, output=2, hints=_V_HINTS),
        values("dq", "the gradient of the queries", 1.25, on=_BOTH, output=0, hints=_Q_HINTS),
        values("dk", "the gradient of the keys", 1.25, on=_BOTH, output=1, hints=_K_HINTS),
        values("one head", "takes (T, K) without heads too", 0.25, on=(ONE_HEAD,), requires=("dq",)),
        values("huge", "huge scores do no harm", 0.5, on=(HUGE,), requires=("dv",), output=2),
        dtype_kept(0.25, of="q", requires=RETURNS),
        inputs_unchanged(0.25, requires=RETURNS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write the way there in three lines: scores, weights, output. Then walk it from the end.",
        "The output is w · v, which gives dv and dw; the softmax turns dw into ds; the scores are q · kᵀ/√K, "
        "which gives dq and dk.",
        "dv is wᵀ·dy; dw is dy·vᵀ; ds is w times dw less its weighted mean; dq is ds·k/√K; dk is dsᵀ·q/√K.",
    ),
    withheld=("transformer_block",),
)
