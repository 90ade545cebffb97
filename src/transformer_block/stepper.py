"""A walk through a block's named stages: a table, and buttons where a page has scripts.

The table is all the data there is. Where scripts run, the element around it draws one
stage at a time from its rows; where they don't (print, an untrusted notebook), it
stays.
"""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from transformer_block import in_python
from transformer_block._page_table import CELL, TABLE
from transformer_block._stage_formulas import Explanation, explain, vector
from transformer_block._stage_knowledge import (
    Knowledge,
    Pairs,
    Vector,
    of_block,
    of_python,
    run,
)

_MAX_TOKENS = 32
_HEAD = ("Stage", "Made from", "Result", "In numbers")


class Step(NamedTuple):
    """One token at one stage."""

    stage: str
    value: Vector
    how: Explanation


@dataclass(frozen=True)
class Stepper:
    """What `step` returns; a notebook shows it. walks are tokens with their steps."""

    title: str
    walks: tuple[tuple[str, tuple[Step, ...]], ...]
    features: int

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Give the page its HTML, and a terminal the plain table."""
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def _repr_html_(self) -> str:
        """Wrap the table in the element that walks through it; no network is needed."""
        return (
            '<block-stepper class="tex2jax_ignore mathjax_ignore">'
            f"{self.table()}</block-stepper>"
            f'<script type="module">\n{_script()}</script>'
        )

    def __str__(self) -> str:
        """One line a stage: its name and its vector."""
        width = max(len(step.stage) for _, walk in self.walks for step in walk)
        lines = []
        for token, walk in self.walks:
            lines += [f"{token}:"] if len(self.walks) > 1 else []
            lines += [
                f"{step.stage:{width}} {vector(step.value, self.features)}"
                for step in walk
            ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """As str: a cell's plain text is the table."""
        return str(self)

    def table(self) -> str:
        """The stages as an HTML table, which reads without style or script."""
        columns = "".join(
            f'<th scope="col" style="{CELL}">{each}</th>' for each in _HEAD
        )
        bodies = "".join(self._body(token, walk) for token, walk in self.walks)
        return (
            f'<table style="{TABLE}">'
            f'<caption style="text-align:left">{html.escape(self.title)}</caption>'
            f"<thead><tr>{columns}</tr></thead>{bodies}</table>"
        )

    def _body(self, token: str, walk: Sequence[Step]) -> str:
        name = html.escape(token)
        head = ""
        if len(self.walks) > 1:
            spans = f'scope="rowgroup" colspan="{len(_HEAD)}"'
            head = f'<tr><th {spans} style="{CELL}">{name}</th></tr>'
        rows = "".join(self._row(step) for step in walk)
        return f'<tbody data-token="{name}">{head}{rows}</tbody>'

    def _row(self, step: Step) -> str:
        how = step.how
        cells = (
            [f"{name} {self._vector(value)}" for name, value in how.parts],
            [self._vector(step.value)],
            how.lines,
        )
        before = (
            "" if how.before is None else f' data-before="{self._vector(how.before)}"'
        )
        return (
            f'<tr data-kind="{how.kind}"{before}><th scope="row" '
            f'style="{CELL};font-weight:normal">{html.escape(step.stage)}</th>'
            + "".join(f'<td style="{CELL}">{_lines(cell)}</td>' for cell in cells)
            + "</tr>"
        )

    def _vector(self, value: Vector) -> str:
        return vector(value, self.features)


def step(
    block: Any,
    x: Any = None,
    *,
    tokens: Sequence[str] | None = None,
    token: str | int | None = None,
    title: str | None = None,
    features: int = 16,
    **inputs: Any,
) -> Stepper:
    """Walk one token, or each of a short sequence, through a block's stages.

    block is anything with `stages(x)` that yields (name, value) pairs, your own class
    too; `in_python`, which has its own sentence; or such pairs themselves. x is one
    sequence (T, D), or one token (D,); inputs go to `stages` beside it. tokens names
    the positions; token chooses one of them, by name or place. Of wide vectors the
    first `features` are shown.

    Raises: TypeError for a block that has no stages; ValueError for more than one
    sequence, a stage that has another number of tokens, more than 32 tokens and none
    chosen, or a token that is not there.
    """
    saved: dict[str, Any] = {}
    pairs = run(block, x, inputs, saved)
    names = _names(block, pairs, tokens)
    chosen = range(len(names)) if token is None else [_place(token, names)]
    if len(chosen) > _MAX_TOKENS:
        raise ValueError(
            f"at most {_MAX_TOKENS} tokens are walked; got {len(chosen)}: "
            "choose one by token="
        )
    if block is in_python:
        known = of_python(inputs)
    else:
        known = of_block(block, pairs, names, saved)
    walks = tuple((names[t], tuple(_walk(pairs, t, known))) for t in chosen)
    who = walks[0][0] if len(walks) == 1 else f"{len(walks)} tokens"
    return Stepper(title or f"{who} through the block", walks, features)


def _names(block: Any, pairs: Pairs, tokens: Sequence[str] | None) -> Sequence[str]:
    length = len(pairs[0][1])
    for name, value in pairs:
        if len(value) != length:
            raise ValueError(
                f"stage {name!r} has {len(value)} tokens; the first has {length}"
            )
    if tokens is None and block is in_python:
        return in_python.TOKENS
    if tokens is None:
        return [f"token {t}" for t in range(length)]
    if len(tokens) != length:
        raise ValueError(f"{length} tokens need {length} names; got {len(tokens)}")
    return tokens


def _place(token: str | int, tokens: Sequence[str]) -> int:
    if isinstance(token, str):
        if token not in tokens:
            raise ValueError(f"there is no token {token!r} among {', '.join(tokens)}")
        return list(tokens).index(token)
    if not 0 <= token < len(tokens):
        raise ValueError(f"token must lie in [0, {len(tokens)}); got {token}")
    return token


def _walk(pairs: Pairs, t: int, known: Knowledge) -> Iterator[Step]:
    past = [(name, value[t]) for name, value in pairs]
    for i, (name, value) in enumerate(past):
        yield Step(name, value, explain(name, value, past[:i], t, known))


def _lines(cell: Sequence[str]) -> str:
    return "<br>".join(html.escape(line) for line in cell)


@cache
def _script() -> str:
    return (
        resources.files(__package__).joinpath("stepper.js").read_text(encoding="utf-8")
    )
