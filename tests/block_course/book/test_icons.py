"""The icon font with the icons that are shown."""

import base64
import io
import re
from importlib.resources import files
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from block_course.book.icons import cut_down, inlined, points

FONTS = files("pydata_sphinx_theme") / "theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts"
BARS, MOON = 0xF0C9, 0xF186


@pytest.fixture
def solid() -> Path:
    return Path(str(FONTS / "fa-solid-900.ttf"))


def test_the_characters_of_a_stylesheet_are_found_escaped_or_not() -> None:
    assert points('a:before{content:"\\f0c9"} b:before{content:"×"} i{content:""}') == {BARS, ord("×")}


def test_a_font_keeps_what_is_shown(solid: Path) -> None:
    data = cut_down(solid, {BARS, MOON, 0x10FFFF})

    assert data is not None
    font = TTFont(io.BytesIO(data))
    assert set(font.getBestCmap()) == {BARS, MOON}
    assert font["glyf"][font.getBestCmap()[BARS]].numberOfContours > 0
    assert len(data) < 3000
    assert cut_down(solid, {BARS, MOON}) == data


def test_a_font_that_shows_nothing_is_left_out(solid: Path) -> None:
    assert cut_down(solid, {0x10FFFF}) is None


def test_a_stylesheet_carries_its_icons(solid: Path) -> None:
    face = '@font-face{font-family:"Font Awesome 6 Free";src:url(a.woff2),url("fa-solid-900.ttf")}'
    other = "@font-face{font-family:KaTeX_Main;src:url(main.woff2)}"

    css = inlined(f'{face}{other}.fa-bars:before{{content:"\\f0c9"}}', solid.parent)

    (data,) = re.findall(r'src:url\("data:font/woff;base64,([^"]+)"\) format\("woff"\)', css)
    assert set(TTFont(io.BytesIO(base64.b64decode(data))).getBestCmap()) == {BARS}
    assert other in css
    assert "fa-solid" not in css
