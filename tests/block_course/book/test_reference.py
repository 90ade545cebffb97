"""A package's reference: signatures that link their types, docstrings whose equations stand by themselves."""

import os
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from .conftest import Build, Built

pytestmark = pytest.mark.slow

CONFIG = '''"""Choices."""

from typing import Literal

Norm = Literal["layer", "rms"]


class Config:
    """What a block is made of."""
'''
PART = '''"""Parts of a block."""

import numpy as np
from jaxtyping import Float

from package.config import Config, Norm


def norm(x: Float[np.ndarray, "*B D"], config: Config, kind: Norm = "rms") -> np.ndarray:
    """Scale each token, as `other` and `nobody` do.

    y = x / s
    s = √(mean(x²))

    saved["norm"] is kept.

    Raises: ValueError for an x
    without features.
    Source: Ba et al., 2016, arXiv:1607.06450, "section 3".
    """


def other() -> None:
    """The other one."""


class Block:
    """A block."""

    def first(self) -> int:
        """One."""

    def second(self) -> int:
        """Two."""
'''
PAGE = """# Reference

```{api} package.config
:values: Norm
```

```{api} package.part
```
"""
EXTENSION = "block_course.book.reference"


def build_reference(build: Build, page: str = PAGE, strict: bool = True, **sources: str) -> Built:
    files = {"index.md": page, "lib/package/__init__.py": '"""A package."""\n'}
    files |= {
        f"lib/package/{name}.py": text for name, text in ({"config": CONFIG, "part": PART} | sources).items()
    }
    return build(
        files, EXTENSION, strict=strict, nitpicky=True, api_source="lib", api_packages=["package"],
        python_use_unqualified_type_names=True, exclude_patterns=["lib"],
    )  # fmt: skip


def described(built: Built, name: str) -> Tag:
    found = BeautifulSoup(built.page(), "html.parser").find(id=name)
    assert isinstance(found, Tag)
    return found


def test_a_signature_has_readable_shapes_and_links_to_the_types_of_the_package(build: Build) -> None:
    signature = described(build_reference(build), "package.part.norm")

    assert signature.get_text().replace("package.part.", "").split("¶")[0].strip("\n#") == (
        "norm(x: Float['*B D'], config: Config, kind: Norm = 'rms') → ndarray"
    )
    assert [link["href"] for link in signature.select("a.reference")] == [
        "#package.config.Config",
        "#package.config.Norm",
    ]


def test_an_equation_keeps_its_lines_and_prose_does_not(build: Build) -> None:
    body = described(build_reference(build), "package.part.norm").find_next_sibling("dd")

    assert isinstance(body, Tag)
    assert [line.get_text() for line in body.select(".api-equation .line")] == [
        "y = x / s",
        "s = √(mean(x²))",
    ]
    assert [paragraph.get_text() for paragraph in body.find_all("p")] == [
        "Scale each token, as other and nobody do.",
        'saved["norm"] is kept.',
        "Raises: ValueError for an x without features.",
        "Source: Ba et al., 2016, arXiv:1607.06450, “section 3”.",
    ]
    assert [link["href"] for link in body.select("a.reference")] == [
        "#package.part.other",
        "https://arxiv.org/abs/1607.06450",
    ]


def test_every_member_belongs_to_its_class(build: Build) -> None:
    built = build_reference(build)

    for name in ("Block", "Block.first", "Block.second"):
        assert described(built, f"package.part.{name}").name == "dt"


def test_only_what_is_asked_for_is_shown(build: Build) -> None:
    page = "# Reference\n\n```{api} package.part\n:only: other\n```\n"

    text = build_reference(build, page).page()

    assert 'id="package.part.other"' in text
    assert 'id="package.part.norm"' not in text


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("```{api} package.nothing\n```", "no module package.nothing below lib/"),
        ("```{api} package.part\n:only: norm second\n```", "package.part has no second"),
        ("```{api} package.part\n```", "reference target not found: package.config.Config"),
    ],
)
def test_what_is_not_there_is_a_warning(build: Build, page: str, words: str) -> None:
    built = build_reference(build, f"# Reference\n\n{page}\n", strict=False)

    assert words in built.warnings


def test_a_page_follows_its_source_and_is_left_alone_without_a_change(build: Build, tmp_path: Path) -> None:
    first = build_reference(build)
    settings: dict[str, object] = {
        "api_source": "lib",
        "api_packages": ["package"],
        "exclude_patterns": ["lib"],
    }
    settings |= {"nitpicky": True, "python_use_unqualified_type_names": True}
    written = (first.folder / "index.html").stat().st_mtime_ns

    again = build({}, EXTENSION, **settings)
    assert (again.folder / "index.html").stat().st_mtime_ns == written

    source = tmp_path / "source" / "lib" / "package" / "part.py"
    source.write_text(PART.replace("The other one.", "Another one."), encoding="utf-8")
    os.utime(source, (written / 1e9 + 60, written / 1e9 + 60))
    assert "Another one." in build({}, EXTENSION, **settings).page()
