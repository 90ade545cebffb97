"""`encoder_decoder.beyond`: what a language model holds besides its blocks, by name and by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.selection import among, on
from block_course.exercise import Case, Exercise, Hints, Misconception, Outputs
from block_course.plain import words

RETURNS = ("adds", "numbers")
EMBEDDING, POSITIONS, NORM, OUTPUT = "embedding", "positions", "final norm", "output matrix"
PRE, POST = "pre-norm, learned positions", "post-norm, learned positions"
ROTARY, SINUSOIDAL = "pre-norm, rotary positions", "pre-norm, sinusoidal positions"
TIED, MODERN = "one matrix for words in and out", "post-norm, rotary positions, one matrix"
Table = dict[str, set[str] | int]


def reference(V: int, N: int, D: int, placement: str, positions: str, tied: bool) -> Table:
    """A row for each word; one for each position, if they are learned; a gain and a bias; a row again."""
    sizes = {EMBEDDING: V * D}
    if positions == "learned":
        sizes[POSITIONS] = N * D
    if placement == "pre":
        sizes[NORM] = 2 * D
    if not tied:
        sizes[OUTPUT] = V * D
    return {"adds": set(sizes), "numbers": sum(sizes.values())}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Each choice for itself, and two together."""
    V, N, D = (int(rng.integers(*ends)) for ends in ((100, 999), (20, 60), (4, 16)))
    return [
        _case(PRE, V, N, D, "pre", "learned", False),
        _case(POST, V, N, D, "post", "learned", False),
        _case(ROTARY, V + 3, N, D, "pre", "rotary", False),
        _case(SINUSOIDAL, V, N + 5, D, "pre", "sinusoidal", False),
        _case(TIED, V, N, D + 2, "pre", "learned", True),
        _case(MODERN, V, N, D, "post", "rotary", True),
    ]


def _case(name: str, V: int, N: int, D: int, placement: str, positions: str, tied: bool) -> Case:
    sizes = {"V": V, "N": N, "D": D}
    return Case(name=name, arguments={**sizes, "placement": placement, "positions": positions, "tied": tied})


def _wrong(name: str, answer: Callable[..., Table], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        given = ", ".join(words(outputs[0]))
        return f"For “{case.name}” you name {given}, {int(outputs[1]):,} numbers. {sentence}"

    return Misconception(name=name, answer=answer, message=message)  # type: ignore[arg-type]


def _as_if(**changed: object) -> Callable[..., Table]:
    return lambda **given: reference(**(given | changed))


def _numbers(count: Callable[[int, int, int, Table], int]) -> Callable[..., Table]:
    """The right names with another number."""

    def answer(V: int, N: int, D: int, placement: str, positions: str, tied: bool) -> Table:
        right = reference(V, N, D, placement, positions, tied)
        return right | {"numbers": count(V, N, D, right)}

    return answer


def _plus(right: Table, number: int) -> int:
    return int(right["numbers"]) + number  # type: ignore[arg-type]


def _has(right: Table, name: str) -> bool:
    return name in right["adds"]  # type: ignore[operator]


MISCONCEPTIONS = (
    _wrong(
        "a final norm behind post-norm blocks",
        _as_if(placement="pre"),
        "The last stage of a post-norm block is a norm already. A pre-norm stack needs one at its end.",
    ),
    _wrong(
        "no final norm",
        _as_if(placement="post"),
        "Nothing rescales the stream of a pre-norm stack: a norm of its own stands at the end.",
    ),
    _wrong(
        "positions that need no parameters",
        _as_if(positions="learned"),
        "Rotary and sinusoidal positions are computed, not learned: no parameter belongs to them.",
    ),
    _wrong(
        "positions never counted",
        _as_if(positions="rotary"),
        "Learned positions are a matrix with a row for each of the N places.",
    ),
    _wrong(
        "a matrix that is shared, named twice",
        _as_if(tied=False),
        "Tied means that the embedding is the output matrix: there is one array, and it is counted once.",
    ),
    _wrong(
        "no output matrix",
        _as_if(tied=True),
        "Without tying, a matrix of its own turns each vector into a score for each of the V words.",
    ),
    _wrong(
        "a norm without its bias",
        _numbers(lambda V, N, D, right: _plus(right, -D if _has(right, NORM) else 0)),
        "The norm has a gain and a bias: 2D.",
    ),
    _wrong(
        "an output with a bias",
        _numbers(lambda V, N, D, right: _plus(right, V if _has(right, OUTPUT) else 0)),
        "The output matrix of this model has no bias.",
    ),
)

_ALL = (PRE, POST, ROTARY, SINUSOIDAL, TIED, MODERN)
_NUMBER_HINTS: Hints = (
    "Which shape has each of the arrays that you name?",
    "The embedding and the output matrix are (V, D), learned positions are (N, D), and a norm has two "
    "vectors of D.",
    "Add the sizes of those that are there in this model.",
)

EXERCISE = Exercise(
    id="encoder_decoder.beyond",
    answer="beyond",
    title="Beyond the blocks",
    level="warm-up",
    minutes=8,
    framework="numpy",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=RETURNS,
    properties=(
        on(among(PRE), entries("pre", "a pre-norm model", 0.75, of=("adds",))),
        on(among(POST), entries("post", "a post-norm model", 0.5, of=("adds",))),
        on(among(ROTARY, SINUSOIDAL), entries("places", "positions that are computed", 0.5, of=("adds",))),
        on(among(TIED, MODERN), entries("tied", "words in and out by one matrix", 0.5, of=("adds",))),
        on(among(*_ALL), entries("numbers", "how many numbers", 0.75, of=("numbers",), hints=_NUMBER_HINTS)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "A word comes in as a number and goes out as a score. What lies between that and the blocks?",
        "An embedding; something that tells the order; blocks; a norm if nothing has normed the stream; a "
        "matrix that makes scores. Which of these hold parameters of their own here?",
        "The embedding always; positions if they are learned; the final norm if the blocks are pre-norm; the "
        "output matrix if it is not tied.",
    ),
)
