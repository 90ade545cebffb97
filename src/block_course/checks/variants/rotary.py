"""`variants.rotary`: queries and keys turned by where they stand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.outputs import on_cases, output_of, wrong_shape
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.checks.variants.turns import BASE, WAYS
from block_course.checks.wording import two_numbers
from block_course.exercise import Argument, Array, Case, Exercise, Failure, Hints, Outputs, Property, Run
from block_course.tolerance import case_tolerance, first_difference

START, START_64 = "positions from 0", "positions from 0, in float64"
MOVED, GAPS, OTHER_BASE = "the same from a later position", "positions with gaps", "another base"
FAR = "positions near a million, in float32"
NAMES = ("queries", "keys")


def reference(q: Array, k: Array, positions: Array, base: float = BASE) -> Outputs:
    """Pair i, of features i and i + K/2, is turned by position / base^(2i/K), in float64."""
    half = q.shape[-1] // 2
    angles = positions[:, None] / base ** (np.arange(half) / half)
    cosine, sine = np.cos(angles), np.sin(angles)
    turned = []
    for heads in (q.astype(np.float64), k.astype(np.float64)):
        a, b = heads[..., :half], heads[..., half:]
        turned.append(np.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1))
    return tuple(turned)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """From 0 and from later, with gaps, another base; then features and positions too fine for float32."""
    H, G = ((4, 2), (6, 3))[rng.integers(2)]
    T, K = int(rng.choice([5, 7])), int(rng.choice([8, 10]))
    wide = rng.normal(size=(H, T, K)), rng.normal(size=(G, T, K))
    q, k = (each.astype(np.float32) for each in wide)
    others = [rng.normal(size=(heads, T, K)).astype(np.float32) for heads in (H, G)]
    start, later = np.arange(T), int(rng.integers(20, 60))
    gaps = np.sort(rng.choice(np.arange(3, 90), T, replace=False))
    far = 1_000_000 + rng.integers(0, 1000, T)
    return [
        _case(START, q, k, start),
        _case(MOVED, q, k, start + later),
        _case(GAPS, others[0], others[1], gaps),
        _case(OTHER_BASE, q, k, gaps, base=float(rng.uniform(300.0, 700.0))),
        _case(START_64, *wide, start, extreme=True),
        _case(FAR, q, k, far, condition=4.0, extreme=True),
    ]


def _case(
    name: str,
    q: Array,
    k: Array,
    positions: Array,
    *,
    base: float | None = None,
    condition: float | None = None,
    extreme: bool = False,
) -> Case:
    # an angle's rounding error grows with the position
    magnified = float(positions.max()) + 4.0 if condition is None else condition
    given = {} if base is None else {"base": base}
    arguments: dict[str, Argument] = {"q": q, "k": k, "positions": positions, **given}
    return Case(name=name, arguments=arguments, condition=magnified, extreme=extreme)


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence, returns=NAMES, tells=lambda case: case.name == MOVED)
    for name, answer, sentence in WAYS
)


def _distances(points: float) -> Property:
    """Scores of queries with keys, on outputs of the answer itself, are the same from any position on."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        scores: list[Array] = []
        turned: list[Array] = []
        for case, seen in on_cases(run, (START, MOVED)):
            heads = []
            for index, name in enumerate(("q", "k")):
                got, complaint = output_of(exercise, case, seen, index)
                given = np.asarray(case.arguments[name])
                if got is None:
                    return Failure(case=case.name, message=complaint)
                if got.shape != given.shape:
                    return Failure(case=case.name, message=wrong_shape(exercise, got, given, index, 2))
                heads.append(got.astype(np.float64))
            turned.append(heads[0])
            scores.append(np.einsum("htk,gsk->hgts", *heads))
        if np.array_equal(turned[0], turned[1]):
            return Failure(case=MOVED, message="your queries are the same wherever they stand")
        bound = 2.0 * case_tolerance(case, scores[0], given=got)
        where = first_difference(scores[1], scores[0], bound)
        if where is None:
            return None
        is_now, was = two_numbers(scores[1][where], scores[0][where])
        pair = f"query {where[2]} and key {where[3]}"
        message = f"the product of {pair} was {was} from position 0 and is {is_now} from a later one"
        return Failure(case=MOVED, message=message)

    title = "scores depend on distances alone"
    return Property(name="distances", title=title, points=points, holds=holds, hints=_DISTANCE_HINTS)


_DISTANCE_HINTS: Hints = (
    "Turn one query and one key of two features by hand, at positions 0 and 1, then at 5 and 6. When is "
    "their product the same?",
    "A pair of q turned by tθ and the same pair of k turned by sθ have a product that knows (t − s)θ alone, "
    "if both are turned the same way and their lengths are kept.",
    "Both cosine terms keep their own feature; the sine enters once with minus, in the first feature.",
)
_POSITION_HINTS: Hints = (
    "Which positions do your angles use?",
    "The tokens stand where `positions` says; it may begin anywhere and have gaps.",
    "The angles are `positions[:, None]` over the base to the power of the exponents, (T, K/2).",
)
_FAR_HINTS: Hints = (
    "In which dtype are your angles, before the sine?",
    "A position of 1,000,000 takes most of the digits that float32 has; of the angle's fraction little is "
    "left. And features in float64 deserve angles of sixteen digits.",
    "Leave the angles in float64, and cast their sines and cosines.",
)

EXERCISE = Exercise(
    id="variants.rotary",
    answer="rotate",
    title="Turned by position",
    level="core",
    minutes=15,
    framework="numpy",
    withheld=("transformer_block",),
    reference=reference,
    cases=cases,
    returns=NAMES,
    properties=(
        values("queries", "queries, from position 0", 1.25, on=(START,)),
        values("keys", "keys, from position 0", 0.5, on=(START,), output=1),
        values("positions", "other positions, and gaps", 1.0, on=(MOVED, GAPS), hints=_POSITION_HINTS),
        _distances(0.75),
        values("base", "another base", 0.5, on=(OTHER_BASE,)),
        values(
            "far",
            "positions near a million",
            0.25,
            on=(FAR,),
            slack=1e-4,  # an angle in float64 is off by 1e-10 there, one in float32 by 1e-3 and more
            requires=("queries",),
            hints=_FAR_HINTS,
        ),
        values(
            "double",
            "float64 keeps its digits",
            0.25,
            on=(START_64,),
            requires=("queries",),
            hints=_FAR_HINTS,
        ),
        dtype_kept(0.25, of="q", requires=("queries",)),
        inputs_unchanged(0.25, requires=("queries",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "How many pairs has a head, which two features make pair i, and by which angle is it turned at "
        "position t?",
        "Features i and i + K/2 make pair i, for i from 0 to K/2 − 1. Its angle is t / base^(2i/K), and "
        "(a, b) becomes (a·cos θ − b·sin θ, a·sin θ + b·cos θ).",
        "Angles (T, K/2) from `positions`; cut the heads into two halves; the two lines above; concatenate "
        "on the last axis.",
    ),
)
