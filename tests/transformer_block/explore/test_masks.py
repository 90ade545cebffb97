"""The worked examples of masks hold true weights, and what is heard through blocks."""

import numpy as np
import pytest

from transformer_block.dependence import reachable
from transformer_block.explore import explore_masks
from transformer_block.in_numpy.masks import causal_mask, padding_mask
from transformer_block.in_numpy.scaled_dot_product import softmax

SCORES = np.random.default_rng(2).normal(size=(4, 4))
MASKS = {
    "causal": causal_mask(4),
    "padding": np.broadcast_to(padding_mask([2], 4)[0], (4, 4)),
    "window": causal_mask(4, window=2),
    "none": np.zeros((4, 4), dtype=bool),
}


def places(row: np.ndarray) -> str:
    return " ".join(map(str, np.flatnonzero(row))) or "none"


@pytest.mark.parametrize("name", MASKS)
def test_each_query_has_a_row_of_what_it_sees_weighs_and_hears(name: str) -> None:
    shown = explore_masks(SCORES, n_layers=3)
    mask = MASKS[name]

    rows = [row for row in shown.rows if row[0].startswith(f"{name}, ")]

    assert [row[1] for row in rows] == [places(row) for row in mask]
    assert [row[3] for row in rows] == [places(row) for row in reachable(mask, 1)]
    assert [row[4] for row in rows] == [places(row) for row in reachable(mask, 3)]
    weights = [[float(each) for each in row[2].split()] for row in rows]
    np.testing.assert_allclose(weights, softmax(SCORES, mask), atol=0.006)


def test_one_block_has_one_column_of_what_is_heard() -> None:
    shown = explore_masks(SCORES, n_layers=1)

    assert shown.head[-1] == "Hears in 1 block"
    assert {len(row) for row in shown.rows} == {len(shown.head)}


def test_the_page_begins_with_the_scores_and_every_mask_as_text() -> None:
    start = explore_masks(SCORES, n_layers=3).start

    assert start["depth"] == 3
    np.testing.assert_allclose(start["scores"], SCORES, atol=0.0006)
    assert list(start["masks"]) == ["causal", "padding", "window", "all", "none"]
    assert start["masks"]["causal"] == ["1000", "1100", "1110", "1111"]
    assert start["masks"]["all"] == ["1111"] * 4


@pytest.mark.parametrize("size", [1, 7])
def test_too_many_positions_or_too_few_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"3 to 6 positions are explored; got {size}"):
        explore_masks(np.zeros((size, size)))


@pytest.mark.parametrize("n_layers", [0, 7])
def test_a_depth_that_the_slider_lacks_is_refused(n_layers: int) -> None:
    with pytest.raises(ValueError, match="n_layers must lie in 1 … 6; got"):
        explore_masks(SCORES, n_layers=n_layers)
