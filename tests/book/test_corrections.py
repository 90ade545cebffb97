"""Each correction of a lesson has its entry, a link into a chapter, and a cell there that prints it."""

from typing import NamedTuple

import pytest

from .conftest import COURSE
from .lints import claims, printed_numbers, value, word_faults
from .sections import Section, links, sections

PAGE = sections(COURSE / "chapters" / "corrections.md")
LESSONS = {
    "A": "The block around attention",
    "B": "Residuals, Normalization & the Feed-Forward Layer",
    "C": "The Transformer Block",
    "D": "The lesson of shapes and counts",
}


class Cell(NamedTuple):
    """A cell that shows a correction."""

    chapter: str
    name: str


# What a lesson says otherwise, and the cells that show what holds
CORRECTIONS: dict[tuple[str, str], list[Cell]] = {
    ("A", "one-seed-for-two-libraries"): [
        Cell("08_block", "seeds"),
        Cell("08_block", "seeded"),
        Cell("08_block", "copied"),
        Cell("20_misconceptions", "first-day"),
    ],
    ("A", "two-meanings-of-true"): [Cell("06_masks", "inverted")],
    ("B", "a-layer-norm-on-two-features"): [
        Cell("03_layer_norm", "two-features"),
        Cell("09_one_token", "ten-outputs"),
    ],
    ("B", "the-position-that-attention-doesnt-see"): [Cell("09_one_token", "four-walks")],
    ("B", "looking-ahead"): [Cell("09_one_token", "later-tokens"), Cell("09_one_token", "differences")],
    ("B", "a-shortcut-at-any-depth-in-every-model"): [
        Cell("02_residual", "shortcut"),
        Cell("07_norm_placement", "arriving-printed"),
        Cell("09_one_token", "pre-norm"),
    ],
    ("B", "a-large-share-of-the-parameters"): [
        Cell("04_feed_forward", "share"),
        Cell("04_feed_forward", "whole-model"),
    ],
    ("C", "the-test-that-adds-a-hundred"): [
        Cell("06_masks", "hundred-run"),
        Cell("06_masks", "hundred-float32"),
    ],
    ("C", "the-masked-mass-of-one-query"): [Cell("06_masks", "tests")],
    ("C", "the-drawn-residual"): [Cell("01_shapes", "edges")],
    ("C", "two-projections"): [Cell("05_attention", "four-projections")],
    ("C", "silent-branches"): [Cell("08_block", "silent"), Cell("08_block", "norm-twice")],
    ("C", "columns-and-rows"): [Cell("04_feed_forward", "conventions")],
    ("D", "attention-heads-as-a-linear-map"): [
        Cell("05_attention", "additivity"),
        Cell("05_attention", "frozen"),
    ],
    ("D", "the-gate-without-its-factor"): [Cell("04_feed_forward", "misprint")],
    ("D", "a-block-in-one-line"): [Cell("08_block", "misprint")],
    ("D", "what-makes-a-model-nonlinear"): [Cell("02_residual", "linear")],
    ("D", "pre-norm-and-warm-up"): [
        Cell("20_misconceptions", "stored-runs"),
        Cell("20_misconceptions", "warm-up"),
        Cell("11_training", "post-norm-alone"),
    ],
    ("D", "eighty-five-million-beside-175-billion"): [Cell("13_parameters", "bases")],
    ("D", "an-attention-output-from-elsewhere"): [Cell("08_block", "elsewhere")],
    ("D", "an-eps-of-zero"): [
        Cell("03_layer_norm", "eps-is-zero"),
        Cell("03_layer_norm", "one-two-three-four"),
    ],
}
each_correction = pytest.mark.parametrize(
    ("entry", "cells"), [(entry, cells) for (_, entry), cells in CORRECTIONS.items()], ids=str
)


def chapter(stem: str) -> dict[str, Section]:
    return sections(COURSE / "chapters" / f"{stem}.ipynb")


def test_the_page_has_each_correction_below_its_lesson_and_nothing_else() -> None:
    letters = {title: letter for letter, title in LESSONS.items()}
    found, letter = [], ""
    for name, section in PAGE.items():
        letter = letters.get(section.title, letter)
        if section.depth == len("###"):
            found.append((letter, name))

    assert [each.title for each in PAGE.values() if each.depth == len("##")] == list(LESSONS.values())
    assert found == list(CORRECTIONS)


@each_correction
def test_a_correction_has_cells_that_ran_in_sections_that_it_links_to(entry: str, cells: list[Cell]) -> None:
    linked = {(link.page, link.section) for link in links(PAGE[entry].prose)}

    homes = {
        (cell.chapter, anchor)
        for cell in cells
        for anchor, section in chapter(cell.chapter).items()
        if any(each.id == cell.name and each.outputs for each in section.cells)
    }

    assert {page for page, _ in homes} == {cell.chapter for cell in cells}
    assert linked <= {(page, anchor) for page, _ in linked for anchor in chapter(page)}
    assert {page for page, _ in linked} == {page for page, _ in homes}
    assert homes & linked


@each_correction
def test_the_cells_of_a_correction_print_its_numbers(entry: str, cells: list[Cell]) -> None:
    shown = [
        each
        for cell in cells
        for section in chapter(cell.chapter).values()
        for each in section.cells
        if each.id == cell.name
    ]
    assert len(shown) == len(cells)
    printed = printed_numbers(shown)

    assert [number for number, _ in claims(PAGE[entry].prose) if value(number) not in printed] == []


def test_the_page_says_how_many_corrections_it_has() -> None:
    assert "twenty-one places" in next(iter(PAGE.values())).prose
    assert len(CORRECTIONS) == 21


def test_the_page_has_no_loose_word() -> None:
    text = (COURSE / "chapters" / "corrections.md").read_text(encoding="utf-8")

    assert list(word_faults({"id": "corrections", "source": text})) == []
