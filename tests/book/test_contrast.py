"""Text stands out from its ground by 4.5 : 1 or more, in the light and in the dark, code comments too."""

import re
from importlib.resources import files

import pytest
import yaml
from pygments.styles import get_style_by_name

from .conftest import COURSE

ENOUGH = 4.5  # WCAG 2.2, success criterion 1.4.3
OURS = (COURSE / "chapters" / "_static" / "book.css").read_text(encoding="utf-8")
THEIRS = (
    files("pydata_sphinx_theme")
    / "theme"
    / "pydata_sphinx_theme"
    / "static"
    / "styles"
    / "pydata-sphinx-theme.css"
).read_text(encoding="utf-8")


def variables(mode: str) -> dict[str, str]:
    """Give the custom properties in force in a mode: the theme's, then the book's."""
    blocks = re.findall(rf"html\[data-theme=\"?{mode}\"?\]\s*{{([^}}]*)}}", THEIRS + OURS)
    found = dict(re.findall(r"(--[\w-]+)\s*:\s*([^;}]+)", ";".join(blocks)))
    found |= {name: value.strip() for name, value in found.items()}
    while chained := {name: value for name, value in found.items() if value.startswith("var(")}:
        found |= {name: found.get(value[4:-1], "") for name, value in chained.items()}
    return found


def luminance(color: str) -> float:
    digits = color.strip("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#fff") == pytest.approx(4.54, abs=0.005)
    assert contrast("#ffffff", "#777777") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("text", ["text-base", "text-muted", "link", "link-hover", "inline-code", "heading"])
@pytest.mark.parametrize("ground", ["background", "on-background", "surface"])
def test_text_stands_out_from_every_ground(mode: str, text: str, ground: str) -> None:
    colors = variables(mode)

    assert contrast(colors[f"--pst-color-{text}"], colors[f"--pst-color-{ground}"]) >= ENOUGH


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("kind", ["info", "success", "warning", "attention", "danger"])
def test_an_admonitions_title_stands_out(mode: str, kind: str) -> None:
    colors = variables(mode)

    assert contrast(colors["--pst-color-text-base"], colors[f"--pst-color-{kind}-bg"]) >= ENOUGH


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_color_of_code_stands_out(mode: str) -> None:
    options = yaml.safe_load((COURSE / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    style = get_style_by_name(options["html_theme_options"][f"pygments_{mode}_style"])
    ground = variables(mode)["--pst-color-surface"]
    faint = {
        str(token): look["color"]
        for token, look in style
        if look["color"] and contrast(look["color"], ground) < ENOUGH
    }

    assert faint == {}
