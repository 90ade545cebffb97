"""Small Sphinx projects, built in this process: the extensions of the book without the book."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace


@dataclass(frozen=True)
class Built:
    """What one build left: exit status, warnings, pages."""

    status: int
    warnings: str
    folder: Path

    def page(self, name: str = "index") -> str:
        return (self.folder / f"{name}.html").read_text(encoding="utf-8")


Build = Callable[..., Built]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Write the given files and build; a second call goes on from the first, as a second `make book` does."""

    def run(
        files: dict[str, str], *extensions: str, builder: str = "html", strict: bool = True, **config: object
    ) -> Built:
        source, folder = tmp_path / "source", tmp_path / builder
        for name, text in files.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text, encoding="utf-8")
        overrides = {
            "extensions": ["myst_nb", *extensions],
            "html_theme": "basic",
            "nb_execution_mode": "off",
            **config,
        }
        warnings = io.StringIO()
        with docutils_namespace():
            app = Sphinx(
                source, None, folder, tmp_path / "doctrees", builder, overrides,
                status=None, warning=warnings, warningiserror=strict, keep_going=strict,
            )  # fmt: skip
            app.build()
        colorless = re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue())
        return Built(app.statuscode, colorless, folder)

    return run
