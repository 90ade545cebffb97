import random
import re
from dataclasses import replace

import numpy as np
import pytest

from block_course.outputs.svg import svg_problem
from tests.block_course.outputs.drawing import Picture, losses, scaled

pytestmark = pytest.mark.slow

TRUE = Picture()
RASTER = replace(TRUE, cells="raster")
COORDINATE = re.compile(r'([LM] |x="|y=")([0-9]+\.[0-9]+)')

WRONG = {
    "a bar 3 % too high": replace(TRUE, heights=scaled(TRUE.heights, (1,), 1.03)),
    "another label": replace(TRUE, x_label="steps"),
    "a lost axis label": replace(TRUE, y_label=""),
    "another title": replace(TRUE, title="Loss of $x^3$"),
    "a larger title": replace(TRUE, fontsize=10.5),
    "another color": replace(TRUE, color="#c24e10"),
    "another dash": replace(TRUE, dash=":"),
    "a slightly longer dash": replace(TRUE, dash=(0, (4, 2))),
    "a solid line": replace(TRUE, dash="-"),
    "a missing marker": replace(TRUE, markers=11),
    "one more training step": replace(TRUE, curve=losses(13)),
    "a heat-map cell 5 % off": replace(TRUE, weights=scaled(TRUE.weights, (2, 3), 1.05)),
    "a mask off by one": replace(TRUE, mask=np.tri(5, 7, k=1)),
    "a raster cell 5 % off": replace(RASTER, weights=scaled(TRUE.weights, (2, 3), 1.05)),
    "a raster mask off by one": replace(RASTER, mask=np.tri(5, 7, k=-1)),
    "a raster with one more row": replace(RASTER, weights=np.vstack([TRUE.weights, TRUE.weights[:1]])),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_figure_is_caught(wrong: Picture) -> None:
    right = replace(TRUE, cells=wrong.cells)

    assert svg_problem(right.svg, wrong.svg) is not None


def test_the_same_inputs_give_the_same_figure() -> None:
    assert svg_problem(TRUE.svg, Picture().svg) is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("right", [TRUE, RASTER], ids=["mesh", "raster"])
def test_noise_in_every_input_passes(right: Picture, seed: int) -> None:
    noisy = right.with_noise(1e-7, seed).svg

    assert svg_problem(right.svg, noisy) is None


def test_noise_that_is_seen_in_the_file_passes() -> None:
    before, after = TRUE.svg, TRUE.with_noise(1e-5, seed=7).svg

    assert before != after
    assert svg_problem(before, after) is None


@pytest.mark.parametrize(("size", "passes"), [(1e-5, True), (0.7, True), (0.8, False)])
def test_coordinates_may_move_by_three_quarters_of_a_point(size: float, passes: bool) -> None:
    signs = random.Random(1)
    svg = TRUE.svg

    moved = COORDINATE.sub(lambda it: f"{it[1]}{float(it[2]) + signs.choice([-size, size]):.6f}", svg)

    assert moved != svg
    assert (svg_problem(svg, moved) is None) == passes


def test_the_problem_names_the_place_and_the_distance() -> None:
    problem = svg_problem(TRUE.svg, WRONG["a bar 3 % too high"].svg)

    assert problem is not None
    assert re.fullmatch(
        r"in figure_1 / axes_1 / patch_\d: <path> d moved by 3\.\d\d \(limit 0\.75\)", problem
    )


def test_the_problem_shows_a_changed_label() -> None:
    problem = svg_problem(TRUE.svg, WRONG["another label"].svg)

    assert problem is not None
    assert "'step' became 'steps'" in problem


def test_the_problem_counts_elements_when_some_are_missing() -> None:
    problem = svg_problem(TRUE.svg, WRONG["a missing marker"].svg)

    assert problem is not None
    assert re.search(r"\((\d+) elements became (\d+)\)$", problem)


def test_a_cell_may_allow_a_larger_shift() -> None:
    assert svg_problem(TRUE.svg, WRONG["a bar 3 % too high"].svg, atol=4.0) is None


@pytest.mark.parametrize("cells", ["mesh", "raster"])
def test_a_cell_may_allow_a_neighboring_color(cells: str) -> None:
    on_an_edge = replace(TRUE, cells=cells, weights=np.full((4, 6), 0.5))
    just_below = replace(on_an_edge, weights=np.full((4, 6), 0.5 - 1e-9))

    assert svg_problem(on_an_edge.svg, just_below.svg) is not None
    assert svg_problem(on_an_edge.svg, just_below.svg, color_levels=2) is None


def test_renamed_ids_pass() -> None:
    svg = TRUE.svg

    renamed = re.sub(r'((?:id="|href="#|url\(#)[a-z][0-9a-f]{10})', r"\1x", svg)

    assert renamed.count("x") > svg.count("x")
    assert svg_problem(svg, renamed) is None


def test_another_version_of_matplotlib_passes() -> None:
    svg = TRUE.svg

    assert svg_problem(svg, re.sub(r"Matplotlib v[0-9.]+", "Matplotlib v9.9", svg)) is None


TWO_MARKS = (
    '<svg><path id="a" d="M 0 0 L 9 9"/><path id="b" d="M 0 9 L 9 0"/><use href="#a"/><use href="#b"/></svg>'
)


@pytest.mark.parametrize(
    "changed",
    [
        TWO_MARKS.replace('id="a"', 'id="-"').replace('id="b"', 'id="a"').replace('id="-"', 'id="b"'),
        TWO_MARKS.replace('href="#b"', 'href="#a"'),
        TWO_MARKS.replace('id="b"', 'id="a"').replace('href="#b"', 'href="#a"'),
        TWO_MARKS.replace('href="#a"', 'href="#c"'),
    ],
    ids=["swapped", "pointing to the other", "two that became one", "dangling"],
)
def test_ids_that_are_not_renamed_one_to_one_are_caught(changed: str) -> None:
    assert svg_problem(TWO_MARKS, changed) is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<g clip-path="url(#m)"/>', '<g clip-path="url(#n)"/>'),
        ('<g style="fill: url(#m)"/>', '<g style="fill: url(#n)"/>'),
    ],
)
def test_an_id_is_followed_into_attributes_and_styles(before: str, after: str) -> None:
    defined = '<path id="m" d="M 0 0"/>'

    assert svg_problem(f"<svg>{defined}{before}</svg>", f"<svg>{defined}{after}</svg>") is not None
    renamed = defined.replace('"m"', '"n"')
    assert svg_problem(f"<svg>{defined}{before}</svg>", f"<svg>{renamed}{after}</svg>") is None


def test_a_link_that_became_a_color_is_caught() -> None:
    before, after = '<svg><g fill="url(#a)"/></svg>', '<svg><g fill="#aabbcc"/></svg>'

    assert svg_problem(before, after) is not None


@pytest.mark.parametrize(
    ("transform", "near", "far"),
    [
        ("scale(0.1)", "7.0", "8.0"),
        ("scale(10)", "0.07", "0.08"),
        ("scale(2 -5)", "0.14", "0.16"),
        ("matrix(0 4 4 0 1 2)", "0.18", "0.2"),
        ("rotate(90) translate(3 4)", "0.7", "0.8"),
        ("translate(1 2) scale(10) scale(0.5)", "0.14", "0.16"),
    ],
)
def test_a_shift_is_measured_on_the_page(transform: str, near: str, far: str) -> None:
    def at(x: str) -> str:
        return f'<svg><g transform="{transform}"><g><path d="M {x} 0"/></g></g><path d="M 0 0"/></svg>'

    assert svg_problem(at("0"), at(near)) is None
    assert svg_problem(at("0"), at(far)) is not None


def test_a_group_ends_with_its_scale() -> None:
    def at(x: str) -> str:
        return f'<svg><g transform="scale(0.1)"/><path d="M {x} 0"/></svg>'

    assert svg_problem(at("0"), at("0.7")) is None
    assert svg_problem(at("0"), at("0.8")) is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<text x="1">a</text>', '<text x="1">b</text>'),
        ('<path d="M 0 0 L 5 5"/>', '<path d="M 0 0 C 5 5"/>'),
        ('<path d="M 0 0"/>', '<path d="M 0 0" opacity="0.5"/>'),
        ('<path style="opacity: 0.5"/>', '<path style="opacity: 0.501"/>'),
        ('<path style="opacity: 0.5"/>', '<path style="fill-opacity: 0.5"/>'),
        ('<path class="c1"/>', '<path class="c2"/>'),
        ('<path d="M 0 1e999"/>', '<path d="M 0 2e999"/>'),
        ("<g><path/></g><g/>", "<g/><g><path/></g>"),
        ("<g/><!-- a -->", "<g/>"),
        ('<g transform="translate(0) scale(0.1)"/>', '<g transform="translate(0.8) scale(0.1)"/>'),
        ('<image href="data:image/png;base64,AAAA"/>', '<image href="other.png"/>'),
    ],
    ids=[
        "text",
        "command",
        "attribute",
        "opacity",
        "property",
        "class",
        "overflow",
        "nesting",
        "comment",
        "place before the scale",
        "link to a picture",
    ],
)
def test_what_else_may_change_is_caught(before: str, after: str) -> None:
    assert svg_problem(f"<svg>{before}</svg>", f"<svg>{after}</svg>") is not None


def test_a_data_driven_opacity_may_round_differently() -> None:
    before, after = '<svg><g style="opacity: 0.333333"/></svg>', '<svg><g style="opacity: 0.333334"/></svg>'

    assert svg_problem(before, after) is None


def test_a_comment_after_the_figure_counts() -> None:
    assert svg_problem("<svg/>", "<svg/><!-- more -->") == "</svg> became 'more'"


def test_a_broken_figure_is_a_problem_in_words() -> None:
    problem = svg_problem("<svg/>", "<svg>")

    assert problem is not None
    assert problem.startswith("unreadable SVG: not well-formed XML: no element found")
