"""The page of sources: each exercise of the lessons has its place, and each that is named exists."""

import re

import pytest

from block_course.checks import assignments

from .conftest import COURSE

PAGE = (COURSE / "chapters" / "sources.md").read_text(encoding="utf-8")
NAMED = re.compile(r"((?:\*[^*|]+\*(?: and |, ))+)\[[^\]]+\]\((\d\d_\w+)\.ipynb#exercises\)")
LESSONS = [
    "The block around attention",
    "Residuals, Normalization & the Feed-Forward Layer",
    "The Transformer Block",
    "The lesson of shapes and counts",
]


def titles() -> dict[str, set[str]]:
    return {each.stem: {exercise.title for exercise in each.exercises} for each in assignments()}


def rows(heading: str) -> list[str]:
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| ---")]


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_part_of_a_lesson_leads_somewhere(lesson: str) -> None:
    parts = [row for row in rows(lesson) if not row.endswith("here |")]

    assert len(parts) > 10
    assert [row for row in parts if "](" not in row.split(" | ")[-1]] == []


def test_every_exercise_of_the_lessons_has_its_place() -> None:
    of_block = "\n".join(rows("The Transformer Block"))
    of_shapes = "\n".join(rows("The lesson of shapes and counts"))

    assert [int(number) for number in re.findall(r"^\| (\d+), ", of_block, re.MULTILINE)] == [*range(1, 17)]
    assert re.findall(r"^\| exercise (\d), ", of_shapes, re.MULTILINE) == ["1", "2", "3"]


def test_each_exercise_that_is_named_is_one_of_its_chapter() -> None:
    known = titles()
    named = [
        (stem, title)
        for emphasized, stem in NAMED.findall(PAGE)
        for title in re.findall(r"\*([^*]+)\*", emphasized)
    ]

    assert len(named) >= 22
    assert [(stem, title) for stem, title in named if title not in known[stem]] == []
