"""A verdict as HTML that reads without color, by a screen reader, in the light and in the dark.

Style stands on the elements, because a notebook that is not trusted yet loses `<style>`. It takes its colors
from the page: JupyterLab's variables, else the book's, else the color of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from block_course.exercise import Exercise
from block_course.verdict import Finding, Verdict

_LINE = "1px solid var(--jp-border-color2, var(--pst-color-border, currentColor))"
_CELL = f"text-align:left;vertical-align:top;padding:0.25em 1em 0.25em 0;border-bottom:{_LINE}"
_ASIDE = "margin:0.5em 0;padding:0.1em 0 0.1em 0.75em;border-left:3px solid currentColor"
_STAGES = ("where to look", "what is true there", "the line in words")
_WORDS = {"holds": "holds", "fails": "fails", "not counted": "not counted yet"}
_ENDED = {
    "timeout": "Your function took too long and was stopped.",
    "memory": "Your function asked for more memory than there is.",
    "forbidden": "Your function uses something that this exercise asks you to write yourself.",
}


_ALL = "All notebooks"


@dataclass(frozen=True)
class Row:
    """One exercise in the table of progress. `state` is a verdict's status, or "not run"."""

    title: str
    state: str
    points: float
    of: float


def render(exercise: Exercise, verdict: Verdict) -> str:
    """The panel of one verdict: the score, the misconception if it is one, the properties, the hints."""
    parts = [
        f"<p><strong>{_text(verdict.title)}</strong>: {_score(verdict)}</p>",
        _diagnosis(verdict),
        _ending(exercise, verdict),
        _table(
            f"What was looked at in <code>{_text(exercise.answer)}</code>",
            ("Property", "Result", "Points"),
            [_finding(each, verdict.message) for each in verdict.findings],
        ),
        _hints(exercise, verdict),
    ]
    return _section(f"{verdict.title}: {_score(verdict)}", "".join(parts))


def render_problem(sentence: str) -> str:
    """A panel that says why nothing was judged."""
    return _section(
        "Nothing was judged", f"<p><strong>Nothing was judged.</strong> {_text(_sentence(sentence))}</p>"
    )


def render_progress(rows: Sequence[Row], others: Sequence[Row] = ()) -> str:
    """The table of points by exercise, with their total; and, if there are others, one by notebook."""
    caption = "Points in this session, from the last run of each check"
    tables = [_points_table(caption, "Exercise", rows, _total_of(rows))]
    if others:
        total = _total_of([*rows, *others], _ALL)
        tables.append(_points_table("Other notebooks, from their last checks", "Notebook", others, total))
    return _section("Progress", "".join(tables))


def text_of(rows: Sequence[Row], others: Sequence[Row] = ()) -> str:
    """The same in plain text."""
    parts = [_in_columns([*rows, _total_of(rows)])]
    if others:
        parts.append(_in_columns([*others, _total_of([*rows, *others], _ALL)]))
    return "\n\n".join(parts)


def points_of(points: float, of: float) -> str:
    """Points as a learner reads them: 2.5 of 6."""
    return f"{points:g} of {of:g}"


def _total_of(rows: Sequence[Row], title: str = "Total") -> Row:
    return Row(title, "", sum(each.points for each in rows), sum(each.of for each in rows))


def _points_table(caption: str, of_what: str, rows: Sequence[Row], total: Row) -> str:
    body = [(_text(each.title), _text(each.state), _points(each.points, each.of)) for each in rows]
    foot = (total.title, "", _points(total.points, total.of))
    return _table(caption, (of_what, "State", "Points"), body, foot=foot)


def _in_columns(rows: Sequence[Row]) -> str:
    widths = [max(len(getattr(each, name)) for each in rows) for name in ("title", "state")]
    return "\n".join(
        f"{each.title:{widths[0]}}  {each.state:{widths[1]}}  {points_of(each.points, each.of)}"
        for each in rows
    )


def _section(label: str, content: str) -> str:
    return (
        f'<section class="block-course-panel tex2jax_ignore mathjax_ignore" aria-label="{_text(label)}">'
        f"{content}</section>"
    )


def _score(verdict: Verdict) -> str:
    points = f"{points_of(verdict.points, verdict.of)} points"
    return f"not attempted, {points}" if verdict.status == "not attempted" else points


def _diagnosis(verdict: Verdict) -> str:
    if verdict.diagnosis is None:
        return ""
    message = _marked_up(verdict.diagnosis.message or "")
    return f'<p style="{_ASIDE}"><strong>{_capitalized(verdict.diagnosis.name)}.</strong> {message}</p>'


def _ending(exercise: Exercise, verdict: Verdict) -> str:
    if verdict.status == "not attempted":
        sentence = (
            f"Write <code>{_text(exercise.answer)}</code> above, run its cell, then run this one again."
        )
    elif verdict.status == "error" and verdict.message:
        sentence = _raised(verdict)
    elif verdict.status in _ENDED:
        sentence = _text(" ".join((_ENDED[verdict.status], *map(_sentence, filter(None, [verdict.message])))))
    else:
        return ""
    return f'<p style="{_ASIDE}">{sentence}</p>'


def _raised(verdict: Verdict) -> str:
    """What was raised, where, on which call, and what to do."""
    how = verdict.ending
    if how.instead:
        return _marked_up(how.advice)
    said = f"Your function raised <code>{_text(verdict.message)}</code>"
    said += f" in {_marked_up(how.place)}" if how.place else ""
    said += f", called with {_text(how.called_with)}" if how.called_with else ""
    return f"{said}. {_marked_up(how.advice)}".strip()


def _finding(each: Finding, raised: str) -> tuple[str, str, str]:
    result = _WORDS[each.outcome]
    if each.failure is not None:
        said = each.failure.message
        if raised and said.endswith(raised):
            said = f"{said.removesuffix(raised)}the error above"
        result = f"<strong>{result}</strong>. On {_text(each.failure.case)}: {_marked_up(_sentence(said))}"
    # worth nothing alone, and the others nothing without it
    return _text(each.title), result, _points(each.points, each.of) if each.of else "needed"


def _table(
    caption: str, head: Sequence[str], body: Sequence[Sequence[str]], foot: Sequence[str] | None = None
) -> str:
    columns = "".join(f'<th scope="col" style="{_CELL}">{each}</th>' for each in head)
    lines = "".join(_line(cells) for cells in body)
    last = f"<tfoot>{_line(foot)}</tfoot>" if foot else ""
    return (
        f'<table style="border-collapse:collapse;margin:0.5em 0"><caption style="text-align:left">{caption}'
        f"</caption><thead><tr>{columns}</tr></thead><tbody>{lines}</tbody>{last}</table>"
    )


def _line(cells: Sequence[str]) -> str:
    first, *rest = cells
    return (
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{first}</th>'
        + "".join(f'<td style="{_CELL}">{each}</td>' for each in rest)
        + "</tr>"
    )


def _hints(exercise: Exercise, verdict: Verdict) -> str:
    """Those of the first property that fails, if it has its own, else the exercise's; none for a pass.

    Each stands inside the one before, so that a learner asks for them one at a time. The last, which says
    the line in words, is for one who has tried.
    """
    if verdict.status == "pass":
        return ""
    failing = next((each.name for each in verdict.findings if each.outcome == "fails"), "")
    hints = next((each.hints for each in exercise.properties if each.name == failing), None) or exercise.hints
    stages = _STAGES[:-1] if verdict.status == "not attempted" else _STAGES
    nested = ""
    for number, (stage, hint) in reversed(list(enumerate(zip(stages, hints, strict=False), start=1))):
        summary = f"<summary>Hint {number}: {stage}</summary>"
        nested = f"<details>{summary}<p>{_marked_up(hint)}</p>{nested}</details>"
    return nested


def _points(points: float, of: float) -> str:
    return f'<span style="white-space:nowrap">{_text(points_of(points, of))}</span>'


def _marked_up(text: str) -> str:
    """The course's own sentences, in which `backticks` mean code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(text))


def _sentence(text: str) -> str:
    """With a full stop, unless it ends in one or in its like."""
    return text if text.endswith((".", "?", "!", "…", ":")) else f"{text}."


def _capitalized(text: str) -> str:
    return _text(text[:1].upper() + text[1:])


def _text(text: str) -> str:
    return html.escape(text, quote=True)
