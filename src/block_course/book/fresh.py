"""No build stands on stale ground.

- Sphinx reads a page again when the page changes, or a file that it includes. What shapes every page (these
  extensions, the stylesheet, the versions of Sphinx and its theme) enters as one digest: a change reads all.
- A build that failed leaves nothing behind. With `-W --keep-going` Sphinx reports every warning and fails,
  but keeps what it has read: the next build would find those pages up to date, skip them and pass.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.application import ENV_PICKLE_FILENAME

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

_PACKAGES = ("myst-nb", "myst-parser", "sphinx", "sphinx-book-theme", "sphinx-design")


def frame_digest(folders: list[Path]) -> str:
    """Digest of every file in the folders and of the packages that turn a page into HTML."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(
                    path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0"
                )
    digest.update(" ".join(f"{name} {version(name)}" for name in _PACKAGES).encode())
    return digest.hexdigest()


def _enter_digest(app: Sphinx, config: Config) -> None:
    static = [Path(app.srcdir, folder) for folder in config.html_static_path]
    config.book_frame = frame_digest([Path(__file__).parent, *static])


def _forget_a_failed_build(app: Sphinx, exception: Exception | None) -> None:
    # Sphinx does so itself after an exception; keep_going is set only with -W
    if app.statuscode or (app.keep_going and app._warncount):
        Path(app.doctreedir, ENV_PICKLE_FILENAME).unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect last, so that what other extensions report at the end of a build counts too."""
    app.add_config_value("book_frame", "", "env")
    app.connect("config-inited", _enter_digest, priority=900)
    app.connect("build-finished", _forget_a_failed_build, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
