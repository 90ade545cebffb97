"""Compare two SVG figures: the same drawing, up to names of ids and to shifts that nobody sees.

Elements, their nesting, texts, labels (matplotlib writes them into comments), colors, dashes and widths must
be the same. Coordinates may move by `atol`, measured in the figure's own units (matplotlib: 1 pt): inside a
scaled group the local tolerance is `atol` divided by the scale. Scales, angles and matrices may differ by
1e-4, so a font one size larger is seen. Ids may be renamed, one to one. Embedded PNGs are compared pixel by
pixel.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from block_course.outputs._raster import DATA_URI, raster_problem
from block_course.outputs._svg_events import Event, UnreadableSvg, read_events
from block_course.outputs._svg_geometry import scale_of, shift, transform_problem

_COORDINATES = frozenset(["d", "points", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry"])
_EXTENTS = frozenset(["width", "height", "viewBox"])
_ROUNDING = 1e-5
"""Opacities, widths and dashes come from data now and then, and matplotlib prints six decimals of them."""

_COLOR = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})")
_URL = re.compile(r"url\(#([^)]+)\)")
_SHOWN = 60


def svg_problem(stored: str, computed: str, *, atol: float = 0.75, color_levels: float = 0) -> str | None:
    """Say what the second figure draws otherwise than the first; None if they agree.

    ```
    |x − x'| · scale ≤ atol  for each coordinate,     |c − c'| ≤ color_levels  for each channel, 0 to 255
    ```

    The first difference in document order is named, with the ids that enclose it.
    """
    if stored == computed:
        return None
    try:
        before, after = read_events(stored), read_events(computed)
    except UnreadableSvg as error:
        return f"unreadable SVG: {error}"
    comparison = _Comparison(atol, color_levels)
    for old, new in zip_longest(before, after, fillvalue=Event("end", "svg")):
        problem = comparison.problem(old, new)
        if problem:
            return comparison.place() + problem + _counts(before, after)
    return None


def _counts(before: list[Event], after: list[Event]) -> str:
    old, new = (sum(event.kind == "start" for event in events) for events in (before, after))
    return f" ({old} elements became {new})" if old != new else ""


class _Comparison:
    """Walks two figures in step; knows the enclosing ids and scales, and which id stands for which."""

    def __init__(self, atol: float, color_levels: float) -> None:
        self._atol, self._color_levels = atol, color_levels
        self._renamed: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._scales = [1.0]
        self._ids: list[str] = []

    def place(self) -> str:
        names = [name for name in self._ids if name]
        return f"in {' / '.join(names)}: " if names else ""

    def problem(self, old: Event, new: Event) -> str | None:
        if (old.kind, old.text) != (new.kind, new.text):
            return f"{_described(old)} became {_described(new)}"
        if old.kind == "end":
            self._scales.pop()
            self._ids.pop()
        return self._element_problem(old, new) if old.kind == "start" else None

    def _element_problem(self, old: Event, new: Event) -> str | None:
        self._ids.append(old.attributes.get("id", ""))
        self._scales.append(self._scales[-1] * scale_of(old.attributes.get("transform", "")))
        problem = self._mapping_problem(old.attributes, new.attributes)
        return f"<{old.text}> {problem}" if problem else None

    def _mapping_problem(self, old: dict[str, str], new: dict[str, str]) -> str | None:
        if old.keys() != new.keys():
            return f"gained or lost {', '.join(sorted(old.keys() ^ new.keys()))}"
        problems = (self._value_problem(name, value, new[name]) for name, value in old.items())
        return next(filter(None, problems), None)

    def _value_problem(self, name: str, old: str, new: str) -> str | None:
        if name == "style":
            return self._mapping_problem(_properties(old), _properties(new))
        old_id, new_id = _id(name, old), _id(name, new)
        if old_id and new_id:
            return (
                None
                if self._same_id(old_id, new_id)
                else f"{name} points elsewhere: {old_id} became {new_id}"
            )
        if old == new:
            return None
        if name == "transform":
            return transform_problem(old, new, scale=self._scales[-2], atol=self._atol)
        if old.startswith(DATA_URI) and new.startswith(DATA_URI):
            return raster_problem(old, new, levels=self._color_levels)
        moved = shift(old, new)
        if name in _COORDINATES | _EXTENTS and moved is not None:
            moved *= self._scales[-1]
            return None if moved <= self._atol else f"{name} moved by {moved:.2f} (limit {self._atol:g})"
        if (moved is not None and moved <= _ROUNDING) or self._same_color(old, new):
            return None
        return f"{name} {_cut(old)} became {_cut(new)}"

    def _same_id(self, old: str, new: str) -> bool:
        return self._renamed.setdefault(old, new) == new and self._named.setdefault(new, old) == old

    def _same_color(self, old: str, new: str) -> bool:
        before, after = _COLOR.fullmatch(old), _COLOR.fullmatch(new)
        if not before or not after:
            return False
        channels = zip(before.groups(), after.groups(), strict=True)
        return all(abs(int(x, 16) - int(y, 16)) <= self._color_levels for x, y in channels)


def _id(name: str, value: str) -> str:
    """The id that an attribute defines or refers to; empty if it does neither."""
    if name == "id":
        return value
    if name in ("href", "xlink:href") and value.startswith("#"):
        return value[1:]
    link = _URL.fullmatch(value)
    return link[1] if link else ""


def _properties(style: str) -> dict[str, str]:
    declarations = (part.partition(":") for part in style.split(";") if part.strip())
    return {name.strip(): value.strip() for name, _, value in declarations}


def _described(event: Event) -> str:
    shape = {"start": "<{}>", "end": "</{}>"}.get(event.kind)
    return shape.format(event.text) if shape else repr(_cut(event.text))


def _cut(words: str) -> str:
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"
