"""Whatever a learner's text holds, no format lets it act: on a page, a table, a terminal, a log, a reader."""

import csv
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from markdown_it import MarkdownIt

from block_course.grading import show
from block_course.grading.report import FORMATS, Write, feedback
from tests.block_course.grading.graded import result
from tests.block_course.grading.report.hostile import HOSTILE, about, every_piece, submission
from tests.block_course.grading.test_show import Screen


def files(write: Write, text: str) -> Mapping[str, str]:
    """What a format writes for a submission with the text everywhere, by path."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "here"
        place.mkdir()
        write(place, [submission(text), result("zz")], about(text))
        found = {path: path.read_bytes().decode() for path in Path(folder).rglob("*") if path.is_file()}
        assert all(place in path.parents for path in found)
        return {str(path.relative_to(place)): content for path, content in found.items()}


def can_be_seen(text: str) -> bool:
    return all(each == "\n" or unicodedata.category(each)[0] != "C" for each in text)


@pytest.fixture(autouse=True, scope="module")
def _without_waiting_for_the_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


WRITERS = {**FORMATS, "feedback": feedback.write}


@pytest.mark.parametrize("name", WRITERS)
@given(text=HOSTILE)
@every_piece
def test_no_file_holds_what_can_not_be_seen_or_what_a_log_would_obey(name: str, text: str) -> None:
    for content in files(WRITERS[name], text).values():
        assert can_be_seen(content)
        assert "##[" not in content
        assert "##vso" not in content
        assert not any(line.lstrip().startswith("::") for line in content.splitlines())


@pytest.mark.parametrize("name", WRITERS)
@given(first=HOSTILE, second=HOSTILE)
@example(first="Ann", second="ann")
@example(first="zo\u00eb", second="zoe\u0308")
def test_two_learners_never_share_a_file(name: str, first: str, second: str) -> None:
    here = [set(files(WRITERS[name], text)) for text in (first, second)]

    if submission(first)["learner"] != submission(second)["learner"]:
        single = {each for each in here[0] if "/" not in each}
        of_others = {each for each in here[0] if "/zz/" in each}
        assert {each.casefold() for each in here[0] & here[1]} <= single | of_others


@given(text=HOSTILE)
@every_piece
def test_a_table_has_its_rows_and_no_formula_however_it_is_parted(text: str) -> None:
    for write, columns in ((FORMATS["csv"], 9), (feedback.write, 3)):
        (content,) = (each for path, each in files(write, text).items() if path.endswith(".csv"))
        rows = list(csv.reader(content.splitlines()))
        assert [len(row) for row in rows] == [columns] * 3
        for delimiter in ",;\t|":
            cells = [cell for row in csv.reader(content.splitlines(), delimiter=delimiter) for cell in row]
            assert not any(
                cell.lstrip("\"' ").startswith(tuple("=+-@＝＋－＠")) for cell in cells if "'" not in cell[:3]
            )


@given(text=HOSTILE)
@every_piece
def test_xml_can_be_parsed_and_holds_what_was_said(text: str) -> None:
    root = ElementTree.fromstring(files(FORMATS["junit"], text)["junit.xml"].encode())

    allowed = {"testsuites", "testsuite", "properties", "property", "testcase", "failure", "system-out"}
    assert {each.tag for each in root.iter()} == allowed
    assert len(root) == 2


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", ()))


def elements(page: str) -> list[tuple[str, tuple[str, ...]]]:
    parser = Elements()
    parser.feed(page)
    parser.close()
    return parser.found


@given(text=HOSTILE)
@every_piece
def test_a_page_has_our_elements_and_no_others(text: str) -> None:
    def longest(text: str) -> str:
        pages = [each for path, each in files(feedback.write, text).items() if path.endswith(".html")]
        return max(pages, key=len)

    if text.strip():
        assert elements(longest(text)) == elements(longest("x" * max(1, len(text.strip()))))


@given(text=HOSTILE)
@every_piece
def test_markdown_is_one_table_with_spans_of_code(text: str) -> None:
    page = files(FORMATS["markdown"], text)["summary.md"]
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page)

    blocks = {token.type for token in tokens}
    inline = {child.type for token in tokens for child in token.children or ()}
    assert blocks <= {
        *("heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close"),
        *(
            f"{part}_{end}"
            for part in ("table", "thead", "tbody", "tr", "th", "td")
            for end in ("open", "close")
        ),
    }
    assert inline <= {"text", "code_inline"}
    assert sum(token.type == "tr_open" for token in tokens) == 3
    cells = [after for token, after in pairwise(tokens) if token.type == "td_open"]
    assert len(cells) == 10
    for cell in (*cells[:2], cells[4]):  # whose, of what, and what happened, the others being numbers
        assert [child.type for child in cell.children or ()] in ([], ["code_inline"])


@pytest.mark.parametrize("name", ["gradescope", "classroom"])
@given(text=HOSTILE)
@every_piece
def test_what_others_show_of_json_can_be_seen_and_is_no_command(name: str, text: str) -> None:
    for content in files(FORMATS[name], text).values():
        for said in strings(json.loads(content)):
            assert can_be_seen(said)
            assert "::" not in said
            assert "##" not in said


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for member in members for each in strings(member)]


@given(text=HOSTILE)
@every_piece
def test_a_terminal_shows_text_and_obeys_nothing(text: str) -> None:
    screen = Screen(terminal=True)

    show.table(screen.console, [submission(text)], 1)
    show.roster(screen.console, about(text)["roster"])

    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen.text())  # our own colors
    assert "\x1b" not in shown
    assert can_be_seen(shown.replace("\r\n", "\n"))
    assert "::" not in shown
    assert "##" not in shown
