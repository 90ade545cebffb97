"""`norm_placement.post_weights_in_pre`: what comes of weights that meet a block of another placement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.norm_placement.right import load
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints

NAMES = ("block", "missing", "unexpected", "stack")
PAIRS = (
    ("post", "pre"),
    ("pre", "post"),
    ("sandwich", "pre"),
    ("pre", "sandwich"),
    ("post", "sandwich"),
    ("sandwich", "post"),
    ("post", "post"),
)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Every way in which two placements can meet, each in a stack of its own depth."""
    depths = rng.choice(np.arange(3, 25), len(PAIRS), replace=False)
    return [
        Case(
            name=f"{source} into {target}, {L} blocks",
            arguments={"source": source, "target": target, "L": int(L)},
        )
        for (source, target), L in zip(PAIRS, depths, strict=True)
    ]


_FINAL = {"pre": 2, "post": 0, "sandwich": 2}


def _more(source: str, target: str) -> int:
    """How many more names a block of the second placement has."""
    return 4 * ((target == "sandwich") - (source == "sandwich"))


def _on_top(source: str, target: str) -> int:
    return _FINAL[target] - _FINAL[source]


def _lacks(case: Case) -> bool:
    """Whether a stack lacks a final norm, and nothing else."""
    source, target = str(case.arguments["source"]), str(case.arguments["target"])
    return _more(source, target) == 0 < _on_top(source, target)


def _grows(case: Case) -> bool:
    """Whether each block lacks a norm."""
    return _more(str(case.arguments["source"]), str(case.arguments["target"])) > 0


_wrong = partial(changed, reference=load, returns=NAMES)

MISCONCEPTIONS = (
    _wrong(
        "final norm forgotten",
        sentence="For {source} weights in a stack of {target} blocks you count {mine} missing names. A stack "
        "whose stream nothing has normalized ends in a norm of its own, with a weight and a bias.",
        tells=_lacks,
        missing=lambda s: s.L * max(_more(s.source, s.target), 0),
        unexpected=lambda s: s.L * max(-_more(s.source, s.target), 0),
        stack=lambda s: load(s.source, s.target, s.L)["block"],
    ),
    _wrong(
        "final norm forgotten",
        sentence="For {source} weights in a stack of {target} blocks you count {mine} missing names. A stack "
        "whose stream nothing has normalized ends in a norm of its own, with a weight and a bias.",
        tells=_lacks,
        missing=lambda s: s.L * max(_more(s.source, s.target), 0),
        unexpected=lambda s: s.L * max(-_more(s.source, s.target), 0),
    ),
    _wrong(
        "a final norm in every placement",
        sentence="You say {mine} of {source} weights in a stack of {target} blocks. The last block of a "
        "post-norm stack ends in a norm, and no other follows it; a pre-norm stack has one more.",
        stack=lambda s: load(s.source, s.target, s.L)["block"],
    ),
    _wrong(
        "a block can tell",
        sentence="You say {mine} of {source} weights in one {target} block. A block is loaded by names, and "
        "pre-norm and post-norm blocks have the same twelve: nothing is raised, and the function is another.",
        block=lambda s: "same" if s.source == s.target else "error",
    ),
    _wrong(
        "what loads is the same",
        sentence="You say {mine} of {source} weights in one {target} block. They load, but the norms stand "
        "elsewhere: the numbers that come out are others.",
        block=lambda s: "error" if _more(s.source, s.target) else "same",
        stack=lambda s: "error" if _more(s.source, s.target) or _on_top(s.source, s.target) else "same",
    ),
    _wrong(
        "one block for all",
        sentence="You count {mine} missing names for {source} weights in a stack of {L} {target} blocks. "
        "Each of the {L} blocks has names of its own.",
        tells=_grows,
        missing=lambda s: max(_more(s.source, s.target), 0) + max(_on_top(s.source, s.target), 0),
        unexpected=lambda s: max(-_more(s.source, s.target), 0) + max(-_on_top(s.source, s.target), 0),
    ),
    _wrong(
        "weights without biases",
        sentence="You count {mine} missing names for {source} weights in a stack of {target} blocks. A norm "
        "has two: a weight and a bias.",
        tells=_grows,
        missing=lambda s: load(s.source, s.target, s.L)["missing"] // 2,  # type: ignore[operator]
        unexpected=lambda s: load(s.source, s.target, s.L)["unexpected"] // 2,  # type: ignore[operator]
    ),
    _wrong(
        "missing and unexpected exchanged",
        sentence="For {source} weights in a stack of {target} blocks you count {mine} missing names. Missing "
        "is what the stack wants and the file lacks; unexpected is what the file has and the stack doesn't "
        "want.",
        tells=_grows,
        missing=lambda s: load(s.source, s.target, s.L)["unexpected"],
        unexpected=lambda s: load(s.source, s.target, s.L)["missing"],
    ),
    _wrong(
        "one norm more in a sandwich",
        sentence="You count {mine} missing names for {source} weights in a stack of {target} blocks. A "
        "sandwich has a second norm on each of its *two* branches.",
        tells=_grows,
        missing=lambda s: s.L * max(_more(s.source, s.target), 0) // 2 + max(_on_top(s.source, s.target), 0),
        unexpected=lambda s: (
            s.L * max(-_more(s.source, s.target), 0) // 2 + max(-_on_top(s.source, s.target), 0)
        ),
    ),
)

_WORD_HINTS: Hints = (
    "By what does loading know whether weights fit, and is the placement part of that?",
    "By names and shapes. Pre-norm and post-norm blocks have the same ones; a sandwich has more.",
    "`error` where the names differ; `same` where source and target are one placement; `other` between.",
)

EXERCISE = Exercise(
    id="norm_placement.post_weights_in_pre",
    answer="load",
    title="Post-norm weights in a pre-norm block",
    level="core",
    minutes=8,
    framework="numpy",
    reference=load,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("block", "what comes of one block", 1.0, of=("block",), hints=_WORD_HINTS),
        entries("missing", "names that the stack lacks", 0.75, of=("missing",)),
        entries("unexpected", "names that it does not want", 0.75, of=("unexpected",)),
        entries("stack", "what comes of a stack", 0.5, of=("stack",), hints=_WORD_HINTS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "List the norms of one block and of the whole stack, for each placement. Where do the lists differ?",
        "A sandwich block has two norms more than the others, four names. Pre-norm and sandwich stacks have "
        "a final norm, two names; a post-norm stack has none.",
        "Count what the target has and the source lacks, and the other way round: four for each block where "
        "one of them is a sandwich, two where only one has a final norm.",
    ),
)
