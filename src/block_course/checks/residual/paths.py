"""`residual.paths`: predictions of how many paths lead through a stack, and what silence does to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import factorial

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.residual.right import paths
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints

NAMES = ("paths", "with_k", "through_one", "alive", "no_skips", "no_skips_alive")


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The sixteen layers of the chapter, and others; at least one branch is silent, and not all."""
    drawn = []
    for L in rng.permutation(np.arange(5, 13))[:3]:
        k, silent = rng.permutation(np.arange(2, L - 1))[:2]
        drawn.append((int(L), int(k), int(silent)))
    return [
        Case(name=f"{L} layers, k = {k}, {silent} silent", arguments={"L": L, "k": k, "silent": silent})
        for L, k, silent in [(16, 5, 3), *drawn]
    ]


_wrong = partial(changed, reference=paths, returns=NAMES)

MISCONCEPTIONS = (
    _wrong(
        "choices added up",
        sentence="You count {mine} paths through {L} layers. At each layer a path takes the branch or the "
        "skip, whatever it took before: the choices multiply.",
        paths=lambda s: 2 * s.L,
    ),
    _wrong(
        "path of the skips not counted",
        sentence="You count {mine} paths through {L} layers: all but one. The one that takes every skip is a "
        "path too, the I of the product.",
        paths=lambda s: 2**s.L - 1,
    ),
    _wrong(
        "order counted",
        sentence="You count {mine} paths with {k} branches of {L}. Which branches a path takes makes it "
        "another path; their order is given, from the top down.",
        with_k=lambda s: factorial(s.L) // factorial(s.L - s.k),
    ),
    _wrong(
        "k choices of two",
        sentence="You count {mine} paths with {k} branches of {L}, two to the power {k}. What is to be "
        "counted is the ways to choose {k} layers of {L}.",
        with_k=lambda s: 2**s.k,
    ),
    _wrong(
        "through one branch alone",
        sentence="You count {mine} path through one given branch. It may take others besides: at each of the "
        "other layers it has its choice.",
        through_one=lambda s: 1,
    ),
    _wrong(
        "one path less for each silent branch",
        sentence="You leave {mine} paths with {silent} silent branches. A silent branch takes all paths with "
        "it that lead through it, which is half of them.",
        alive=lambda s: 2**s.L - s.silent,
    ),
    _wrong(
        "silence kills everything",
        sentence="You leave {mine} paths with {silent} silent branches of {L}. Each of these layers still "
        "has its skip.",
        alive=lambda s: 0,
    ),
    _wrong(
        "silent branches counted in place of the others",
        sentence="You leave {mine} paths with {silent} silent branches of {L}. The choice is left at the "
        "layers whose branch is not silent.",
        alive=lambda s: 2**s.silent,
    ),
    _wrong(
        "paths without skips",
        sentence="You count {mine} paths in a stack without skips. There is nothing to choose there: one "
        "path, through all branches.",
        no_skips=lambda s: s.L,
    ),
    _wrong(
        "no skips, and alive",
        sentence="You leave {mine} path alive without skips. It leads through every branch, and some of them "
        "are silent.",
        no_skips_alive=lambda s: 1,
    ),
)

_ALIVE_HINTS: Hints = (
    "At how many layers is there still a choice?",
    "A layer whose branch is silent can be passed by its skip alone. The other layers have two ways each.",
    "Take 2 to the power of L − silent.",
)
_K_HINTS: Hints = (
    "In how many ways can k layers be chosen of L?",
    "That is the binomial coefficient, L over k. In Python `math.comb` knows it.",
    "Divide L! by k! and by (L − k)!.",
)

EXERCISE = Exercise(
    id="residual.paths",
    answer="paths",
    title="Paths through a stack",
    level="core",
    minutes=8,
    framework="numpy",
    reference=paths,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("paths", "all paths", 0.5, of=("paths",)),
        entries("with_k", "those of a given length", 1.0, of=("with_k",), hints=_K_HINTS),
        entries("through_one", "those through one given branch", 0.5, of=("through_one",)),
        entries("alive", "those that silent branches leave", 0.5, of=("alive",), hints=_ALIVE_HINTS),
        entries("no_skips", "without skips", 0.5, of=("no_skips", "no_skips_alive")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "At each layer a path takes the branch or the skip. How many choices is that?",
        "L choices of two make 2 to the power L. A branch that is given, or silent, takes one choice away. "
        "Without skips there is no choice.",
        "2**L; the ways to choose k of L; 2**(L − 1); 2**(L − silent); and one path, which one silent branch "
        "is enough to kill.",
    ),
)
