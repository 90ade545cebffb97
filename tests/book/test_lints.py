"""The lints of chapters find each fault that they are for; the chapters have none."""

import copy
import json
from pathlib import Path

import pytest

from .conftest import COURSE
from .entries import entry_faults
from .lints import Notebook, chapter_faults, page_faults
from .sections import sections

PAGES = sorted((COURSE / "chapters").glob("*.ipynb"))
COLLECTIONS = {"20_misconceptions"}
"""Pages that are a collection of entries and so have no levels of depth."""
AROUND = {"index", "checks_quality"}
"""Pages about the course itself, which teach nothing."""
CHAPTERS = [path for path in PAGES if path.stem not in COLLECTIONS | AROUND]
OPENING = "# One title\n\n**The question.** Why?\n\n*You need* a pencil. *It takes* 15 minutes."
SECTIONS = """## Intuition

The mean is 2.50, in GPT-2 as in 1997, and 12 tokens make 7,087,872.

### A part

A paper measured 25.5 % {cite:p}`ivanov2021data`. Here `0.125` is code and $0.75$ mathematics.

## Mechanics
## Mathematics and code
## Research and systems
## Carry forward
## Recall
<details><summary>Why?</summary></details><details><summary>How?</summary></details><details>
<summary>Where?</summary></details>

## Where this comes from
"""
CAPTION = "Where is it? At 2.5."


def markdown(name: str, text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def code(name: str, source: str, *outputs: dict[str, object], **mystnb: object) -> dict[str, object]:
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {"mystnb": mystnb},
        "source": source,
        "outputs": list(outputs),
    }


@pytest.fixture
def chapter() -> Notebook:
    printed = {"output_type": "stream", "name": "stdout", "text": ["mean 2.5 and 7087872\n"]}
    drawn = {"output_type": "display_data", "data": {"image/svg+xml": ["<svg/>"]}}
    figure = {"caption": CAPTION, "name": "fig-dot"}
    return {
        "cells": [
            markdown("question", OPENING),
            code("printing", "print(mean)", printed),
            code(
                "drawing", "figures.dot(x)", drawn, figure=figure, image={"alt": "A dot in an empty plane."}
            ),
            markdown("sections", SECTIONS),
        ]
    }


def test_a_sound_chapter_has_no_faults(chapter: Notebook) -> None:
    assert chapter_faults(chapter) == []


@pytest.mark.parametrize(
    ("cell", "before", "after", "fault"),
    [
        (3, "2.50", "2.51", "sections: no cell prints 2.51"),
        (3, "12 tokens", "112 tokens", "sections: no cell prints 112"),
        (3, "7,087,872", "7,087,873", "sections: no cell prints 7,087,873"),
        (3, "GPT-2", "2,048 tokens", "sections: no cell prints 2,048"),
        (3, " {cite:p}`ivanov2021data`", "", "sections: no cell prints 25.5"),
        (3, "The mean", "Note that the mean", "sections: says 'note that'"),
        (3, "The mean", "Just the mean", "sections: says 'just'"),
        (3, "### A part", "#### A part", "sections: the heading 'A part' skips from level 2 to 4"),
        (3, "### A part", "# A part", "question: a chapter has one title, and it comes first"),
        (3, "## Mechanics\n", "", "question: sections ['Intuition', 'Mathematics and code'"),
        (3, "<summary>Why?", "Why?", "sections: fewer than 3 recall questions"),
        (0, "*It takes*", "It takes", "question: the opening lacks *It takes*"),
        (1, "print(mean)", "print(mean)\n" * 11, "printing: 11 lines of code, at most 10"),
        (1, "print(mean)", "import matplotlib.pyplot", "printing: draws with matplotlib.pyplot"),
        (1, "print(mean)", "from seaborn import heatmap", "printing: draws with seaborn"),
        (1, "print(mean)", "axes.plot(mean)", "printing: draws with plot"),
    ],
)
def test_a_fault_in_the_text_or_the_code_is_found(
    chapter: Notebook, cell: int, before: str, after: str, fault: str
) -> None:
    assert before in chapter["cells"][cell]["source"]
    chapter["cells"][cell]["source"] = chapter["cells"][cell]["source"].replace(before, after)

    found = chapter_faults(chapter)

    assert len(found) == 1
    assert found[0].startswith(fault)


@pytest.mark.parametrize(
    ("mystnb", "fault"),
    [
        (
            {"figure": {"caption": "A dot.", "name": "fig-dot"}},
            "drawing: a figure whose caption asks no question",
        ),
        ({"figure": {"name": "fig-dot"}}, "drawing: a figure whose caption asks no question"),
        ({"figure": {"caption": CAPTION}}, "drawing: a figure without a name that begins with fig-"),
        ({"image": {"alt": "image"}}, "drawing: a figure without authored alt text"),
        ({"image": {}}, "drawing: a figure without authored alt text"),
        (
            {"figure": {"caption": "Where? At 0.125.", "name": "fig-dot"}},
            "drawing: the caption says 0.125, which no cell prints or draws",
        ),
    ],
)
def test_a_mute_figure_is_found(chapter: Notebook, mystnb: dict[str, object], fault: str) -> None:
    cell = copy.deepcopy(chapter["cells"][2])
    cell["metadata"]["mystnb"] |= mystnb
    chapter["cells"][2] = cell

    found = chapter_faults(chapter)

    assert len(found) == 1
    assert found[0].startswith(fault)


def test_there_are_chapters() -> None:
    assert CHAPTERS
    assert {path.stem for path in PAGES} > COLLECTIONS | AROUND


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_chapter_has_a_fault(path: Path) -> None:
    assert chapter_faults(json.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("stem", sorted(COLLECTIONS))
def test_no_collection_has_a_fault(stem: str) -> None:
    path = COURSE / "chapters" / f"{stem}.ipynb"
    known = {each.stem: sections(each) for each in PAGES}

    assert page_faults(json.loads(path.read_text(encoding="utf-8"))) == []
    assert entry_faults(sections(path), known) == []


@pytest.mark.parametrize("stem", sorted(AROUND))
def test_no_page_around_the_chapters_has_a_fault(stem: str) -> None:
    path = COURSE / "chapters" / f"{stem}.ipynb"

    assert page_faults(json.loads(path.read_text(encoding="utf-8"))) == []
