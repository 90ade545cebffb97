"""What the figures of the residual stream draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from transformer_block.figures import residual as figures

RNG = np.random.default_rng(13)


def lines(axes: Axes, mark: str) -> list[np.ndarray]:
    """The lines with one kind of mark, as (x, y) rows."""
    return [np.stack(line.get_data(), axis=1) for line in axes.lines if line.get_marker() == mark]


def arrows(axes: Axes) -> list[tuple[np.ndarray, np.ndarray]]:
    """Start and end of each arrow."""
    found = [text for text in axes.texts if isinstance(text, Annotation) and text.arrowprops]
    return [(np.array(each.xyann), np.array(each.xy)) for each in found]


def labels(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_text()]


def test_an_update_starts_where_the_token_ends() -> None:
    token, added = np.array([1.2, -0.4]), np.array([0.3, 0.5])

    (axes,) = figures.update(token, added).axes

    (zero, end), (start, tip), (origin, total) = arrows(axes)
    np.testing.assert_array_equal([zero, origin], np.zeros((2, 2)))
    np.testing.assert_array_equal([end, start], [token, token])
    np.testing.assert_array_equal([tip, total], [token + added] * 2)
    assert labels(axes) == ["token [1.2, −0.4]", "update [0.3, 0.5]", "sum [1.5, 0.1]"]


def test_an_update_lies_in_the_frame() -> None:
    token, added = RNG.normal(size=(2, 2))

    (axes,) = figures.update(token, added).axes

    for point in (token, token + added, np.zeros(2)):
        assert axes.get_xlim()[0] < point[0] < axes.get_xlim()[1]
        assert axes.get_ylim()[0] < point[1] < axes.get_ylim()[1]


def test_curves_by_depth_are_labeled_at_their_ends() -> None:
    depths = [1, 3, 9]
    curves = {name: RNG.uniform(0.1, 10, size=3) for name in ("first", "second", "third")}

    (axes,) = figures.by_depth(depths, curves, "what is left").axes

    for mark, values in zip("os^", curves.values(), strict=True):
        (line,) = lines(axes, mark)
        np.testing.assert_array_equal(line, np.stack([depths, values], axis=1))
    ends = [(text.get_text(), *text.xy) for text in axes.texts if isinstance(text, Annotation)]
    assert ends == [(name, 9, values[-1]) for name, values in curves.items()]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "3", "9"]
    assert axes.get_title(loc="left") == "what is left"


@pytest.mark.parametrize(
    ("draw", "names"),
    [
        (figures.one_layer, ["branch alone: J", "with the skip: I + J"]),
        (figures.many_layers, ["without skips", "with skips"]),
    ],
)
def test_singular_values_stand_in_order_under_their_names(
    draw: type[figures.BookFigure], names: list[str]
) -> None:
    plain, residual = RNG.uniform(size=(2, 7))

    (axes,) = draw(plain, residual).axes

    for mark, values in (("s", plain), ("o", residual)):
        (line,) = lines(axes, mark)
        np.testing.assert_array_equal(line, np.stack([np.arange(1, 8), values], axis=1))
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == names


def test_paths_draw_both_shares_by_length() -> None:
    of_paths, of_gradient = RNG.uniform(size=(2, 5))

    (axes,) = figures.paths(of_paths, of_gradient).axes

    np.testing.assert_array_equal(lines(axes, "o")[0], np.stack([np.arange(5), of_paths], axis=1))
    assert [bar.get_height() for bar in axes.patches] == list(of_gradient)
    assert [bar.get_x() + bar.get_width() / 2 for bar in axes.patches] == pytest.approx(range(5))
