"""`audit.mend`: a module with three faults that no shape shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from block_course.checks.audit.mend_reference import IN_TRAINING, reference
from block_course.checks.block.parameters import (
    CONDITION,
    Parameters,
    Sizes,
    first_numbers,
    parameters,
    sizes,
)
from block_course.checks.kept import dtype_kept
from block_course.checks.properties import paired, values
from block_course.checks.wording import entry, two_numbers
from block_course.exercise import Argument, Array, Case, Exercise, Hints, Misconception, Outputs

GATE, NORM, BATCH, FUTURE = (
    "norms silenced",
    "single tokens",
    "a batch",
    "the batch with its last token replaced",
)
RATE, RATE_32 = "the batch at rate 1", "another batch at rate 1, in float32"
TRAINING, DROPPED = "training at rate 0", "training at rate 1"
_IN_EVALUATION = 2


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """What shows each fault alone, then all of it, in both modes; rates 0 and 1 leave nothing to chance."""
    size = sizes(rng)
    drawn = parameters(rng, size)
    in_32 = {name: value.astype(np.float32) for name, value in parameters(rng, size).items()}
    x, other = (_tokens(rng, size, _IN_EVALUATION) for _ in range(2))
    replaced = np.concatenate([x[:, :-1], other[:, -1:]], axis=1)
    trained, dropped = (_tokens(rng, size, IN_TRAINING) for _ in range(2))
    gains = {name: np.zeros_like(drawn[name]) for name in ("norm_1.weight", "norm_2.weight")}
    return [
        _case(GATE, other, size, {**drawn, **gains}),
        _case(NORM, other[:, :1], size, drawn),
        _case(BATCH, x, size, drawn),
        _case(FUTURE, replaced, size, drawn),
        _case(RATE, x, size, drawn, rate=1.0),
        _case(RATE_32, other.astype(np.float32), size, in_32, rate=1.0),
        _case(TRAINING, trained, size, drawn, train=True),
        _case(DROPPED, dropped, size, drawn, rate=1.0, train=True),
    ]


def _tokens(rng: np.random.Generator, size: Sizes, items: int) -> Array:
    return np.asarray(rng.normal(size=(items, size.T, size.D)) + rng.uniform(-1.5, 1.5, (items, size.T, 1)))


def _case(
    name: str, x: Array, size: Sizes, state: Parameters, *, rate: float = 0.0, train: bool = False
) -> Case:
    init = {"d_model": size.D, "n_heads": size.H, "d_ff": size.F, "dropout": rate}
    return Case(name=name, arguments={"x": x}, condition=CONDITION, init=init, state=state, train=train)


def _faulty(
    *, unmasked: str = "", sample: bool = False, dropping: bool = False, never: bool = False
) -> Callable[..., Array]:
    """The block with faults: no mask in one mode, D − 1 in its norms, dropout always or never."""

    def answer(init: Mapping[str, Argument], state: Mapping[str, Array], x: Array) -> Array:
        training = len(x) == IN_TRAINING
        p, rate = dict(state), init["dropout"] if (training and not never) or dropping else 0.0
        D, eps = x.shape[-1], 1e-5
        if sample:  # a variance that divides by D − 1 is the right one of a smaller gain and eps
            p |= {name: p[name] * np.sqrt((D - 1) / D) for name in ("norm_1.weight", "norm_2.weight")}
            eps *= (D - 1) / D
        if rate == 1.0:  # the last update is dropped whole
            p |= {name: np.zeros_like(p[name]) for name in p if name.startswith("feed_forward.down")}
        init = {**init, "dropout": 0.0}
        if unmasked != ("training" if training else "evaluation"):
            return reference(init, p, x, eps=eps)
        return np.concatenate([_reading_all(init, p, x, t, eps) for t in range(x.shape[1])], axis=1)

    return answer


def _reading_all(init: Mapping[str, Argument], p: Mapping[str, Array], x: Array, t: int, eps: float) -> Array:
    """Token t where it sees all others: as the last of them, since their order doesn't matter."""
    moved = np.concatenate([x[:, :t], x[:, t + 1 :], x[:, t : t + 1]], axis=1)
    return reference(init, p, moved, eps=eps)[:, -1:]


def _wrong(name: str, answer: Callable[..., Array], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        right = reference(case.init, case.state, np.asarray(case.arguments["x"]))
        return f"For “{case.name}”, {first_numbers(case, outputs, right)}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)


_MASK_LEFT = "The mask stands in a branch that training alone takes."
_DROP_LEFT = "`functional.dropout` drops in evaluation too, unless it is told the mode."
_SAMPLE_LEFT = "The variance divides by D − 1."
MISCONCEPTIONS = (
    _wrong(
        "nothing mended",
        _faulty(unmasked="evaluation", sample=True, dropping=True),
        "All three faults are still there. Audit the block, mend what is named first, and audit again.",
    ),
    _wrong(
        "mask and dropout left",
        _faulty(unmasked="evaluation", dropping=True),
        f"The norm is right now. {_MASK_LEFT} {_DROP_LEFT}",
    ),
    _wrong(
        "dropout and variance left",
        _faulty(sample=True, dropping=True),
        f"The mask is there now. {_DROP_LEFT} {_SAMPLE_LEFT}",
    ),
    _wrong(
        "mask and variance left",
        _faulty(unmasked="evaluation", sample=True),
        f"Nothing is dropped in evaluation any more. {_MASK_LEFT} {_SAMPLE_LEFT}",
    ),
    _wrong("dropout left on", _faulty(dropping=True), f"Two faults are mended. {_DROP_LEFT}"),
    _wrong(
        "mask dropped in evaluation", _faulty(unmasked="evaluation"), f"Two faults are mended. {_MASK_LEFT}"
    ),
    _wrong("sample variance", _faulty(sample=True), f"Two faults are mended. {_SAMPLE_LEFT}"),
    _wrong(
        "dropout taken out",
        _faulty(never=True),
        "In training nothing is dropped any more. The block was meant to drop there, at its rate; in "
        "evaluation it must not.",
    ),
    _wrong(
        "mask in evaluation alone",
        _faulty(unmasked="training"),
        "The branch is turned over: the mask is there in evaluation now and missing in training. A causal "
        "block has it in both.",
    ),
)


def _as_before(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return y


def _unchanged_before_the_last(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return np.concatenate([y[:, :-1], y_after[:, -1:]], axis=1)


def _moved(sentence: str) -> Callable[[Case, tuple[int, ...], Array, Array], str]:
    def explain(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
        is_now, was = two_numbers(got[index], expected[index])
        return f"{sentence}, and entry {entry(index)} went from {was} to {is_now}"

    return explain


_MASK_HINTS: Hints = (
    "In which mode did you look for a leak?",
    "`self.training` is False after `.eval()`: what stands in a branch on it is gone there.",
    "Hide the future in both modes: leave the branch out and keep what it does.",
)
_DROP_HINTS: Hints = (
    "Who tells dropout which mode the block is in?",
    "`nn.Dropout` is a module and knows. `functional.dropout` is a function, and drops unless it is told.",
    "Hand over `training=self.training`.",
)
_NORM_HINTS: Hints = (
    "Standardize one token by hand. Which number do you divide the sum of squares by?",
    "PyTorch's `var` divides by D − 1, layer norm by D.",
    "Hand over `correction=0`, or use `nn.LayerNorm`.",
)

EXERCISE = Exercise(
    id="audit.mend",
    answer="Mended",
    title="Three faults that no shape shows",
    level="core",
    minutes=15,
    framework="torch",
    reference=reference,
    cases=cases,
    properties=(
        values("gate", "is the same block where norms are silent", 0.25, on=(GATE,)),
        values(
            "norm", "single tokens come out right", 1.25, on=(NORM,), requires=("gate",), hints=_NORM_HINTS
        ),
        paired(
            "causal",
            "hides the future in evaluation",
            1.25,
            pairs=((BATCH, FUTURE),),
            alive=(BATCH, FUTURE),
            expect=_unchanged_before_the_last,
            explain=_moved("the last token was replaced"),
            requires=("gate",),
            hints=_MASK_HINTS,
        ),
        paired(
            "eval",
            "drops nothing in evaluation",
            1.25,
            pairs=((BATCH, RATE),),
            alive=(BATCH, FUTURE),
            expect=_as_before,
            explain=_moved("the rate went from 0 to 1"),
            requires=("gate",),
            hints=_DROP_HINTS,
        ),
        values(
            "drops",
            "drops at its rate in training",
            0.25,
            on=(DROPPED,),
            requires=("eval",),
            hints=_DROP_HINTS,
        ),
        values("whole", "the whole block, in both modes", 0.5, on=(BATCH, RATE_32, TRAINING)),
        dtype_kept(0.25, of="x", requires=("whole",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which fault does the audit name first? Mend that one and audit again.",
        "One fault disturbs every comparison of two calls, one lives in evaluation alone, and one is a "
        "factor that hardly shows.",
        "Tell dropout the mode, hide the future in both modes, and divide the variance by D.",
    ),
    calls="module",
    withheld=("transformer_block",),
)
