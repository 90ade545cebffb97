"""The worked examples of layer norm hold true numbers."""

import numpy as np
import pytest

from transformer_block._stage_formulas import vector
from transformer_block.explore import explore_layer_norm
from transformer_block.in_numpy.layer_norm import layer_norm

TOKEN = [0.5, -2.0, 3.25]


def test_each_row_is_a_token_with_its_layer_norm() -> None:
    rows = explore_layer_norm(TOKEN, eps=0.01).rows

    x = np.array(TOKEN)
    for (name, features, mean, variance, after, variance_after), token in zip(
        rows, (x, x + 100, 100 * x, x / 100), strict=True
    ):
        y = layer_norm(token, eps=0.01)
        assert (features, after) == (vector(token), vector(y)), name
        assert float(mean.replace("−", "-")) == pytest.approx(token.mean(), abs=0.0006)
        assert float(variance) == pytest.approx(token.var(), abs=1e-6)
        assert float(variance_after) == pytest.approx(y.var(), abs=1e-6)


def test_a_shift_shows_no_change_and_a_small_token_shows_eps() -> None:
    given, shifted, _, small = explore_layer_norm(TOKEN).rows

    assert given[4:] == shifted[4:]
    assert float(small[5]) < float(given[5]) < 1


def test_the_page_begins_with_the_token_and_eps() -> None:
    assert explore_layer_norm(np.array(TOKEN), eps=0.01).start == {"token": TOKEN, "eps": 0.01}


@pytest.mark.parametrize("token", [[1.0], [0.0] * 9])
def test_a_token_that_fits_no_page_is_refused(token: list[float]) -> None:
    with pytest.raises(ValueError, match="a token of 2 to 8 features is explored; got"):
        explore_layer_norm(token)


@pytest.mark.parametrize("eps", [0.0, -1.0, float("nan")])
def test_an_eps_that_lets_a_constant_token_divide_by_zero_is_refused(eps: float) -> None:
    with pytest.raises(ValueError, match="eps must lie above 0; got"):
        explore_layer_norm(TOKEN, eps=eps)
