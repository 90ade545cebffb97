"""`one_token.one_bit`: which tokens a layer norm makes the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.wording import vector
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

TWO, MORE, QUIET = "two features", "more features", "quiet tokens"
_CLEAR = 0.05
_SAME = 1e-3
"""Entries this near are the same; those of tokens that are not lie at least _CLEAR apart."""
_ROUNDING = 1e-5


def reference(x: Array) -> Array:
    """Whether the normed tokens t and s, without eps, are the same."""
    x = x.astype(np.float64)
    centered = x - x.mean(axis=1, keepdims=True)
    n = centered / centered.std(axis=1, keepdims=True)
    return np.asarray(np.abs(n[:, None] - n[None]).max(axis=2) < _SAME)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Tokens shifted, stretched, turned over, exchanged in two features; and some whose spread is small."""
    T, D = int(rng.integers(6, 9)), int(rng.integers(3, 6))
    return [
        Case(name=TWO, arguments={"x": _apart(rng, T)}),
        Case(name=MORE, arguments={"x": _family(rng, D)}),
        Case(name=QUIET, arguments={"x": _family(rng, D, scale=0.003)}),
    ]


def _apart(rng: np.random.Generator, T: int) -> Array:
    """Tokens of two features that differ clearly, in either order."""
    low, gap = rng.normal(size=T), rng.uniform(2.0, 6.0, T)
    x = np.stack([low, low + gap], axis=-1)
    turned = rng.permutation(T) < T // 2
    return np.where(turned[:, None], x[:, ::-1], x)


def _family(rng: np.random.Generator, D: int, scale: float = 1.0) -> Array:
    """Two tokens with their relatives, shuffled: none of another family is near."""
    while True:
        one, other = rng.normal(size=(2, D))
        relatives = [one, one + 0.7, 2.5 * one, 1.6 * one - 0.4, -one, 1.3 - 0.8 * one]
        swapped = one.copy()
        swapped[np.argsort(one)[:2]] = one[np.argsort(one)[:2][::-1]]
        warped = np.where(one == one.max(), one + 1.0, one)
        x = np.array([*relatives, other, 1.7 * other, swapped, warped])
        n = x - x.mean(axis=-1, keepdims=True)
        spread = n.std(axis=-1, keepdims=True)
        far = np.abs((n / spread)[:, None] - (n / spread)[None]).max(axis=-1)
        if spread.min() > 0.3 and not ((far > 1e-9) & (far < _CLEAR)).any():
            return np.asarray(scale * x[rng.permutation(len(x))] / spread.min())


Kept = Callable[[Array], Array]


def _alike(kept: Kept) -> Callable[..., Array]:
    """Tokens of which the same is kept; not defined where it is a matter of how near counts as the same."""

    def answer(x: Array) -> Array:
        n = kept(x)
        apart = np.abs(n[:, None] - n[None]).max(axis=-1)
        if ((apart > _ROUNDING) & (apart < _SAME)).any():
            raise ValueError("two tokens are neither the same nor clearly apart")
        return np.asarray(apart < _SAME)

    return answer


def _centered(x: Array) -> Array:
    return np.asarray(x - x.mean(axis=-1, keepdims=True))


def _with_eps(x: Array) -> Array:
    return np.asarray(_centered(x) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5))


def _without_sign(x: Array) -> Array:
    n = _centered(x) / x.std(axis=-1, keepdims=True)
    return np.asarray(n * np.sign(n[:, :1]))


def _wrong(name: str, answer: Callable[..., Array], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        x = np.asarray(case.arguments["x"])
        t, s = (int(each) for each in np.argwhere(outputs[0] != reference(x))[0])
        verb = "the same" if outputs[0][t, s] else "different"
        return f"You call {vector(x[t])} and {vector(x[s])} {verb} behind the norm. {sentence}"

    return Misconception(name=name, answer=answer, message=message)


MISCONCEPTIONS = tuple(
    _wrong(name, answer, sentence)
    for name, answer, sentence in (
        (
            "tokens compared, not norms",
            _alike(lambda x: x),
            "They differ before it. What counts is what is left behind it.",
        ),
        (
            "mean alone taken away",
            _alike(_centered),
            "The norm takes the spread away as well as the mean: a token and its double become one.",
        ),
        (
            "spread alone taken away",
            _alike(lambda x: x / x.std(axis=-1, keepdims=True)),
            "The norm takes the mean away as well as the spread: a token and its shifted copy become one.",
        ),
        (
            "direction without its sign",
            _alike(_without_sign),
            "One is the other turned over. The norm keeps on which side of the mean each feature lies.",
        ),
        (
            "one bit of every token",
            _alike(lambda x: np.sign(x[:, :1] - x[:, 1:2])),
            "Which of the first two features is larger is all that two features keep. With more of them the "
            "norm keeps more.",
        ),
        (
            "order of the features",
            _alike(lambda x: np.argsort(np.argsort(x, axis=-1), axis=-1)),
            "Their features stand in the same order of size, or not: with three features or more the norm "
            "keeps the distances too, up to one common factor.",
        ),
        (
            "eps in the way",
            _alike(_with_eps),
            "Their spread is so small that eps, 1e-5, counts beside the variance. Here eps is 0.",
        ),
    )
)

_QUIET_HINTS: Hints = (
    "How large are the variances of these tokens, and what do you add to them?",
    "A spread of 0.003 has a variance of 0.000009, which is less than an eps of 0.00001.",
    "Divide by the spread itself: with eps left out, no token is too quiet.",
)

EXERCISE = Exercise(
    id="one_token.one_bit",
    answer="alike",
    title="What becomes the same",
    level="core",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("two", "tokens of two features", 1.0, on=(TWO,)),
        values("more", "tokens of more features", 1.25, on=(MORE,)),
        values("quiet", "tokens with a small spread", 0.5, on=(QUIET,), hints=_QUIET_HINTS),
        inputs_unchanged(0.25, requires=("two", "more")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What can you do to a token that a layer norm doesn't notice?",
        "Add one number to all its features, or multiply them all by one positive number. Two tokens are "
        "the same behind the norm if the one comes from the other in this way.",
        "Subtract each token's mean and divide by its spread. Then compare each pair, feature by feature, "
        "with a tolerance for rounding.",
    ),
    withheld=("transformer_block",),
)
