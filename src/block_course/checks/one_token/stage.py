"""`one_token.stage`: attention, the sum behind it and the norm behind that, for all tokens of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.outputs import on_cases, output_of
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.checks.wording import entry, two_numbers
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Outputs, Property, Run
from block_course.tolerance import case_tolerance, first_difference

RETURNS = ("attended", "add_1", "norm_1")
SENTENCE, WIDER, WIDER_32 = "two features", "more features", "more features in float32"
_ALL = (SENTENCE, WIDER, WIDER_32)
CONDITION = 30.0


def reference(x: Array, placed: Array, query: Array, key: Array, value: Array) -> Outputs:
    """softmax(q · kᵀ / √D) · v of x; placed plus that; the layer norm of the sum, in float64."""
    x, placed, query, key, value = (each.astype(np.float64) for each in (x, placed, query, key, value))
    scores = (x @ query.T) @ (x @ key.T).T / np.sqrt(len(query))
    shares = np.exp(scores)
    attended = shares / shares.sum(axis=1, keepdims=True) @ (x @ value.T)
    add_1 = placed + attended
    return attended, add_1, _normed(add_1)


def _normed(x: Array, axis: int = -1, eps: float = 1e-5) -> Array:
    variance = x.var(axis=axis, keepdims=True)
    return np.asarray((x - x.mean(axis=axis, keepdims=True)) / np.sqrt(variance + eps))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """A sentence on two features, as in the chapter, and wider ones."""
    T, D = int(rng.integers(6, 9)), int(rng.integers(3, 6))
    return [
        _case(SENTENCE, _drawn(rng, T, 2)),
        _case(WIDER, _drawn(rng, T, D)),
        _case(WIDER_32, [each.astype(np.float32) for each in _drawn(rng, T, D)]),
    ]


def _drawn(rng: np.random.Generator, T: int, D: int) -> list[Array]:
    """Embeddings, the same with positions, and three matrices; no sum's spread is small."""
    while True:
        x = rng.normal(size=(T, D))
        placed = x + rng.uniform(0.4, 0.9, (T, D)) * rng.choice([-1.0, 1.0], (T, D))
        matrices = [rng.normal(size=(D, D)) for _ in range(3)]
        if np.min(reference(x, placed, *matrices)[1].std(axis=-1)) > 0.2:
            return [x, placed, *matrices]


def _case(name: str, given: Sequence[Array]) -> Case:
    arguments = dict(zip(("x", "placed", "query", "key", "value"), given, strict=True))
    return Case(name=name, arguments=arguments, condition=CONDITION)


Summed = Callable[[Array, Array, Array], Array]


def _walk(
    *,
    placed_read: bool = False,
    root: float = 0.5,
    shared: int = -1,
    summed: Summed = lambda x, placed, attended: placed + attended,
    normed: Callable[[Array], Array] = _normed,
) -> Callable[..., Outputs]:
    """The three stages with one of them made otherwise."""

    def answer(x: Array, placed: Array, query: Array, key: Array, value: Array) -> Outputs:
        read = placed if placed_read else x
        scores = (read @ query.T) @ (read @ key.T).T / x.shape[-1] ** root
        shares = np.exp(scores - scores.max(axis=shared, keepdims=True))
        attended = shares / shares.sum(axis=shared, keepdims=True) @ (read @ value.T)
        add_1 = summed(x, placed, attended)
        return attended, add_1, normed(add_1)

    return answer


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence, returns=RETURNS)
    for name, answer, sentence in (
        (
            "attention reads the positions",
            _walk(placed_read=True),
            "You make queries, keys and values of the tokens with their positions. In this walk attention "
            "reads the embeddings alone; the positions join at the sum.",
        ),
        (
            "no root in the scores",
            _walk(root=0.0),
            "The scores were not divided by the root of the number of features.",
        ),
        (
            "softmax over the queries",
            _walk(shared=0),
            "The weights of one token sum to 1 over those it looks at: row t of the weights, the last axis.",
        ),
        (
            "position lost at the sum",
            _walk(summed=lambda x, placed, attended: x + attended),
            "You add attention's answer to the embedding. What runs past attention is the token with its "
            "position.",
        ),
        (
            "skip forgotten",
            _walk(summed=lambda x, placed, attended: attended.copy()),
            "That is attention's answer alone. The token itself, with its position, is added to it.",
        ),
        (
            "norm over the tokens",
            _walk(normed=lambda x: _normed(x, 0)),
            "Your norm takes mean and variance over the tokens. A layer norm looks at the features of one "
            "token.",
        ),
        (
            "mean subtracted, scale kept",
            _walk(normed=lambda x: x - x.mean(axis=-1, keepdims=True)),
            "The mean is gone, and the spread is still what it was. Divide by the root of the variance.",
        ),
    )
)


def _follows(output: int, before: str, rule: Callable[[Case, Array], Array]) -> Property:
    """An output is what it should be by the answer's own output before it."""
    name = RETURNS[output]

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in on_cases(run, _ALL):
            (one, complaint), (got, other) = (
                output_of(exercise, case, seen, i) for i in (output - 1, output)
            )
            if one is None or got is None:
                return Failure(case=case.name, message=complaint or other)
            placed = np.asarray(case.arguments["placed"])
            if one.shape != placed.shape or got.shape != placed.shape:
                return Failure(case=case.name, message="a stage has two numbers or more for each token")
            wanted = rule(case, one.astype(np.float64))
            coarser = min(one, got, key=lambda each: each.itemsize)
            where = first_difference(got, wanted, 2.0 * case_tolerance(case, wanted, given=coarser))
            if where is not None:
                is_now, should_be = two_numbers(got[where], wanted[where])
                said = (
                    f"by your {before}, entry {entry(where)} of {name} should be {should_be}; it is {is_now}"
                )
                return Failure(case=case.name, message=said)
        return None

    title = {"add_1": "the sum of the placed token and your attention", "norm_1": "the norm of your sum"}[
        name
    ]
    hints = {"add_1": _SUM_HINTS, "norm_1": _NORM_HINTS}[name]
    return Property(name=name, title=title, points=0.75, holds=holds, hints=hints)


_SUM_HINTS: Hints = (
    "What runs past attention on the skip?",
    "The token with its position, `placed`. It is added to what attention answered.",
    "Add `placed` and what attention gave.",
)
_NORM_HINTS: Hints = (
    "Over which axis does a layer norm take its mean, and what is divided by what?",
    "Each token's own features: mean 0 and variance 1 afterward. Eps, 1e-5, stands inside the root.",
    "Subtract each row's mean, and divide by the root of its variance plus 1e-5.",
)

EXERCISE = Exercise(
    id="one_token.stage",
    answer="first_half",
    title="Three stages",
    level="core",
    minutes=12,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=RETURNS,
    properties=(
        values("attended", "attention's answer", 1.5, on=_ALL, output=0),
        _follows(1, "attention", lambda case, attended: np.asarray(case.arguments["placed"]) + attended),
        _follows(2, "add_1", lambda case, add_1: _normed(add_1)),
        values("walk", "the three together", 0.5, on=_ALL, output=2, requires=RETURNS),
        dtype_kept(0.25, of="x", requires=RETURNS),
        inputs_unchanged(0.25, requires=RETURNS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Of what are queries, keys and values made in the chapter's walk, and over which axis do the weights "
        "of one token sum to 1?",
        "Queries are x times the query matrix transposed, and so on. The scores are divided by √D and go "
        "through a softmax over the last axis; the weights average the values.",
        "Multiply `x` by each matrix transposed; product of queries with keys transposed, over √D; softmax "
        "of each row; product with the values.",
    ),
    withheld=("transformer_block",),
)
