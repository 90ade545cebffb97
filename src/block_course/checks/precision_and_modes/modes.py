"""`precision_and_modes.modes`: a module of which one part stays in evaluation, whatever the module is told.

Dropout is random, and the check needs numbers that are not. So a module is called in training at a rate of 0
or 1, where dropout keeps all or nothing, and in evaluation at a rate in between, where dropout that is left
on can't hide. The reference sees no mode; from the rate it follows what the head adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept
from block_course.checks.properties import values
from block_course.checks.telling import first_departure
from block_course.exercise import Argument, Array, Case, Exercise, Hints, Misconception, Outputs, as_outputs

BODY, HEAD = "training, a silent head", "training, a silent body"
TRAINING, NOTHING, NOTHING_32 = "training", "training, a rate of 0", "training, a rate of 0, in float32"
EVALUATION, GRADIENT = "evaluation", "a gradient in training"
_ROOM = 4.0
State = Mapping[str, Array]
Init = Mapping[str, Argument]


def reference(init: Init, state: State, x: Array, dy: Array | None = None) -> Outputs:
    """With h = x + body(x): y = h + head(h), or h alone at a rate of 1, and the gradient of x."""
    x = x.astype(np.float64)
    w, b, v, c = (state[f"{part}.{name}"] for part in ("body", "head") for name in ("weight", "bias"))
    head_adds = float(init["rate"] != 1.0)
    h = x + x @ w.T + b
    y = h + head_adds * (h @ v.T + c)
    if dy is None:
        return (y,)
    dh = dy + head_adds * (dy @ v)
    return y, dh + dh @ w


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Each part alone and both, at the rates 0 and 1; evaluation at a rate in between; a gradient."""
    B, T, D = 2, int(rng.integers(3, 6)), int(rng.integers(6, 9))
    between = float(rng.uniform(0.3, 0.7))

    def drawn(name: str, rate: float, *, silent: str = "", train: bool = True, dtype: str = "f8") -> Case:
        state = {
            f"{part}.{entry}": (float(part != silent) * rng.normal(size=shape) / np.sqrt(D)).astype(dtype)
            for part in ("body", "head")
            for entry, shape in (("weight", (D, D)), ("bias", (D,)))
        }
        x = rng.normal(size=(B, T, D)).astype(dtype)
        return Case(
            name=name,
            arguments={"x": x},
            init={"d_model": D, "rate": rate},
            state=state,
            train=train,
            condition=_ROOM,
            cotangent=np.asarray(rng.normal(size=x.shape)) if name == GRADIENT else None,
        )

    return [
        drawn(BODY, 1.0, silent="head"),
        drawn(HEAD, 1.0, silent="body"),
        drawn(TRAINING, 1.0),
        drawn(NOTHING, 0.0),
        drawn(NOTHING_32, 0.0, dtype="f4"),
        drawn(EVALUATION, between, train=False),
        drawn(GRADIENT, 0.0),
    ]


def _wiring(
    *,
    body: bool = True,
    head: bool | None = None,
    body_skip: bool = True,
    through_body: bool = True,
    head_reads_x: bool = False,
) -> object:
    """The module with another wiring. `body` and `head` say what adds at a rate of 1; None: as it should."""

    def answer(init: Init, state: State, x: Array, dy: Array | None = None) -> Outputs:
        w, b, v, c = (state[f"{part}.{name}"] for part in ("body", "head") for name in ("weight", "bias"))
        all_dropped = init["rate"] == 1.0
        body_adds = float(body or not all_dropped)
        head_adds = float(not all_dropped if head is None else head or not all_dropped)
        h = float(body_skip) * x + body_adds * (x @ w.T + b)
        read = x if head_reads_x else h
        y = h + head_adds * (read @ v.T + c)
        if dy is None:
            return (y,)
        into_read = head_adds * (dy @ v)
        dh = dy if head_reads_x else dy + into_read
        dx = float(body_skip) * dh + float(through_body) * body_adds * (dh @ w)
        return y, dx + into_read if head_reads_x else dx

    return answer


def _wrong(name: str, answer: object, sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        dy = {} if case.cotangent is None else {"dy": case.cotangent}
        right = as_outputs(reference(case.init, case.state, **case.arguments, **dy))  # type: ignore[arg-type]
        told = first_departure(outputs, right, ("output", "gradient of x"))
        return f"In “{case.name}”: {told}{sentence}"

    return Misconception(name=name, answer=answer, message=message)  # type: ignore[arg-type]


MISCONCEPTIONS = (
    _wrong(
        "body follows the mode",
        _wiring(body=False),
        "The body drops in training. `eval()` in the constructor doesn't last: `train()` sets the flag of "
        "every part again, the body's too.",
    ),
    _wrong(
        "nothing drops",
        _wiring(head=True),
        "The head doesn't drop in training. Only the body stays in evaluation; the head follows the mode of "
        "the module.",
    ),
    _wrong(
        "parts exchanged",
        _wiring(body=False, head=True),
        "The body drops in training and the head doesn't. It is the body that stays in evaluation.",
    ),
    _wrong(
        "body without gradients",
        _wiring(through_body=False),
        "No gradient comes through the body. Evaluation is about dropout; `no_grad` and `detach` cut the "
        "path to x.",
    ),
    _wrong(
        "no skip around the body",
        _wiring(body_skip=False),
        "h is what the body gives. It is x plus that.",
    ),
    _wrong(
        "head reads x",
        _wiring(head_reads_x=True),
        "The head reads x. It reads h, behind the body.",
    ),
)

_BODY_HINTS: Hints = (
    "Who sets the flag `training` of the body, and when?",
    "`module.train()` sets it on the module and on all that is inside. A module may override `train`, or set "
    "the body's mode each time before it uses it.",
    "In the forward pass, call `self.body.eval()` first; or write `train(self, mode=True)` that calls "
    "`super().train(mode)`, then `self.body.eval()`, and returns self.",
)
_HEAD_HINTS: Hints = (
    "Which parts does your module keep in evaluation?",
    "The head's dropout drops in training, at the rate given, and at a rate of 1 drops everything.",
    "Make the head a `Part(d_model, rate)` and leave its mode alone.",
)
_GRADIENT_HINTS: Hints = (
    "Is the body called under `no_grad`, or is its result detached?",
    "A part in evaluation still has gradients: the mode and the recording of gradients are two things.",
    "Call the body as any module, with nothing around it.",
)

EXERCISE = Exercise(
    id="precision_and_modes.modes",
    answer="WithQuietBody",
    title="A part that stays in evaluation",
    level="core",
    minutes=15,
    framework="torch",
    reference=reference,
    cases=cases,
    calls="module",
    properties=(
        values("body", "the body drops nothing in training", 1.0, on=(BODY,), hints=_BODY_HINTS),
        values("head", "the head drops in training", 1.0, on=(HEAD,), hints=_HEAD_HINTS),
        values("training", "both together", 0.5, on=(TRAINING, NOTHING, NOTHING_32)),
        values("evaluation", "nothing drops in evaluation", 0.75, on=(EVALUATION,), hints=_HEAD_HINTS),
        values(
            "gradient",
            "a gradient comes through the body",
            0.5,
            on=(GRADIENT,),
            output=1,
            hints=_GRADIENT_HINTS,
        ),
        dtype_kept(0.25, of="x", requires=("training",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Print `WithQuietBody(4, 0.5).state_dict().keys()`: are they the four names?",
        "h is x plus what the body gives, and y is h plus what the head gives. Both are parts with dropout "
        "inside, and the body's never drops.",
        "In the constructor make `self.body` and `self.head`, each a `Part(d_model, rate)`; in the forward "
        "pass return h plus the head of h.",
    ),
    withheld=("transformer_block",),
)
