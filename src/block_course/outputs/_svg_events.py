"""Read an SVG figure as a flat list of what it draws, without trusting the file.

The parser is expat: it fetches nothing, a declared entity is refused, and depth costs no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

MAX_CHARACTERS = 20_000_000


class UnreadableSvg(ValueError):
    """A figure that cannot be read as SVG, or is not read for safety's sake."""


@dataclass(frozen=True)
class Event:
    """One step through the figure: `start` and `end` of an element, a `text`, a `comment`.

    `text` is the element's name or the words themselves. Comments count, because matplotlib writes a label
    that it draws as glyphs into one.
    """

    kind: str
    text: str
    attributes: dict[str, str] = field(default_factory=dict)


def read_events(svg: str) -> list[Event]:
    """List a figure's events in document order, without `<metadata>`, which draws nothing.

    Raises UnreadableSvg if the text is over 20 million characters, isn't well-formed or declares an entity.
    """
    if len(svg) > MAX_CHARACTERS:
        raise UnreadableSvg(f"{len(svg)} characters are more than the limit of {MAX_CHARACTERS}")
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.CommentHandler = reader.comment
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(svg.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        raise UnreadableSvg(f"not well-formed XML: {error}") from None
    return reader.events


def _refuse_entity(name: str, *_: object) -> None:
    raise UnreadableSvg(f"it declares the entity {name}")


class _Reader:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self._inside_metadata = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._inside_metadata or name == "metadata":
            self._inside_metadata += 1
        else:
            self.events.append(Event("start", name, attributes))

    def end(self, name: str) -> None:
        if self._inside_metadata:
            self._inside_metadata -= 1
        else:
            self.events.append(Event("end", name))

    def characters(self, text: str) -> None:
        self._words("text", text)

    def comment(self, text: str) -> None:
        self._words("comment", text)

    def _words(self, kind: str, text: str) -> None:
        if not self._inside_metadata and text.strip():
            self.events.append(Event(kind, text.strip()))
