"""`attention.multi_head`: self-attention in several heads, from the matrices `qkv` and `out`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from block_course.checks.attention import variants
from block_course.checks.attention.drawn import CONDITION, bias, matrix, misconception, sizes, tokens
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import Explain, paired, values
from block_course.checks.wording import entry, two_numbers
from block_course.exercise import Argument, Array, Case, Exercise, Hints

BATCH, BATCH_32, SEQUENCE, ONE_TOKEN = "a batch", "a batch in float32", "one sequence", "one token"
SHUFFLED, REPLACED, OUT_BIAS = "the batch shuffled", "the batch with a token replaced", "another bias of out"


def reference(x: Array, qkv: Array, qkv_bias: Array, out: Array, out_bias: Array, n_heads: int) -> Array:
    """Compute merge(softmax(q · kᵀ / √K) · v) · outᵀ + out_bias in float64."""
    x, qkv, qkv_bias = x.astype(np.float64), qkv.astype(np.float64), qkv_bias.astype(np.float64)
    projected = x @ qkv.T + qkv_bias
    heads = projected.reshape(*x.shape[:-1], 3, n_heads, x.shape[-1] // n_heads)
    q, k, v = np.moveaxis(heads, -3, 0)
    shares = np.exp(np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1]))
    weights = shares / shares.sum(axis=-1, keepdims=True)
    merged = np.einsum("...hts,...shk->...thk", weights, v).reshape(x.shape)
    return np.asarray(merged @ out.astype(np.float64).T + out_bias.astype(np.float64))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """A batch, and the same with its tokens in another order, one replaced, or another bias; one token.

    The sequence without a batch axis breaks answers that name three axes, and diagnosis passes it over.
    """
    size = sizes(rng)
    D = size.D
    given = {
        "qkv": matrix(rng, 3 * D, D),
        "qkv_bias": bias(rng, 3 * D),
        "out": matrix(rng, D, D),
        "out_bias": bias(rng, D),
    }
    in_32 = {name: value.astype(np.float32) for name, value in given.items()}
    x = tokens(rng, size)
    replaced = x.copy()
    replaced[0, 2] = rng.normal(size=D)
    return [
        _case(BATCH, x, given, size.H),
        _case(BATCH_32, tokens(rng, size, np.float32), in_32, size.H),
        _case(SHUFFLED, x[:, ::-1].copy(), given, size.H),
        _case(REPLACED, replaced, given, size.H),
        _case(OUT_BIAS, x, {**given, "out_bias": bias(rng, D)}, size.H),
        _case(SEQUENCE, x[1].copy(), given, size.H, extreme=True),
        _case(ONE_TOKEN, x[:, 3:4].copy(), given, size.H),
    ]


def _case(name: str, x: Array, given: dict[str, Array], n_heads: int, *, extreme: bool = False) -> Case:
    arguments: dict[str, Argument] = {"x": x, **given, "n_heads": n_heads}
    return Case(name=name, arguments=arguments, condition=CONDITION, extreme=extreme)


def _in_the_same_order(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return y[:, ::-1]


def _with_the_other_bias(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    one, other = (np.asarray(case.arguments["out_bias"]) for case in (before, after))
    return np.asarray(y - one + other)


def _said(sentence: str) -> Explain:
    def explain(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
        is_now, should_be = two_numbers(got[index], expected[index])
        return sentence.format(entry=entry(index), is_now=is_now, should_be=should_be)

    return explain


def _with_biases(*, of_qkv: float = 0.0, of_out: float = 0.0) -> Callable[..., Array]:
    """With so much of each bias."""
    return lambda x, qkv, qkv_bias, out, out_bias, n_heads: variants.attention(
        x, qkv, of_qkv * qkv_bias, out, of_out * out_bias, n_heads
    )


def _out_transposed(
    x: Array, qkv: Array, qkv_bias: Array, out: Array, out_bias: Array, n_heads: int
) -> Array:
    return variants.attention(x, qkv, qkv_bias, out.T, out_bias, n_heads)


def _one_head(x: Array, qkv: Array, qkv_bias: Array, out: Array, out_bias: Array, n_heads: int) -> Array:
    return variants.attention(x, qkv, qkv_bias, out, out_bias, 1)


_VARIED = partial(partial, variants.attention)
_BARE_CUT = (
    "Queries, keys and values, (T, D), were reshaped to (H, T, K) as they lie, so that each head holds "
    "pieces of other tokens. Reshape to (T, H, K), then swap T and H."
)

MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "no √K",
            _VARIED(root_of=lambda K, D: 1.0),
            "The scores were not divided by √K, the root of the width of one head.",
        ),
        (
            "√D for √K",
            _VARIED(root_of=lambda K, D: D),
            "The scores were divided by √D. A score is a sum of K products, K = D / H: divide by √K.",
        ),
        (
            "softmax over the queries",
            _VARIED(softmax=variants.softmax_over(-2)),
            "The softmax runs over the queries. The weights of one query sum to 1 over the keys.",
        ),
        (
            "heads not transposed back",
            _VARIED(merge=variants.bare_merge),
            "What the heads gathered, (H, T, K), was reshaped as it was, which mixes positions. Swap H and T "
            "first.",
        ),
        (
            "cut by a bare reshape",
            _VARIED(cut=variants.bare_cut, merge=variants.bare_merge),
            _BARE_CUT,
        ),
        (
            "cut by a bare reshape",
            _VARIED(cut=variants.bare_cut),
            _BARE_CUT,
        ),
        (
            "heads before q, k and v",
            _VARIED(cut=variants.heads_first),
            "The projection was cut into heads first, and each head into q, k and v. Its features are all "
            "queries, then all keys, then all values.",
        ),
        (
            "queries and keys exchanged",
            _VARIED(cut=variants.keys_first),
            "The first third of the projection was taken for the keys. Queries come first, then keys, then "
            "values.",
        ),
        (
            "out transposed",
            _out_transposed,
            "`out` is (out, in), as `qkv` is: multiply by its transpose from the right.",
        ),
        (
            "bias of qkv left out",
            _with_biases(of_out=1.0),
            "`qkv_bias` is missing: it is added to the projection, before it is cut.",
        ),
        (
            "bias of out left out",
            _with_biases(of_qkv=1.0),
            "`out_bias` is missing: it is added at the end, to each token.",
        ),
        (
            "no bias",
            _with_biases(),
            "Neither bias was added: one belongs to the projection, the other to the end.",
        ),
        (
            "one head",
            _one_head,
            "All D features were compared at once. There are H heads, each with its own pattern.",
        ),
    )
)

_TOKEN_HINTS: Hints = (
    "With one token there is one key. What is its weight?",
    "The weight of a single key is 1, whatever the scores. What is left is the values, the last third of the "
    "projection, and the output matrix.",
    "Cut the projection of `x` in three, take the third part, and multiply it by the transpose of `out`; add "
    "both biases where they belong.",
)

EXERCISE = Exercise(
    id="attention.multi_head",
    answer="multi_head",
    title="Self-attention in several heads",
    level="core",
    minutes=20,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values(
            "one token",
            "one token: values and output, no pattern",
            1.0,
            on=(ONE_TOKEN,),
            hints=_TOKEN_HINTS,
        ),
        paired(
            "order",
            "tokens in another order give outputs in that order",
            0.5,
            pairs=((BATCH, SHUFFLED),),
            alive=(BATCH, REPLACED),
            expect=_in_the_same_order,
            explain=_said("the tokens were turned round, and entry {entry} is {is_now} and not {should_be}"),
        ),
        paired(
            "bias",
            "the bias of out is added to each token",
            0.5,
            pairs=((BATCH, OUT_BIAS),),
            alive=(BATCH, REPLACED),
            expect=_with_the_other_bias,
            explain=_said("with another bias, entry {entry} is {is_now} and not {should_be}"),
        ),
        values("whole", "several tokens in several heads", 2.0, on=(BATCH, BATCH_32)),
        values("sequence", "takes one sequence (T, D) too", 0.5, on=(SEQUENCE,), requires=("whole",)),
        dtype_kept(0.25, of="x", requires=("whole",)),
        inputs_unchanged(0.25, requires=("whole",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Follow the shapes: (T, D), (T, 3D), three times (H, T, K), (H, T, T), (H, T, K), (T, D), (T, D). "
        "Where does yours leave them?",
        "Project, cut in three, cut each into heads; each head gathers by its own weights; lay the heads of "
        "a token side by side; multiply by the output matrix.",
        "`x` times the transpose of `qkv` plus `qkv_bias`; split in three; your `heads` or the same steps; "
        "your `scaled_dot_product`; swap heads and tokens, reshape; times the transpose of `out`, plus "
        "`out_bias`.",
    ),
    withheld=("transformer_block",),
)
