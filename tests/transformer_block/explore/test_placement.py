"""The worked examples of placement hold the spreads of the package's own stacks."""

import math

import numpy as np
import pytest

from transformer_block.explore import explore_placement
from transformer_block.explore.placement import streams


def test_each_placement_has_the_spread_of_its_stream_by_depth() -> None:
    rows = explore_placement(seed=3).rows

    for (name, *shown), placement in zip(rows, ("pre", "post", "sandwich"), strict=True):
        found = streams(placement, 32, seed=3)
        expected = [found[depth].std() for depth in (0, 1, 2, 4, 8, 16, 32)]
        np.testing.assert_allclose([float(each) for each in shown], expected, atol=0.006, err_msg=name)


def test_post_norm_holds_the_spread_and_the_others_grow() -> None:
    pre, post, sandwich = (streams(placement, 32, seed=0) for placement in ("pre", "post", "sandwich"))

    assert post[-1].std() == pytest.approx(1, abs=1e-4)
    assert pre[-1].std() > 3
    assert 0.5 < sandwich[-1].std() / math.sqrt(65) < 2


def test_a_deeper_stack_has_the_same_first_blocks() -> None:
    np.testing.assert_array_equal(streams("pre", 3, seed=5), streams("pre", 7, seed=5)[:4])


@pytest.mark.parametrize("n_layers", [0, 33])
def test_a_depth_that_the_slider_lacks_is_refused(n_layers: int) -> None:
    with pytest.raises(ValueError, match=f"n_layers must lie in 1 … 32; got {n_layers}"):
        explore_placement(n_layers)
