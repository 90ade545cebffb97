"""A figure says its size and comes when it is needed."""

from pathlib import Path

import pytest

from .conftest import Build

pytestmark = pytest.mark.slow

PICTURES = "block_course.book.pictures"
DRAWN = '<svg xmlns="http://www.w3.org/2000/svg" width="36pt" height="20.25pt"></svg>\n'
FILES = {
    "index.md": "# Home\n\n![A line.](line.svg)\n\n```{toctree}\na/deep\n```\n",
    "a/deep.md": "# Deep\n\n![The same.](../line.svg) ![Of no size.](../free.svg)\n",
    "line.svg": DRAWN,
    "free.svg": DRAWN.replace(' width="36pt"', ""),
}


def test_a_figure_says_its_size_and_may_come_late(build: Build) -> None:
    built = build(FILES, PICTURES)

    told = 'width="48" height="27" loading="lazy" />'
    assert f'<img alt="A line." src="_images/line.svg" {told}' in built.page()
    assert f'<img alt="The same." src="../_images/line.svg" {told}' in built.page("a/deep")


def test_a_figure_that_does_not_say_its_size_is_left(build: Build) -> None:
    assert '<img alt="Of no size." src="../_images/free.svg" />' in build(FILES, PICTURES).page("a/deep")


def test_a_second_build_changes_nothing(build: Build) -> None:
    first = build(FILES, PICTURES)
    before = first.page(), (first.folder / "index.html").stat().st_mtime_ns

    second = build({}, PICTURES)

    assert (second.page(), (second.folder / "index.html").stat().st_mtime_ns) == before


def test_other_builders_are_left_alone(build: Build) -> None:
    built = build(FILES, PICTURES, builder="text", strict=False)

    assert Path(built.folder / "index.txt").is_file()
