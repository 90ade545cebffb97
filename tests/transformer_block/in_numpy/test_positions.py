import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer_block.numerics import B, D, H, K, S, T, central_differences, normal, relative_error
from transformer_block.in_numpy.positions import rotary, rotary_backward, sinusoidal


def test_the_first_rows_by_hand():
    # base 100 and four features: wavelengths 2π and 2π · 10
    rows = sinusoidal(2, 4, base=100)
    np.testing.assert_allclose(rows, [[0, 1, 0, 1], [np.sin(1), np.cos(1), np.sin(0.1), np.cos(0.1)]])


def test_the_wavelengths_are_those_of_2017():
    rows = sinusoidal(S, D)
    for t, i in np.ndindex(S, D // 2):
        angle = t / 10000 ** (2 * i / D)
        np.testing.assert_allclose(rows[t, 2 * i : 2 * i + 2], [np.sin(angle), np.cos(angle)], atol=1e-14)


def test_an_offset_continues_where_a_cache_ends():
    np.testing.assert_array_equal(sinusoidal(T, D, offset=4), sinusoidal(S, D)[4 : 4 + T])
    assert sinusoidal(0, D, offset=4).shape == (0, D)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_positions_are_rounded_once_to_the_dtype_asked_for(dtype):
    rows = sinusoidal(T, D, offset=100_000, dtype=dtype)
    assert rows.dtype == dtype
    np.testing.assert_array_equal(rows, sinusoidal(T, D, offset=100_000).astype(dtype))


def test_a_feature_turns_with_its_partner_in_the_other_half():
    # position 1 at offset 1 is 2: the pair (0, 2) turns by 2, the pair (1, 3) by 2 / 10
    x = np.array([[0.0, 0, 0, 0], [1, 0, 0, 5]])
    turned = rotary(x, offset=1, base=100)
    np.testing.assert_allclose(
        turned[1], [np.cos(2), -5 * np.sin(0.2), np.sin(2), 5 * np.cos(0.2)], atol=1e-14
    )


def test_position_zero_is_not_turned_and_no_length_changes():
    x = normal(1, B, H, T, K)
    np.testing.assert_array_equal(rotary(x)[..., 0, :], x[..., 0, :])
    np.testing.assert_allclose(np.linalg.norm(rotary(x), axis=-1), np.linalg.norm(x, axis=-1))
    assert np.abs(rotary(x) - x)[..., 1:, :].max(axis=(0, 1)).min() > 1e-3


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 1000), st.integers(0, 2**32 - 1))
def test_scores_depend_on_the_distance_alone(t, s, shift, seed):
    q, k = normal(seed, 1, 8), normal(seed + 1, 1, 8)
    score = rotary(q, offset=t) @ rotary(k, offset=s).T
    shifted = rotary(q, offset=t + shift) @ rotary(k, offset=s + shift).T
    np.testing.assert_allclose(shifted, score, atol=1e-11)


def test_scores_do_change_with_the_distance():
    q, k = normal(1, 1, 8), normal(2, 1, 8)
    scores = [(rotary(q, offset=t) @ rotary(k).T).item() for t in range(5)]
    assert len(np.unique(np.round(scores, 6))) == 5


def test_a_token_behind_a_cache_is_turned_by_its_global_position():
    x = normal(1, B, H, S, K)
    np.testing.assert_array_equal(rotary(x[..., 4:, :], offset=4), rotary(x)[..., 4:, :])


def test_the_gradient_is_that_of_central_differences():
    x, dy = normal(1, B, T, K), normal(2, B, T, K)
    measured = central_differences(lambda x: np.sum(dy * rotary(x, offset=3, base=50)), x)
    assert relative_error(rotary_backward(dy, offset=3, base=50), measured) < 1e-6


def test_the_way_back_undoes_the_turn():
    x = normal(1, B, H, T, K)
    np.testing.assert_allclose(rotary_backward(rotary(x, 7), 7), x, atol=1e-14)
    np.testing.assert_allclose(rotary_backward(rotary(x)), x, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept_far_out_as_well(dtype):
    x = normal(1, T, K, dtype=dtype)
    turned = rotary(x, offset=100_000)
    assert turned.dtype == rotary_backward(x).dtype == dtype
    exact = rotary(x.astype(float), offset=100_000)
    np.testing.assert_allclose(turned, exact, atol=8 * np.finfo(dtype).eps)


def test_nan_stays_in_its_pair_and_no_token_is_possible():
    x = normal(1, T, K)
    x[2, 1] = np.nan
    assert np.argwhere(np.isnan(rotary(x))).tolist() == [[2, 1], [2, 1 + K // 2]]
    assert rotary(x[:0]).shape == (0, K)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("turn", [rotary, rotary_backward])
@pytest.mark.parametrize(
    ("x", "offset", "error", "sentence"),
    [
        (np.ones((T, 7)), 0, ValueError, "head width 7 is odd; positions need pairs of features"),
        (np.ones((T, K)), -1, ValueError, "offset must be at least 0; got -1"),
        (np.ones((T, K), int), 0, TypeError, "rotary needs a floating dtype; got int64"),
        (np.ones(K), 0, ValueError, "x must have shape (..., T, D); got (4,)"),
    ],
)
def test_what_cannot_be_turned_is_refused(turn, x, offset, error, sentence):
    with pytest.raises(error) as refusal:
        turn(x, offset)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((T, 7), "d_model 7 is odd; positions need pairs of features"),
        ((-1, D), "length must be at least 0; got -1"),
        ((T, D, -2), "offset must be at least 0; got -2"),
    ],
)
def test_positions_that_there_cannot_be_are_refused(sizes, sentence):
    with pytest.raises(ValueError, match=r"odd|least") as refusal:
        sinusoidal(*sizes)
    assert str(refusal.value) == sentence
