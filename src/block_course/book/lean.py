"""Pages that a phone gets quickly: one stylesheet without what is unused, one script, icons of their own.

The theme's pages ask for ten stylesheets, twelve scripts and an icon font of 1.5 MB as a script. Here a page
names `book.css` and `book.js`; both are made when the build ends, from what theme and extensions asked for.
A script that is a module, and what a page says in a script of its own, stay with the page.

Two things that the theme does as a page loads are left out, for each makes the browser lay out all of a long
page several times. `sections.js` has the table of contents follow the reader, but later; `scrolling.js` finds
the boxes that scroll.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError

from block_course.book import icons, sheets

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config

_TEMPLATES = Path(__file__).parent / "assets" / "templates"

# what the theme's own templates load, before and after what extensions ask for
_FIRST_SHEETS = ("styles/theme.css", "styles/pydata-sphinx-theme.css")
_LAST_SCRIPTS = ("scripts/bootstrap.js", "scripts/pydata-sphinx-theme.js")

# parts of Bootstrap that no page has, though its script names their classes
_NOT_USED = re.compile(r"(carousel|modal|offcanvas|toast|accordion|popover|placeholder|spinner)\b")

_NOT_LOADED = (
    "vendor",
    "basic.css",
    "scripts/fontawesome.js",
    "sbt-webpack-macros.html",
    "webpack-macros.html",
)
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)
_LOOK_FOR_BOXES = re.compile(
    r'"complete"===document\.readyState\?(\w)\(\):window\.addEventListener\("load",\1\)'
)
_FOLLOW_AT_ONCE = ' data-bs-spy="scroll"'
_VERSION = re.compile(r'(/book\.(?:css|js))(?:\?v=\w*)?"')


class Assets:
    """The stylesheets and scripts that pages asked for, by their names below _static, in order."""

    def __init__(self) -> None:
        self.sheets: dict[str, None] = dict.fromkeys(_FIRST_SHEETS)
        self.scripts: dict[str, None] = {}

    def take(
        self, app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None
    ) -> None:
        """Take off a page what all pages share."""
        context["css_files"] = _left(context["css_files"], self.sheets)
        context["script_files"] = _left(context["script_files"], self.scripts)

    def make(self, app: Sphinx, exception: Exception | None) -> None:
        """Write book.css and book.js, name their version in every page, clear away their sources."""
        if exception or app.builder.format != "html":
            return
        out = Path(app.outdir)
        pages = {
            path: path.read_text(encoding="utf-8")
            for path in sorted(out.rglob("*.html"))
            if not {"_static", "_downloads", "_sources"} & set(path.relative_to(out).parts)
        }
        scripts = [*self.scripts, *_LAST_SCRIPTS]
        script = without_boxes(joined(out / "_static" / name for name in scripts))
        style = self._style(out / "_static", script, [*pages.values()])
        _clear(out / "_static", [*self.sheets, *scripts])
        (out / "_static" / "book.css").write_text(style, encoding="utf-8")
        (out / "_static" / "book.js").write_text(script, encoding="utf-8")
        version = hashlib.sha256((style + script).encode()).hexdigest()[:8]
        for path, page in pages.items():
            named = _VERSION.sub(rf'\1?v={version}"', page).replace(_FOLLOW_AT_ONCE, "")
            if named != page:
                path.write_text(named, encoding="utf-8")

    def _style(self, static: Path, script: str, pages: list[str]) -> str:
        in_pages = set[str]().union(*map(sheets.names_in_page, pages))
        # scripts that pages load besides, such as those of search
        others = (path for path in static.glob("*.js") if path.name not in {*self.scripts, "book.js"})
        in_scripts = sheets.words(script).union(
            *(sheets.words(path.read_text(encoding="utf-8")) for path in others)
        )
        names = in_pages | {name for name in in_scripts if not _NOT_USED.search(name)}
        css = sheets.merged([static / name for name in self.sheets], static)
        return '@charset "UTF-8";\n' + icons.inlined(sheets.used(css, names), static)


def joined(scripts: Iterable[Path]) -> str:
    """One script of several, as if each had been loaded after the one before."""
    return "\n;\n".join(_SOURCE_MAP.sub("", script.read_text(encoding="utf-8")) for script in scripts)


def without_boxes(script: str) -> str:
    """The theme's script without its look for boxes that scroll. Raises ExtensionError without one."""
    left, found = _LOOK_FOR_BOXES.subn("0", script)
    if found != 1:
        raise ExtensionError(f"the theme's script looks for boxes that scroll in {found} places; 1 was known")
    return left


def _left(assets: Iterable[Any], taken: dict[str, None]) -> list[Any]:
    """Move the files that every page may share into `taken`; give what stays with the page, each once."""
    left: dict[str, Any] = {}
    for asset in sorted(assets, key=lambda each: getattr(each, "priority", 500)):
        name = str(getattr(asset, "filename", asset) or "")
        attributes: dict[str, Any] = getattr(asset, "attributes", {})
        if name.startswith("_static/") and attributes.get("type") != "module":
            taken[name.removeprefix("_static/")] = None
        elif "DOCUMENTATION_OPTIONS.pagename" not in attributes.get("body", ""):  # nothing here asks for it
            left[name + attributes.get("body", "")] = asset
    return [*left.values()]


def _clear(static: Path, made_from: Iterable[str]) -> None:
    for name in (*made_from, *_NOT_LOADED):
        place = static / name
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
    for leftover in static.rglob("*.map"):
        leftover.unlink()


def _find_templates(app: Sphinx, config: Config) -> None:
    config.templates_path.insert(0, str(_TEMPLATES))  # before the theme's


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect after the extensions that ask for stylesheets and scripts."""
    assets = Assets()
    app.connect("config-inited", _find_templates)
    app.connect("html-page-context", assets.take, priority=950)
    app.connect("build-finished", assets.make, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
