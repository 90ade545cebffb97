import json
from typing import Any

import nbformat
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter

from block_course.grading.gradebook.notebooks import Release, autograded, release_of
from block_course.grading.notebook import Notebook, read
from block_course.grading.result import Result
from tests.block_course.grading.examples import ADD_CHECK, DOUBLE_CHECK, SETUP, submission
from tests.block_course.grading.graded import mark, result
from tests.block_course.grading.notebooks import Content, answer, as_bytes, code, markdown, notebook

STATEMENT = markdown("# Twice\n\nWrite `double`.")
RELEASED: Release = release_of(
    as_bytes(
        notebook(
            STATEMENT,
            SETUP,
            answer("tiny-double", "..."),
            DOUBLE_CHECK,
            answer("tiny-add", "..."),
            ADD_CHECK,
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}, "more": 1},
        )
    )
)
RESULT: Result = result(marks=(mark("tiny.double", "pass", 3.0), mark("tiny.add", why="a `call`\x1b[31m")))


def made(*cells: Content, of: Result = RESULT) -> list[Any]:
    written = autograded(read(as_bytes(notebook(*cells))), RELEASED, of)
    nbformat.validate(json.loads(written))
    return list(nbformat.reads(written, as_version=4).cells)


def roles(cells: list[Any]) -> list[str | None]:
    return [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells]


def test_cells_with_a_role_are_there_once_with_our_data_and_our_checks() -> None:
    forged = {
        **DOUBLE_CHECK,
        "source": "pass",
        "metadata": {"nbgrader": {"grade_id": "tiny-double-check", "points": 99}},
    }
    cells = made(
        SETUP, answer("tiny-double", "draft"), forged, forged, answer("tiny-double", "final"), code("own")
    )

    assert roles(cells) == [
        "tiny-setup",
        None,
        "tiny-double-check",
        "tiny-double",
        None,
        "tiny-add",
        "tiny-add-check",
    ]
    assert [cell.source for cell in cells] == [
        SETUP["source"],
        "draft",
        DOUBLE_CHECK["source"],
        "final",
        "own",
        "",
        ADD_CHECK["source"],
    ]
    assert cells[2].metadata == DOUBLE_CHECK["metadata"]


def test_outputs_are_ours_alone() -> None:
    loud = {**code("print(1)"), "outputs": [{"output_type": "stream", "name": "stdout", "text": "theirs"}]}

    cells = made(loud, DOUBLE_CHECK, ADD_CHECK, of={**RESULT, "notes": ["cell 1: ::error::x"]})

    assert [len(cell.outputs) for cell in cells if cell.cell_type == "code"] == [0, 1, 1, 0, 0, 0, 1]
    assert cells[1].outputs[0].text.startswith("3 of 3 points\nEvery property holds.")
    assert "Why: a `call`\\x1b[31m" in cells[2].outputs[0].text
    assert "::" not in cells[-1].outputs[0].text


def test_our_markdown_stays_and_the_learners_is_a_block_of_text() -> None:
    cells = made(
        STATEMENT, markdown("![x](http://e.vil/x)\n```\n<script>"), {**markdown("raw"), "cell_type": "raw"}
    )

    assert cells[0].source == STATEMENT["source"]
    assert cells[1].source == "````text\n![x](http://e.vil/x)\n```\n<script>\n````"
    assert (cells[2].cell_type, cells[2].source) == ("markdown", "```text\nraw\n```")


def test_an_answer_that_was_turned_into_markdown_is_shown_as_code() -> None:
    (cell, *_) = made({**answer("tiny-double", "def double(x): ..."), "cell_type": "markdown"})

    assert (cell.cell_type, cell.source) == ("code", "def double(x): ...")


def test_of_a_file_that_can_not_be_read_there_are_our_cells() -> None:
    cells = nbformat.reads(autograded(Notebook(()), RELEASED, RESULT), as_version=4).cells

    assert roles(cells) == ["tiny-setup", "tiny-double", "tiny-double-check", "tiny-add", "tiny-add-check"]


HOSTILE = [
    "<script>alert(1)</script>",
    "![x](https://e.vil/x.png) <img src=x onerror=alert(1)>",
    "[x](javascript:alert(1)) <a href='https://e.vil'>y</a>",
    "<iframe src='https://e.vil'></iframe>",
    "$$\\href{javascript:alert(1)}{x}$$",
    "```\n</code></pre><script>alert(1)</script>\n````\n~~~\n<b>x</b>",
    "![x](attachment:x.png)",
    "</div></body><script>alert(1)</script>",
]


def test_nothing_in_a_page_of_it_acts() -> None:
    more = [cell for text in HOSTILE for cell in (markdown(text), code(text))]
    ours = autograded(read(as_bytes(notebook(STATEMENT, SETUP))), RELEASED, RESULT)
    theirs = autograded(read(submission("x = 1", "y = 2", *more)), RELEASED, RESULT)

    def elements(written: str) -> list[Any]:
        export = HTMLExporter(exclude_anchor_links=True)
        page = export.from_notebook_node(nbformat.reads(written, as_version=4))[0]
        main: Any = BeautifulSoup(page, "html.parser").main
        return [*main.find_all(["script", "img", "iframe", "a", "b"]), *main.find_all(onerror=True)]

    assert elements(theirs) == elements(ours) == []
