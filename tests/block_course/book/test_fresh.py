"""A second build is quick, and right."""

from pathlib import Path

import pytest

from block_course.book import fresh
from block_course.book.fresh import frame_digest

from .conftest import Build

pytestmark = pytest.mark.slow

FRESH = "block_course.book.fresh"
GOOD = "# Home\n\nText.\n"
BAD = "# Home\n\nSee {ref}`nowhere`.\n"


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each page that a build reads."""
    from sphinx.builders import Builder

    read, seen = Builder.read_doc, []

    def noting(self: Builder, docname: str, **options: object) -> None:
        seen.append(docname)
        read(self, docname, **options)

    monkeypatch.setattr(Builder, "read_doc", noting)
    return seen


def test_a_build_with_nothing_changed_reads_nothing(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    build({"index.md": GOOD}, FRESH)
    seen = reads(monkeypatch)

    build({}, FRESH)

    assert seen == []


def test_a_build_that_warned_fails_again(build: Build) -> None:
    first = build({"index.md": BAD}, FRESH)
    second = build({}, FRESH)

    assert first.status == second.status == 1
    assert first.warnings == second.warnings
    assert "undefined label: 'nowhere'" in second.warnings


def test_a_build_that_warned_is_mended_by_mending_the_page(build: Build) -> None:
    build({"index.md": BAD}, FRESH)

    assert build({"index.md": GOOD}, FRESH).status == 0


def test_warnings_that_are_no_errors_let_the_build_stand(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build({"index.md": BAD}, FRESH, strict=False)
    seen = reads(monkeypatch)

    assert build({}, FRESH, strict=False).status == 0
    assert seen == []


def test_a_new_stylesheet_reads_every_page_again(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"index.md": GOOD + "\n```{toctree}\nother\n```\n", "other.md": "# Other\n"}
    build(pages | {"static/book.css": "p {}"}, FRESH, html_static_path=["static"])
    seen = reads(monkeypatch)

    built = build({"static/book.css": "p { margin: 0 }"}, FRESH, html_static_path=["static"])

    assert sorted(seen) == ["index", "other"]
    assert (built.folder / "_static" / "book.css").read_text() == "p { margin: 0 }"


def test_the_digest_follows_names_and_contents_of_files(tmp_path: Path) -> None:
    def digest(**files: str) -> str:
        for path in tmp_path.iterdir():
            path.unlink()
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return frame_digest([tmp_path])

    digests = [digest(a="x"), digest(a="y"), digest(b="x"), digest(a="x", b=""), digest(a="", b="x")]

    assert len(set(digests)) == len(digests)
    assert digest(a="x") == digests[0]


def test_the_digest_follows_the_versions_of_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = frame_digest([tmp_path])
    monkeypatch.setattr(fresh, "version", lambda name: "0")

    assert frame_digest([tmp_path]) != before


def test_the_digest_ignores_compiled_python(tmp_path: Path) -> None:
    before = frame_digest([tmp_path])
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "katex.pyc").write_bytes(b"compiled")

    assert frame_digest([tmp_path]) == before
