"""Formulas are HTML before a reader opens the page, and a wrong one is an error that says where it stands."""

import json
import re
import sys
from importlib.resources import files

import pytest
from sphinx.errors import ExtensionError

from block_course.book import katex
from block_course.book.katex import FormulaError, render

from .conftest import Build

pytestmark = pytest.mark.slow

KATEX = "block_course.book.katex"
MARKDOWN = {"myst_enable_extensions": ["amsmath", "dollarmath"], "numfig": True}


def visible(html: str) -> str:
    """The text of KaTeX's visual half, without the MathML beside it."""
    return re.sub(r"<math.*?</math>|<[^>]+>|\s|\u200b", "", html, flags=re.DOTALL)


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            "cells": [
                {"cell_type": "markdown", "id": f"cell-{number}", "metadata": {}, "source": text}
                for number, text in enumerate(cells)
            ],
        }
    )


def test_a_fraction_is_drawn_and_spoken() -> None:
    html = render(r"\frac{x}{\sigma}")

    assert '<span class="mfrac">' in html, "what is seen"
    assert "<mfrac><mi>x</mi><mi>σ</mi></mfrac>" in html, "what a screen reader reads"
    assert '<annotation encoding="application/x-tex">\\frac{x}{\\sigma}</annotation>' in html, (
        "what is copied"
    )


def test_display_mathematics_stands_alone() -> None:
    assert "katex-display" in render("x", display=True)
    assert "katex-display" not in render("x")


def test_a_macro_is_the_text_that_it_stands_for() -> None:
    assert visible(render(r"\LN(x)", macros={r"\LN": r"\mathrm{norm}"})) == "norm(x)"


@pytest.mark.parametrize("environment", ["equation", "align", "gather"])
def test_katex_leaves_the_numbering_to_sphinx(environment: str) -> None:
    html = render(rf"\begin{{{environment}}} a = b \end{{{environment}}}", display=True)

    assert "eqn-num" not in html
    assert visible(html) == "a=b"


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        (r"\bogus", r"Undefined control sequence: \bogus"),
        (r"\frac{1}", "Unexpected end of input"),
        ("é", "Accented Unicode text character"),
        (r"a \\ b", "needs an environment"),
    ],
)
def test_what_latex_would_refuse_or_drop_is_refused(formula: str, reason: str) -> None:
    with pytest.raises(FormulaError, match=re.escape(reason)):
        render(formula, display=True)


def test_line_breaks_inside_an_environment_are_fine() -> None:
    html = render(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", display=True)

    assert html.count("<mtr>") == 2


def test_a_missing_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)
    katex._engine.cache_clear()

    with pytest.raises(ExtensionError, match="pip install mini-racer"):
        render("never set before")


def test_a_labeled_equation_has_a_number_that_can_be_referred_to(build: Build) -> None:
    text = "# Norms\n\n$$\n\\mu = 0\n$$ (mean)\n\n$$\n\\sigma = 1\n$$ (spread)\n\nSee {eq}`spread`.\n"

    built = build({"index.md": text}, KATEX, **MARKDOWN)

    assert built.warnings == ""
    html = built.page()
    assert re.search(
        r'<div class="math[^"]*" id="equation-spread">.*?<span class="eqno">\(2\)', html, re.DOTALL
    )
    assert 'href="#equation-spread">(2)</a>' in html


def test_an_equation_without_a_label_has_no_number_and_two_builds_are_alike(build: Build) -> None:
    text = "# Norms\n\n\\begin{align}\na &= b\n\\end{align}\n\n$$\nc = d\n$$ (last)\n\n$$\ne = f\n$$\n"

    first = build({"index.md": text}, KATEX, **MARKDOWN).page()
    second = build({"index.md": text + " "}, KATEX, **MARKDOWN).page()

    assert first.count('class="eqno"') == 1
    assert '<span class="eqno">(1)' in first
    assert re.findall('id="([^"]*)"', first) == re.findall('id="([^"]*)"', second)


def test_every_refused_formula_is_reported_with_its_place_and_fails_the_build(build: Build) -> None:
    pages = {
        "index.md": "# Home $\\bogus$\n\n```{toctree}\nnotes\nbook\n```\n",
        "notes.md": "# Notes\n\nLine three is fine, $x$.\n\nLine five is not: $\\frac{1}$.\n",
        "book.ipynb": notebook("# Book", "Some text.\n\n$$\n\\wrong < 1\n$$"),
    }

    built = build(pages, KATEX, strict=False, **MARKDOWN)

    assert built.status == 1
    assert "index.md, line 1: KaTeX refuses \\bogus (Undefined control sequence: \\bogus)\n" in built.warnings
    assert "notes.md, line 5: KaTeX refuses \\frac{1} (Unexpected end of input" in built.warnings
    assert "book.ipynb, cell 2, line 3: KaTeX refuses \\wrong < 1 (" in built.warnings
    assert built.warnings.count("KaTeX refuses") == 3, "a heading's formula is reported once"
    assert '<code class="katex-error">\\wrong &lt; 1</code>' in built.page("book")


def test_a_notebook_does_without_the_books_macros(build: Build) -> None:
    pages = {
        "index.md": "# Home\n\nHere $\\R$ and $\\LN$ are known.\n\n```{toctree}\nbook\n```\n",
        "book.ipynb": notebook("# Book", r"In JupyterLab $\R$ and $\LN$ are not."),
    }
    macros = {r"\R": r"\mathbb{R}", r"\LN": r"\operatorname{LN}"}

    built = build(pages, KATEX, strict=False, katex_macros=macros, **MARKDOWN)

    assert built.warnings.count("KaTeX refuses") == 2
    assert "book.ipynb, cell 2, line 1: KaTeX refuses \\R (" in built.warnings, "KaTeX's own macros too"
    assert "book.ipynb, cell 2, line 1: KaTeX refuses \\LN (" in built.warnings
    assert "\\macroThatJupyterLabDoesNotKnow" in built.warnings


def test_a_formula_in_a_title_reads_well_in_the_browsers_tab(build: Build) -> None:
    built = build({"index.md": "# Why $D < 2$ keeps nothing\n"}, KATEX, project="Book", **MARKDOWN)

    assert re.search(r"<title>Why D &lt; 2 keeps nothing\b", built.page())
    assert '<h1>Why <span class="math' in built.page()


def test_the_page_loads_katex_styles_and_no_script(build: Build) -> None:
    built = build({"index.md": "# Home\n\n$x$\n"}, KATEX, **MARKDOWN)

    assert re.search(r'<link [^>]*href="_static/katex/katex\.min\.css', built.page())
    assert not re.search(r"<script[^>]*(katex|mathjax)", built.page(), re.IGNORECASE)
    assert not list(built.folder.rglob("katex*.js"))


def test_a_page_with_formulas_asks_for_their_fonts_at_once(build: Build) -> None:
    files = {"index.md": "# Home\n\n```{toctree}\na/deep\n```\n", "a/deep.md": "# Deep\n\n$$\nx\n$$\n"}
    built = build(files, KATEX, **MARKDOWN)

    told = re.search(r"of (\[.*?\])\)", built.page("a/deep"))
    assert told
    asked = [each.partition("?")[0] for each in json.loads(told[1])]
    assert asked == [f"../_static/katex/fonts/KaTeX_{name}.woff2" for name in ("Main-Regular", "Math-Italic")]
    assert all((built.folder / "a" / each).resolve().is_file() for each in asked)
    assert "preload" not in built.page("index")


def test_other_builders_get_nothing(build: Build) -> None:
    built = build({"index.md": "# Home\n\n$x$\n"}, KATEX, builder="text", **MARKDOWN)

    assert (built.status, built.warnings) == (0, "")
    assert not (built.folder / "_static").exists()


def test_the_stylesheet_asks_only_for_fonts_that_are_there() -> None:
    static = files("block_course.book") / "assets" / "static" / "katex"
    asked = set(re.findall(r"url\(([^)]+)\)", (static / "katex.min.css").read_text(encoding="utf-8")))
    there = {f"fonts/{font.name}" for font in (static / "fonts").iterdir()}

    assert asked == there
    assert all(font.endswith(".woff2") for font in there)


def test_the_release_that_runs_is_the_one_that_is_named() -> None:
    named = re.search(r"KaTeX ([\d.]+),", (katex._ASSETS / "README.md").read_text(encoding="utf-8"))

    assert named
    assert katex._engine().eval("katex.version") == named[1]
