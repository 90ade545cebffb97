"""`encoder_decoder.dependence`: which output depends on which input, in three tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import inputs_unchanged
from block_course.checks.properties import Explain, values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

RETURNS = ("encoder", "target", "source")
FULL, PADDED, GAP, LONG = "no padding", "padding at the end", "a gap in the source", "a long target"
_ALL = (FULL, PADDED, GAP, LONG)


def reference(real: Array, T: int) -> Outputs:
    """Full columns with the diagonal; a lower triangle; full columns."""
    encoder = real | np.eye(len(real), dtype=bool)
    target = np.arange(T)[:, None] >= np.arange(T)
    source = np.tile(real, (T, 1))
    return encoder, target, source


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """More source than target tokens, and fewer; real tokens first, or with a gap."""
    S, T = int(rng.integers(6, 9)), int(rng.integers(3, 6))
    gap = np.arange(S) != int(rng.integers(1, S - 1))
    return [
        _case(FULL, np.ones(S, bool), T),
        _case(PADDED, np.arange(S) < S - int(rng.integers(1, 4)), T),
        _case(GAP, gap, T + 1),
        _case(LONG, np.arange(S) < S - 1, S + int(rng.integers(1, 3))),
    ]


def _case(name: str, real: Array, T: int) -> Case:
    return Case(name=name, arguments={"real": real, "T": T})


Table = Callable[[Array, int], Array]


def _with(**tables: Table) -> Callable[..., Outputs]:
    """The right tables with some in another form."""

    def answer(real: Array, T: int) -> Outputs:
        right = dict(zip(RETURNS, reference(real, T), strict=True))
        return tuple((right | {name: made(real, T) for name, made in tables.items()}).values())

    return answer


def _every(rows: int, columns: int) -> Array:
    return np.ones((rows, columns), bool)


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence, returns=RETURNS)
    for name, answer, sentence in (
        (
            "padded tokens that lose themselves",
            _with(encoder=lambda real, T: np.tile(real, (len(real), 1))),
            "Nobody else hears a padded token, but the stream carries each token on to its own output: the "
            "diagonal is True.",
        ),
        (
            "padding heard",
            _with(
                encoder=lambda real, T: _every(len(real), len(real)),
                source=lambda real, T: _every(T, len(real)),
            ),
            "Padded tokens are hidden from all others, in the encoder and from the decoder, at any depth.",
        ),
        (
            "padding heard by the decoder",
            _with(source=lambda real, T: _every(T, len(real))),
            "The decoder doesn't read the padded rows of the memory, and no other row has heard of them.",
        ),
        (
            "an encoder that can't look ahead",
            _with(
                encoder=lambda real, T: np.tri(len(real), dtype=bool) & (real | np.eye(len(real), dtype=bool))
            ),
            "The source is all there from the start: an encoder has no causal mask.",
        ),
        (
            "a decoder that looks ahead",
            _with(target=lambda real, T: _every(T, T)),
            "Target tokens see themselves and those before them. A later one is heard at no depth.",
        ),
        (
            "a target that doesn't hear itself",
            _with(target=lambda real, T: np.tri(T, k=-1, dtype=bool)),
            "Output t hears input t: the causal mask shows each query its own position, and the stream "
            "carries it too.",
        ),
        (
            "a causal mask on the source",
            _with(source=lambda real, T: np.tri(T, len(real), dtype=bool) & real),
            "Each output may ask the whole source, which is complete before the first word is written.",
        ),
        (
            "tables turned",
            _with(
                target=lambda real, T: np.tri(T, dtype=bool).T, source=lambda real, T: np.tile(real, (T, 1)).T
            ),
            "Rows are outputs and columns are inputs.",
        ),
    )
)


def _says(name: str) -> Explain:
    def explain(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
        verb = "hears" if got[index] else "doesn't hear"
        return f"your {name} table says that output {index[0]} {verb} input {index[1]}"

    return explain


_ENCODER_HINTS: Hints = (
    "Which tokens of the source may each of its tokens see, and what does the stream carry along?",
    "Each sees all real ones. A padded token is seen by nobody, and its own output still depends on it.",
    "Repeat the row of real tokens for each output, and make the diagonal True.",
)
_TARGET_HINTS: Hints = (
    "What does a causal mask show to output t, and does depth add to it?",
    "Inputs 0 to t. Whoever is in reach has heard nothing later.",
    "A lower triangle with its diagonal.",
)
_SOURCE_HINTS: Hints = (
    "Which rows of the memory does an output read, and what has each of these heard?",
    "All real rows, and each of them has heard all real tokens of the source and nothing else.",
    "Repeat the row of real tokens for each of the T outputs.",
)

EXERCISE = Exercise(
    id="encoder_decoder.dependence",
    answer="dependence",
    title="Three tables",
    level="core",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=RETURNS,
    properties=(
        values(
            "encoder",
            "encoder by source",
            1.25,
            on=_ALL,
            output=0,
            explain=_says("encoder"),
            hints=_ENCODER_HINTS,
        ),
        values(
            "target",
            "decoder by target",
            1.0,
            on=_ALL,
            output=1,
            explain=_says("target"),
            hints=_TARGET_HINTS,
        ),
        values(
            "source",
            "decoder by source",
            1.25,
            on=_ALL,
            output=2,
            explain=_says("source"),
            hints=_SOURCE_HINTS,
        ),
        inputs_unchanged(0.5, requires=RETURNS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Draw the three masks first. Then ask for each what a second block can add.",
        "Encoder: every token sees the real ones. Decoder: a token sees target tokens up to itself, and all "
        "real rows of the memory. What nobody in reach has heard stays unheard.",
        "Full columns with the diagonal; a lower triangle; full columns.",
    ),
    withheld=("transformer_block",),
)
