"""An explorable is a table with an element around it, and a plain table in a terminal."""

import html
import json
import re
from html.parser import HTMLParser

import pytest

from transformer_block.explore import explore_cost, explore_layer_norm, explore_placement
from transformer_block.explore._element import Explorable, script

SMALL = Explorable(
    "layer_norm",
    "a < b",
    ("Name", "Value & unit"),
    [("x", "1 > 0"), ("longer", "2")],
    {"token": [1, -2.5], "name": 'a "quoted" & <tagged> one'},
)
SUBJECTS = ("cost", "layer_norm", "masks", "placement")


class Cells(HTMLParser):
    """The text of each cell, row by row, and the attributes of the first element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.first: tuple[str, dict[str, str | None]] | None = None
        self.open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.first = self.first or (tag, dict(attrs))
        self.open = tag in ("td", "th")
        if tag == "tr":
            self.rows.append([])
        elif self.open:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = False

    def handle_data(self, data: str) -> None:
        if self.open:
            self.rows[-1][-1] += data


def test_the_page_gets_every_cell_of_the_table() -> None:
    cells = Cells(SMALL._repr_html_().partition("<script")[0])

    assert cells.rows == [["Name", "Value & unit"], ["x", "1 > 0"], ["longer", "2"]]


def test_the_element_is_named_after_its_subject_and_knows_where_it_begins() -> None:
    found = Cells(SMALL._repr_html_()).first

    assert found is not None
    assert found[0] == "explore-layer-norm"
    assert json.loads(found[1]["data-start"] or "") == SMALL.start


def test_the_caption_is_the_title() -> None:
    caption = re.search("<caption[^>]*>(.*?)</caption>", SMALL._repr_html_())

    assert caption is not None
    assert html.unescape(caption[1]) == "a < b"


def test_a_terminal_gets_columns() -> None:
    assert str(SMALL) == repr(SMALL) == "Name    Value & unit\nx       1 > 0\nlonger  2"
    assert SMALL._repr_mimebundle_() == {"text/html": SMALL._repr_html_(), "text/plain": str(SMALL)}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_script_is_small_asks_for_nothing_and_cannot_end_its_own_tag(subject: str) -> None:
    source = script(subject)

    assert len(source.encode()) < 25_000
    assert not re.search(r"https?:|import\b|fetch\(|</script", source)
    assert f'define("explore-{subject.replace("_", "-")}"' in source


def test_what_all_share_is_the_same_in_every_script() -> None:
    shared = script("masks").partition("class ExploreMasks")[0]

    assert "class Explorable" in shared
    assert all(script(subject).startswith(shared) for subject in SUBJECTS)


def test_a_notebook_stores_the_same_bytes_each_time() -> None:
    once, again = (
        [each._repr_html_() for each in (explore_layer_norm([1, 2]), explore_placement(3), explore_cost())]
        for _ in range(2)
    )

    assert once == again
