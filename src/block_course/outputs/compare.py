"""Compare the outputs that a notebook's cell stores with those it produces now.

Order and number of outputs count, and of each one its kind, its metadata, its MIME types and their contents:
SVG by what it draws, everything else (HTML, LaTeX, JSON, plain text) as text, where tags are words. Of an
error the name and the message count, not the traceback. An image other than SVG cannot be compared: a
problem.

A cell asks for another tolerance in its metadata, all keys being optional:
`{"nbval": {"svg_atol": 2.0, "ulps": 3, "color_levels": 1}}`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from block_course.outputs.svg import svg_problem
from block_course.outputs.text import text_problem

Output = Mapping[str, Any]
"""One output as nbformat 4 has it: `output_type`, and `text`, `data` or `ename` with what belongs to them."""

_OVERWRITTEN = re.compile(r"^.*\r(?=[^\n])", re.MULTILINE)


@dataclass(frozen=True)
class Tolerance:
    """How far an output may lie from the stored one.

    `svg_atol`: coordinates of figures, in points. `ulps`: units of a printed number's last digit.
    `color_levels`: levels of 255 in a channel of a color or pixel, for values that sit on a color's edge.
    """

    svg_atol: float = 0.75
    ulps: float = 1
    color_levels: float = 0

    @classmethod
    def of_cell(cls, cell: Mapping[str, Any]) -> Tolerance:
        """Read a cell's own tolerance from its metadata.

        Raises ValueError if the entry `nbval` isn't a mapping, has an unknown key, or a value that isn't a
        finite number of at least 0.
        """
        chosen = cell.get("metadata", {}).get("nbval", {})
        if not isinstance(chosen, Mapping):
            raise ValueError(f"metadata nbval is not a mapping: {chosen!r}")
        known = [field.name for field in fields(cls)]
        for key, value in chosen.items():
            if key not in known:
                raise ValueError(f"metadata nbval has the unknown key {key!r}; known: {', '.join(known)}")
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 <= value < math.inf:
                raise ValueError(f"metadata nbval {key} is not a finite number of at least 0: {value!r}")
        return cls(**chosen)


def never_run(cell: Mapping[str, Any]) -> bool:
    """Whether a code cell has a source but no execution count: then its outputs prove nothing."""
    return cell["cell_type"] == "code" and bool(cell["source"].strip()) and cell["execution_count"] is None


def compare(stored: Sequence[Output], computed: Sequence[Output], tolerance: Tolerance) -> list[str]:
    """List in words how computed outputs differ from stored ones beyond `tolerance`; empty if they agree."""
    problems = incomparable(stored)
    before, after = coalesce(stored), coalesce(computed)
    if len(before) != len(after):
        return [*problems, f"outputs were {_listing(before)}, are {_listing(after)}"]
    for number, (old, new) in enumerate(zip(before, after, strict=True), start=1):
        problems += [f"output {number} {problem}" for problem in _output_problems(old, new, tolerance)]
    return problems


def incomparable(outputs: Sequence[Output]) -> list[str]:
    """List the images that no tolerance can judge: every one that isn't SVG."""
    kinds = sorted({kind for output in outputs for kind in output.get("data", {}) if _is_raster(kind)})
    return [f"{kind} cannot be compared: show the figure as SVG" for kind in kinds]


def coalesce(outputs: Sequence[Output]) -> list[Output]:
    """Join the pieces of each stream between two other outputs, stdout first, as a reader sees them.

    Where a kernel cuts a stream into pieces, and how stdout and stderr interleave, is chance. What a carriage
    return or a backspace has overwritten is gone.
    """
    joined: list[Output] = []
    streams: dict[str, str] = {}
    for output in outputs:
        if output["output_type"] == "stream":
            streams[output["name"]] = streams.get(output["name"], "") + _text(output["text"])
        else:
            joined += [*_stream_outputs(streams), output]
            streams = {}
    return joined + _stream_outputs(streams)


def _stream_outputs(streams: Mapping[str, str]) -> list[Output]:
    return [
        {"output_type": "stream", "name": name, "text": _as_seen(streams[name])}
        for name in sorted(streams, reverse=True)
    ]


def _as_seen(text: str) -> str:
    seen: list[str] = []
    for character in text:
        if character != "\b":
            seen.append(character)
        elif seen and seen[-1] != "\n":
            seen.pop()
    return _OVERWRITTEN.sub("", "".join(seen))


def _output_problems(old: Output, new: Output, tolerance: Tolerance) -> list[str]:
    if _kind(old) != _kind(new):
        return [f"was {_kind(old)}, is {_kind(new)}"]
    if old["output_type"] == "stream":
        return _labeled(old["name"], text_problem(old["text"], new["text"], ulps=tolerance.ulps))
    if old["output_type"] == "error":
        if old["ename"] != new["ename"]:
            return [f"was {old['ename']}, is {new['ename']}"]
        return _labeled(old["ename"], text_problem(old["evalue"], new["evalue"], ulps=tolerance.ulps))
    return _display_problems(old, new, tolerance)


def _display_problems(old: Output, new: Output, tolerance: Tolerance) -> list[str]:
    before, after = old["data"], new["data"]
    problems = [f"({kind}) is new" for kind in sorted(after.keys() - before.keys())]
    problems += [f"({kind}) is gone" for kind in sorted(before.keys() - after.keys())]
    for kind in sorted(before.keys() & after.keys()):
        problems += _labeled(kind, _content_problem(kind, before[kind], after[kind], tolerance))
    if old["metadata"] != new["metadata"]:
        problems.append(f"(metadata) {dict(old['metadata'])!r} became {dict(new['metadata'])!r}")
    return problems


def _content_problem(kind: str, old: Any, new: Any, tolerance: Tolerance) -> str | None:
    if _is_raster(kind):
        return None  # already listed as incomparable
    if kind == "image/svg+xml":
        return svg_problem(
            _text(old), _text(new), atol=tolerance.svg_atol, color_levels=tolerance.color_levels
        )
    return text_problem(_text(old), _text(new), ulps=tolerance.ulps)


def _labeled(label: str, problem: str | None) -> list[str]:
    return [f"({label}) {problem}"] if problem else []


def _text(content: Any) -> str:
    """A MIME bundle's content as one text: nbformat may hold lines in a list, and JSON as it is."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        return "".join(content)
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)


def _is_raster(kind: str) -> bool:
    return kind.startswith("image/") and kind != "image/svg+xml"


def _kind(output: Output) -> str:
    if output["output_type"] == "stream":
        return str(output["name"])
    return str(output["output_type"])


def _listing(outputs: Sequence[Output]) -> str:
    return " + ".join(_kind(output) for output in outputs) or "none"
