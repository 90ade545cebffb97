"""`one_token.table`: the stages at which a causal mask can be seen, by width, order and place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.selection import among, on
from block_course.exercise import Case, Exercise, Hints, Misconception, Outputs
from block_course.plain import words

STAGES = ("norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2")
POST_TWO, POST_MORE = "post-norm, two features", "post-norm, more features"
PRE_TWO, PRE_MORE = "pre-norm, two features", "pre-norm, more features"
LAST_POST, LAST_PRE = "the last token, post-norm", "the last token, pre-norm"
Table = dict[str, str]


def reference(D: int, placement: str, t: int, T: int) -> Table:
    """A word for each stage: "other" if the mask changes it, "same" if not."""
    table = dict.fromkeys(STAGES, "same")
    if t == T - 1:
        return table
    table["attention"] = table["add_1"] = "other"
    if D != 2:
        table["norm_2"] = table["feed_forward"] = "other"
    if placement == "pre" or D != 2:
        table["add_2"] = "other"
    if placement == "post" and D != 2:
        table["norm_1"] = "other"
    return table


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Two features and more, both orders, a token in the middle and the last."""
    D, T = int(rng.integers(8, 65)), int(rng.integers(6, 12))
    last = int(rng.integers(6, 12))
    return [
        _case(POST_TWO, 2, "post", int(rng.integers(0, T - 1)), T),
        _case(POST_MORE, D, "post", int(rng.integers(0, T - 1)), T),
        _case(PRE_TWO, 2, "pre", int(rng.integers(0, T - 1)), T),
        _case(PRE_MORE, D, "pre", int(rng.integers(0, T - 1)), T),
        _case(LAST_POST, D, "post", last - 1, last),
        _case(LAST_PRE, 2, "pre", last - 1, last),
    ]


def _case(name: str, D: int, placement: str, t: int, T: int) -> Case:
    return Case(name=name, arguments={"D": D, "placement": placement, "t": t, "T": T})


Change = Callable[[Mapping[str, object]], Table]


def _wrong(name: str, change: Change, sentence: str) -> Misconception:
    """The right table with the entries that `change` gives for the arguments."""

    def answer(D: int, placement: str, t: int, T: int) -> Table:
        given = {"D": D, "placement": placement, "t": t, "T": T}
        return reference(D, placement, t, T) | change(given)

    def message(case: Case, outputs: Outputs) -> str:
        right = reference(**case.arguments)  # type: ignore[arg-type]
        said = {stage: words(word)[0] for stage, word in zip(STAGES, outputs, strict=True)}
        stage = next(each for each in STAGES if said[each] != right[each])
        return f"{case.name[0].upper()}{case.name[1:]}: you say “{said[stage]}” at {stage}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)  # type: ignore[arg-type]


def _as_if(**changed: object) -> Change:
    return lambda given: reference(**(dict(given) | changed))  # type: ignore[arg-type]


def _is_last(given: Mapping[str, object]) -> bool:
    return given["t"] == int(given["T"]) - 1  # type: ignore[call-overload, no-any-return]


MISCONCEPTIONS = (
    _wrong(
        "two features like many",
        _as_if(D=8),
        "Two features leave a norm as (1, −1) or (−1, 1), whatever attention did. As long as the sum stays "
        "on its side of the diagonal, all that reads only what the norm gave is the same.",
    ),
    _wrong(
        "many features like two",
        _as_if(D=2),
        "With eight features or more a norm lets nearly all of a change pass.",
    ),
    _wrong(
        "pre-norm like post-norm",
        _as_if(placement="post"),
        "In pre-norm order the first norm comes before attention, and the stream itself is never normed: "
        "what attention added stays in it to the end.",
    ),
    _wrong(
        "post-norm like pre-norm",
        _as_if(placement="pre"),
        "In post-norm order each norm stands on the stream, behind the add: the sum does not get past it as "
        "it was.",
    ),
    _wrong(
        "last token like any",
        lambda given: reference(int(given["D"]), str(given["placement"]), 0, 9),  # type: ignore[call-overload]
        "The last token has nobody behind it. It sees all tokens with the mask and without.",
    ),
    _wrong(
        "a change of the stream forgotten",
        lambda given: {"add_2": "same"} if given["D"] == 2 else {},
        "The feed-forward part's answer is the same, and it is added to a stream that is not: in pre-norm "
        "order the second sum still carries what attention answered.",
    ),
    _wrong(
        "everything changes",
        lambda given: {} if _is_last(given) else dict.fromkeys(STAGES, "other"),
        "Not every stage comes after attention, and a norm of two features lets nothing through but a sign.",
    ),
)


_PRE_HINTS: Hints = (
    "Follow the stream of a pre-norm block: what is added to it, and what is it normed by?",
    "The stream x has two updates added and no norm of its own; a norm reads it and hands a copy to a "
    "branch.",
    "The first norm comes before attention. What attention adds is in the sum, and in the next sum; whether "
    "the second norm lets it into the feed-forward part depends on the number of features.",
)
_LAST_HINTS: Hints = (
    "Which tokens does a causal mask hide from the last one?",
    "None: it sees itself and all before it, which is everybody.",
    "For t = T − 1 the mask changes nothing at all.",
)

EXERCISE = Exercise(
    id="one_token.table",
    answer="stages",
    title="Where a mask can be seen",
    level="core",
    minutes=10,
    framework="numpy",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=STAGES,
    properties=(
        on(among(POST_TWO), entries("post two", "post-norm on two features", 1.0, of=STAGES)),
        on(among(POST_MORE), entries("post more", "post-norm on more features", 0.75, of=STAGES)),
        on(among(PRE_TWO), entries("pre two", "pre-norm on two features", 1.0, of=STAGES, hints=_PRE_HINTS)),
        on(
            among(PRE_MORE),
            entries("pre more", "pre-norm on more features", 0.75, of=STAGES, hints=_PRE_HINTS),
        ),
        on(among(LAST_POST, LAST_PRE), entries("last", "the last token", 0.5, of=STAGES, hints=_LAST_HINTS)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "At which stage does a mask act, and which stages come after that one?",
        "Attention's answer changes, and so does the sum. Two features leave a norm with one bit, which "
        "stays; with eight or more the norm lets the change pass.",
        "On two features and in post-norm order only attention and the first sum change; on more, all six "
        "stages do.",
    ),
)
