"""An exercise that is downloaded alone says how to install what it needs, at the end of its first cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "exercises"
_FROM_REPOSITORY = (
    "*Is the package missing?* With Python 3.11 on Linux or macOS, "
    '`python -m pip install "transformer-block[course] @ git+{repository}"` installs it, and so does '
    '`%pip install "transformer-block[course] @ git+{repository}"` in a cell of its own, as on Colab.'
)
_FROM_FOLDER = (
    "*Is the package missing?* With Python 3.11 on Linux or macOS, `python -m pip install '.[course]'` "
    "in the course's folder installs it; `make lab` there installs it too and opens all exercises."
)


def with_installation(notebook: str, repository: str = "") -> str:
    """A notebook whose first text ends on how to install the package, from a repository if one is named.

    Raises ValueError if the notebook has no cell of text.
    """
    content = json.loads(notebook)
    first = next((cell for cell in content["cells"] if cell["cell_type"] == "markdown"), None)
    if first is None:
        raise ValueError("an exercise begins with a cell of text, and this one has none")
    sentence = (_FROM_REPOSITORY if repository else _FROM_FOLDER).format(repository=repository)
    text = "".join(first["source"]).rstrip("\n") + "\n\n" + sentence
    first["source"] = text.splitlines(keepends=True)
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _tell(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    repository = app.config.html_theme_options.get("repository_url", "")
    for name, (_, target) in app.env.dlfiles.items():
        source = Path(app.srcdir, name)
        if source.parent == Path(app.srcdir, FOLDER) and source.suffix == ".ipynb":
            told = with_installation(source.read_text(encoding="utf-8"), repository)
            Path(app.outdir, "_downloads", target).write_text(told, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the end of a build, when the copies lie there."""
    app.connect("build-finished", _tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
