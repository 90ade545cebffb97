import pytest

from block_course.outputs import _svg_events
from block_course.outputs._svg_events import Event, UnreadableSvg, read_events

BOMB = """<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><svg>&b;</svg>"""
FOREIGN = """<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/hostname">]><svg>&a;</svg>"""


def test_events_come_in_document_order_without_metadata_and_blanks() -> None:
    svg = """<svg><metadata><a>x</a><!-- y --></metadata>
        <g id="m"> <!-- label --> words </g></svg>"""

    assert read_events(svg) == [
        Event("start", "svg"),
        Event("start", "g", {"id": "m"}),
        Event("comment", "label"),
        Event("text", "words"),
        Event("end", "g"),
        Event("end", "svg"),
    ]


def test_a_text_is_one_event_whatever_it_holds() -> None:
    assert read_events("<svg>a &amp;\nb</svg>")[1] == Event("text", "a &\nb")


def test_the_doctype_of_matplotlib_is_read_without_fetching_it() -> None:
    doctype = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://nowhere.invalid/svg11.dtd">'

    assert len(read_events(f"{doctype}<svg/>")) == 2


@pytest.mark.parametrize("svg", [BOMB, FOREIGN], ids=["bomb", "foreign file"])
def test_an_entity_is_refused(svg: str) -> None:
    with pytest.raises(UnreadableSvg, match="it declares the entity a"):
        read_events(svg)


def test_depth_costs_no_recursion() -> None:
    depth = 20_000

    assert len(read_events("<g>" * depth + "</g>" * depth)) == 2 * depth


def test_a_figure_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_svg_events, "MAX_CHARACTERS", 9)

    with pytest.raises(UnreadableSvg, match="10 characters are more than the limit of 9"):
        read_events("<svg></svg>"[:10])


@pytest.mark.parametrize("svg", ["", "no figure", "<svg>", "<svg></g>", "<svg>\ud800</svg>"])
def test_what_is_not_xml_is_refused(svg: str) -> None:
    with pytest.raises(UnreadableSvg, match="not well-formed XML"):
        read_events(svg)
