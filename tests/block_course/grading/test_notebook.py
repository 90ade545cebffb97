import codecs
import json

import pytest

from block_course.grading import notebook as grading_notebook
from block_course.grading.notebook import Unreadable, read
from tests.block_course.grading.notebooks import answer, as_bytes, check, code, given, markdown, notebook


def test_a_notebook_is_read_as_its_cells_in_order() -> None:
    found = read(
        as_bytes(
            notebook(
                markdown("# é"),
                given("t-setup", "import x"),
                answer("t-f", "f = 1"),
                check("t-f-check"),
                code("2"),
            )
        )
    )

    assert found.notes == ()
    assert [(each.number, each.kind, each.source, each.grade_id) for each in found.cells] == [
        (1, "markdown", "# é", None),
        (2, "code", "import x", "t-setup"),
        (3, "code", "f = 1", "t-f"),
        (4, "code", "check()", "t-f-check"),
        (5, "code", "2", None),
    ]
    assert [(each.locked, each.graded, each.solution) for each in found.cells[1:4]] == [
        (True, False, False),
        (False, False, True),
        (True, True, False),
    ]


TWO_CELLS = notebook(code("x = 'é'"), code("y = 2"))

PASSED_OVER = {
    "a byte order mark": (codecs.BOM_UTF8 + as_bytes(TWO_CELLS), "a byte order mark"),
    "Latin-1": (json.dumps(TWO_CELLS, ensure_ascii=False).encode("latin-1"), "not UTF-8 at byte"),
    "UTF-16": (json.dumps(TWO_CELLS, ensure_ascii=False).encode("utf-16"), "UTF-16"),
    "nbformat 99": (as_bytes({**TWO_CELLS, "nbformat": 99}), "nbformat is 99, not 4"),
    "nbformat that is no number": (
        as_bytes({**TWO_CELLS, "nbformat": "x" * 99}),
        "nbformat is xxxxxxxxxxxxxxxxxxxx",
    ),
    "null bytes in a text": (
        as_bytes(notebook(code("x \x00= 'é'"), code("y = 2"))),
        "cell 1 holds null bytes",
    ),
    "null bytes in the file": (
        as_bytes(TWO_CELLS).replace(b"y = 2", b"y = 2\x00"),
        "cell 2 holds null bytes",
    ),
    "a cell that is none": (as_bytes(notebook(code("x = 'é'"), 7, code("y = 2"))), "cell 2 is no cell"),
}


@pytest.mark.parametrize(("data", "note"), PASSED_OVER.values(), ids=PASSED_OVER.keys())
def test_a_fault_is_passed_over_with_a_note(data: bytes, note: str) -> None:
    found = read(data)

    assert [each.source for each in found.cells] == ["x = 'é'", "y = 2"]
    assert len(found.notes) == 1
    assert note in found.notes[0]


def test_a_text_may_be_a_list_of_lines() -> None:
    found = read(as_bytes(notebook(code(["x = 1\n", "y = 2", None]))))

    assert found.cells[0].source == "x = 1\ny = 2"
    assert found.notes == ("cell 1 has lines that are no text; read without them",)


@pytest.mark.parametrize("said", [None, 7, ["code"], "cell"])
def test_a_cell_that_does_not_say_what_it_is_is_code_if_it_has_outputs_and_noted(said: object) -> None:
    found = read(as_bytes(notebook({**code("x = 1"), "cell_type": said}, {"cell_type": said, "source": "y"})))

    assert [(each.kind, each.source) for each in found.cells] == [("code", "x = 1"), ("raw", "y")]
    assert found.notes == (
        "cell 1 doesn't say what it is; read as a code cell",
        "cell 2 doesn't say what it is; read as a raw cell",
    )


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_an_nbformat_nested_as_deeply_as_can_be_read_is_named_and_not_shown() -> None:
    found = read(b'{"cells": [], "nbformat": ' + nested(900) + b"}")

    assert found.notes == ("nbformat is a list, not 4",)


MANY = {
    "lists": b"[],",
    "objects": b"{},",
    "numbers": b"1.5,",
    "texts": b'"",',
    "texts with quotes in them": b'""",',
    "texts that end in a backslash": b'"\\",',
}


@pytest.mark.parametrize("piece", MANY.values(), ids=MANY.keys())
def test_a_file_of_more_pieces_than_memory_should_hold_is_refused_before_it_is_parsed(
    piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading_notebook, "MAX_PIECES", 500)
    monkeypatch.setattr(json, "loads", lambda *given, **named: pytest.fail("it was parsed"))
    outputs = b'{"cells": [], "metadata": [' + piece * 500 + b"0]}"

    with pytest.raises(Unreadable, match=r"more than 500 texts, numbers and lists; .*clear those"):
        read(outputs)


@pytest.mark.parametrize("text", ["[{,", '"[', "\\", '"'])
def test_what_one_long_text_holds_are_no_pieces(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_notebook, "MAX_PIECES", 500)

    found = read(as_bytes(notebook(code(text * 2000), code('x = "y"'))))

    assert [each.source for each in found.cells] == [text * 2000, 'x = "y"']


@pytest.mark.parametrize("source", [None, 7, {"a": 1}])
def test_a_cell_without_text_is_empty_and_noted(source: object) -> None:
    found = read(as_bytes(notebook(code(source))))

    assert (found.cells[0].source, found.notes) == ("", ("cell 1 has no text",))


def test_half_a_surrogate_pair_is_replaced_and_noted() -> None:
    found = read(json.dumps(notebook(code("x = '\ud800'"))).encode("ascii"))

    assert found.cells[0].source == "x = '?'"
    assert found.notes == ("cell 1 holds half a surrogate pair; read as ?",)


def test_a_cell_over_the_limit_is_left_out_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_notebook, "MAX_CELL_CHARACTERS", 10)

    found = read(as_bytes(notebook(code("x" * 11), code("y = 2"))))

    assert [each.source for each in found.cells] == ["", "y = 2"]
    assert found.notes == ("cell 1 has 11 characters, over the limit; not run",)


@pytest.mark.parametrize(
    "metadata",
    [None, [], {"nbgrader": None}, {"nbgrader": 3}, {"nbgrader": {"grade_id": 5, "locked": "yes"}}],
)
def test_metadata_of_the_wrong_shape_says_nothing(metadata: object) -> None:
    cell = {"cell_type": "code", "source": "x = 1", "metadata": metadata}

    (found,) = read(as_bytes({"cells": [cell]})).cells

    assert (found.grade_id, found.locked, found.graded, found.solution) == (None, False, False, False)


def test_nbformat_3_keeps_its_code_under_other_names() -> None:
    sheets = [
        {"cells": [{"cell_type": "heading", "source": "T"}, {"cell_type": "code", "input": ["x = 1"]}]},
        {"metadata": {}},
        {"cells": None},
        {"cells": [{"cell_type": "raw", "source": "r"}]},
    ]

    found = read(as_bytes({"nbformat": 3, "worksheets": sheets}))

    assert [(each.kind, each.source) for each in found.cells] == [
        ("markdown", "T"),
        ("code", "x = 1"),
        ("raw", "r"),
    ]
    assert found.notes == ("nbformat is 3, not 4",)


UNREADABLE = {
    "no bytes": (b"", "the file is empty"),
    "white space": (b" \n\x00\n", "nothing but white space"),
    "no JSON": (b"hello", "not valid JSON at line 1, column 1"),
    "a file that is cut off in a text": (as_bytes(TWO_CELLS)[:60], "the file looks cut off"),
    "a file that is cut off between texts": (b'{"cells": [', "the file looks cut off"),
    "a list": (b"[1]", "a list and not a notebook"),
    "null": (b"null", "null and not a notebook"),
    "true": (b"true", "true or false and not a notebook"),
    "no cells": (b'{"nbformat": 4}', "has no cells"),
    "cells that are no list": (b'{"cells": {}}', "cells are no list"),
    "lists nested 200,000 deep": (b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
    "a number of 5,000 digits": (b'{"cells": ' + b"9" * 5000 + b"}", "not valid JSON: "),
    "half of UTF-16": (codecs.BOM_UTF16_LE + b"{\x00\x00", "looks like UTF-16 but isn't, at byte"),
}


@pytest.mark.parametrize(("data", "what"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_can_not_be_read_says_what_and_where(data: bytes, what: str) -> None:
    with pytest.raises(Unreadable, match=what):
        read(data)


def test_a_file_over_the_limit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_notebook, "MAX_FILE_BYTES", 2 << 20)

    with pytest.raises(Unreadable, match="the file has 3 MB; the limit is 2 MB"):
        read(b" " * (3 << 20))


def test_a_notebook_of_too_many_cells_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_notebook, "MAX_CELLS", 3)

    with pytest.raises(Unreadable, match="the notebook has 4 cells; the limit is 3"):
        read(as_bytes(notebook(*[code("x")] * 4)))


@pytest.mark.parametrize(("stored", "known"), [("0f3a", "0f3a"), (7, None), (None, None), (["a"], None)])
def test_the_checksum_of_a_cell_as_it_was_released_is_read(stored: object, known: str | None) -> None:
    cell = answer("f", "f = 1")
    cell["metadata"]["nbgrader"]["checksum"] = stored

    assert read(as_bytes(notebook(cell))).cells[0].checksum == known
