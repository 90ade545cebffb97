"""Buttons that open a chapter on Colab, Binder or a hub, once the book knows which repository it lies in.

`repository` and `launch_buttons` in _config.yml are the theme's own. Where no repository is named there, the
variable BOOK_REPOSITORY names it (https://github.com/OWNER/NAME), as the deploy workflow does; where neither
does, the book has no such buttons. A button is a link: a page loads nothing for it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from sphinx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx
    from sphinx.config import Config

VARIABLE = "BOOK_REPOSITORY"
_REPOSITORY = re.compile(r"https://[\w.-]+/[\w.-]+/[\w.-]+")


def options(given: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """The theme's options with the repository's address, or without buttons that need one.

    Raises ConfigError if the address isn't https://HOST/OWNER/NAME.
    """
    address = str(given.get("repository_url") or environment.get(VARIABLE, "")).rstrip("/")
    if not address:
        return {
            name: value for name, value in given.items() if name not in {"launch_buttons", "repository_url"}
        }
    if not _REPOSITORY.fullmatch(address):
        raise ConfigError(f"a repository's address is https://HOST/OWNER/NAME, not {address}")
    return {**given, "repository_url": address}


def _settle(app: Sphinx, config: Config) -> None:
    config.html_theme_options = options(config.html_theme_options, os.environ)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect before the theme reads its options."""
    app.connect("config-inited", _settle, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
