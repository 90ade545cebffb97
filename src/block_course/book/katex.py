r"""Mathematics set by KaTeX while the book is built: the page needs no script and no network.

Every formula becomes KaTeX's HTML, with MathML beside it for screen readers and for copying. A formula that
KaTeX refuses fails the build with its page, line and text, and so does one that LaTeX would read otherwise.
Numbers and `{eq}` references are Sphinx's own, so `align` is starred before KaTeX could number it again.
"""

from __future__ import annotations

import functools
import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils import get_source_line
from sphinx.errors import ExtensionError
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_LOGGER = getLogger(__name__)

_ASSETS = Path(__file__).parent / "assets"

# JupyterLab knows none of the book's macros: in a notebook each expands to a name that KaTeX refuses
_NOT_IN_A_NOTEBOOK = r"\macroThatJupyterLabDoesNotKnow"

# without them a page's first view moves as each arrives: a stylesheet names them, but only a formula asks
_FIRST_FONTS = ("Main-Regular", "Math-Italic")
# by a script, because a page opened as a file has them at once, and may not ask for them this way
_PRELOAD = """
<script>
  if (location.protocol !== "file:") for (const href of %s) document.head.append(Object.assign(
    document.createElement("link"), {rel: "preload", as: "font", type: "font/woff2", crossOrigin: "", href}));
</script>
"""

_NUMBERED_BY_KATEX = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather)\}")

# LaTeX drops a bare line break in display mathematics without a word; KaTeX tells only who asks
_TYPESET = r"""
function typeset(tex, options) {
  let dropped = "";
  options.strict = (code) => {
    if (code === "newLineInDisplayMode") dropped = "\\\\ needs an environment such as aligned around it";
    return "error";
  };
  try {
    const html = katex.renderToString(tex, options);
    return dropped ? {refusal: dropped} : {html};
  } catch (error) {
    return {refusal: error.rawMessage || String(error)};
  }
}
"""


class FormulaError(ValueError):
    """KaTeX refuses a formula."""


@functools.cache
def _engine() -> MiniRacer:
    try:
        from py_mini_racer import MiniRacer
    except ImportError as error:
        raise ExtensionError(
            "mini-racer sets the book's formulas: pip install mini-racer (where it has no wheel, "
            "html_math_renderer: mathjax in _config.yml leaves them to the reader's browser and network)"
        ) from error
    engine = MiniRacer()
    engine.eval((_ASSETS / "katex.min.js").read_text(encoding="utf-8") + _TYPESET)
    return engine


@functools.cache
def _typeset(tex: str, display: bool, macros: str) -> dict[str, str]:
    options = {
        "displayMode": display,
        "macros": json.loads(macros),
        "output": "htmlAndMathml",
    }
    answer: dict[str, str] = _engine().call("typeset", tex, options)
    return answer


def render(tex: str, *, display: bool = False, macros: dict[str, str] | None = None) -> str:
    r"""Typeset one formula: HTML with MathML inside.

    Raises FormulaError with KaTeX's reason, such as `Undefined control sequence: \bogus`.
    """
    starred = _NUMBERED_BY_KATEX.sub(r"\\\1{\2*}", tex.strip())
    answer = _typeset(starred, display, json.dumps(macros or {}, sort_keys=True))
    if "refusal" in answer:
        raise FormulaError(answer["refusal"])
    return answer["html"]


def _place(app: Sphinx, source: str | None, line: int | None) -> str:
    """Say where a formula stands: `chapters/x.md, line 3` or `chapters/x.ipynb, cell 2, line 5`."""
    page = Path(source or "unknown page")
    name = (page.relative_to(app.srcdir) if page.is_relative_to(app.srcdir) else page).as_posix()
    # to myst-nb the first line of a notebook's n-th cell is number 10000 n + 2
    cell, line = divmod(line or 0, 10_000)
    return f"{name}, cell {cell}, line {line - 1}" if cell else f"{name}, line {line}"


def _html(writer: HTML5Translator, node: nodes.Element, *, display: bool = False) -> str:
    app = writer.builder.app
    formula = node.astext().strip()
    source, line = get_source_line(node)
    macros = app.config.katex_macros
    if (source or "").endswith(".ipynb"):
        macros = dict.fromkeys(macros, _NOT_IN_A_NOTEBOOK)
    try:
        return render(formula, display=display, macros=macros)
    except FormulaError as refusal:
        place, on_one_line = _place(app, source, line), " ".join(formula.split())
        # once: a heading's formula stands in the page and in every table of contents
        _LOGGER.error("%s: KaTeX refuses %s (%s)", place, on_one_line, str(refusal), once=True)
        app.statuscode = 1
        return f'<code class="katex-error">{html.escape(formula)}</code>'


def _visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(writer.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    writer.body.append(_html(writer, node) + "</span>")
    raise nodes.SkipNode


def _visit_display(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", "", CLASS="math notranslate nohighlight"))
    writer.body.append(_html(writer, node, display=True))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def _start(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.config.html_static_path.append(str(_ASSETS / "static"))
        app.add_css_file("katex/katex.min.css")


def _drop_random_labels(app: Sphinx, doctree: nodes.document) -> None:
    r"""Leave a bare `\begin{align}` without a number: nothing can refer to MyST's random label."""
    equations = app.env.get_domain("math").data["objects"]
    for node in doctree.findall(nodes.math_block):
        if "amsmath" in node["classes"] and node["number"]:
            del equations[node["label"]]
            node["number"] = None
            node["ids"].clear()


def _plain_title(
    app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the browser's tab, which shows text only, a formula's source, not its renderings in a row."""
    if doctree and any(app.env.titles[page].findall(nodes.math)):
        context["title"] = html.escape(app.env.titles[page].astext())


def _ask_for_fonts(
    app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Have a page with formulas ask for its fonts at once, not when the first formula is laid out."""
    if doctree is None or not any(doctree.findall(_is_formula)):
        return
    places = [context["pathto"](f"_static/katex/fonts/KaTeX_{name}.woff2", 1) for name in _FIRST_FONTS]
    context["metatags"] = context.get("metatags", "") + _PRELOAD % json.dumps(places)


def _is_formula(node: nodes.Node) -> bool:
    return isinstance(node, nodes.math | nodes.math_block)


def _finish(app: Sphinx, exception: Exception | None) -> None:
    _engine.cache_clear()


def setup(app: Sphinx) -> dict[str, Any]:
    r"""Register the math renderer `katex` and its one setting, `katex_macros`: {"\R": "\mathbb{R}"}."""
    app.add_config_value("katex_macros", {}, "html", types=(dict,))
    app.add_html_math_renderer("katex", (_visit_inline, None), (_visit_display, None))
    app.connect("builder-inited", _start)
    app.connect("doctree-read", _drop_random_labels)
    app.connect("html-page-context", _plain_title)
    app.connect("html-page-context", _ask_for_fonts)
    app.connect("build-finished", _finish)
    # a fork of V8 hangs, so pages are written by one process
    return {"parallel_read_safe": True, "parallel_write_safe": False}
