"""The look at built pages finds each fault that it is for, and none where there is none."""

from pathlib import Path

import pytest

from .faults import page_faults, pages, style_faults

FIGURE = (
    '<figure><img src="{src}" alt="{alt}"><figcaption><span class="caption-text">{caption}</span>'
    "</figcaption></figure>"
)
PICTURE = "a%20picture.svg"
HASH = "5ed8141b3ee824062705e6a0eea47b8e"
MATH = '<span class="math"><span class="katex"><math><mi>x</mi></math></span></span>'


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Make a folder with a picture and a stylesheet, and say where a page would lie beside them."""
    (tmp_path / "a picture.svg").write_text("<svg/>")
    (tmp_path / "book.css").write_text("p {}")
    return tmp_path / "page.html"


def faults(page: Path, body: str, head: str = "") -> list[str]:
    page.write_text(f"<html><head>{head}</head><body><article>{body}</article></body></html>")
    return page_faults(page)


@pytest.mark.parametrize(
    "body",
    [
        FIGURE.format(src=PICTURE, alt="Two curves that cross.", caption="Where do they cross?"),
        FIGURE.format(src="data:image/png;base64,AAAA", alt="A dot.", caption="Where is it?"),
        MATH,
        '<a href="https://example.org">a paper</a> <a href="page.html#x">here</a>',
        '<a href="#there">there</a><p id="there">',
        '<svg><use href="#glyph"></use></svg>',
        '<script>const home = "https://example.org";</script>',
        "<div style=\"background: url('a%20picture.svg')\"></div>",
    ],
)
def test_a_sound_page_has_no_faults(page: Path, body: str) -> None:
    head = '<link rel="stylesheet" href="book.css?v=1"><link rel="canonical" href="https://a.b/">'

    assert faults(page, body, head) == []


@pytest.mark.parametrize(
    "body",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<script src="//cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="http://cdn.example/x.css">',
        '<link rel="preload" href="https://cdn.example/x.woff2">',
        '<iframe src="https://example.org"></iframe>',
        '<object data="https://example.org/x.svg"></object>',
        '<source srcset="picture.svg 1x, https://cdn.example/x.png 2x">',
        '<svg><image xlink:href="https://cdn.example/x.png"></image></svg>',
        '<p style="background: url(https://cdn.example/x.png)">',
        '<style>@import "https://cdn.example/x.css";</style>',
        '<meta http-equiv="Refresh" content="0; url=https://example.org">',
        '<script type="module">import { x } from "https://cdn.example/x.js";</script>',
        '<script>import("https://cdn.example/x.js")</script>',
        "<script>tag.src = 'https://cdn.example/x.js'</script>",
        '<script>fetch("https://cdn.example/x.json")</script>',
    ],
)
def test_a_load_from_elsewhere_is_found(page: Path, body: str) -> None:
    assert any("from elsewhere" in fault for fault in faults(page, body))


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<script src="gone.js?v=1"></script>', "loads what isn't there: gone.js?v=1"),
        ('<a href="gone.html#x">', "links to what isn't there: gone.html#x"),
        ('<a href="#nowhere">', "links to what isn't there: #nowhere"),
        ('<code class="katex-error">\\bogus</code>', "was not rendered: \\bogus"),
        ('<span class="problematic">:ref:`x`</span>', "was not rendered: :ref:`x`"),
        ('<span class="math">\\(x\\)</span>', "mathematics without MathML: \\(x\\)"),
        ('<img src="a%20picture.svg">', "an image without alt text: a%20picture.svg"),
        ('<img src="a%20picture.svg" alt="A curve.">', "a figure without a caption: a%20picture.svg"),
        (FIGURE.format(src=PICTURE, alt=" ", caption="C"), f"an image without alt text: {PICTURE}"),
        (FIGURE.format(src=PICTURE, alt=HASH, caption="C"), f"a file's name for alt text: {HASH}"),
        (FIGURE.format(src=PICTURE, alt="b/c.svg", caption="C"), "a file's name for alt text: b/c.svg"),
        (FIGURE.format(src=PICTURE, alt="A curve.", caption=" "), f"a figure without a caption: {PICTURE}"),
    ],
)
def test_each_other_fault_is_found_and_named(page: Path, body: str, fault: str) -> None:
    assert fault in faults(page, body)


def test_a_stylesheet_may_load_what_lies_beside_it_and_nothing_else(page: Path) -> None:
    sheet = page.with_name("book.css")
    sheet.write_text(
        "/* url(https://a.comment) */ @import 'gone.css'; a { background: url(a%20picture.svg) }"
        "b { background: url(data:image/svg+xml,x) } @font-face { src: url('https://cdn.example/x.woff2') }"
    )

    assert style_faults(sheet) == [
        "loads what isn't there: gone.css",
        "loads from elsewhere: https://cdn.example/x.woff2",
    ]


def test_templates_are_no_pages(tmp_path: Path) -> None:
    for name in ("index.html", "chapters/one.html", "_static/template.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    assert [path.name for path in pages(tmp_path)] == ["one.html", "index.html"]
