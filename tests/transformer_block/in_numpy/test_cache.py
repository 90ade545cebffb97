import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer_block.numerics import B, K, S, T, normal
from tests.transformer_block.parts import D, G, H, attention_arrays, gains
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.heads import QKNorm
from transformer_block.in_numpy.masks import causal_mask, padding_mask

pytestmark = pytest.mark.slow

CHOICES = {
    "n_heads": H,
    "n_kv_heads": G,
    "causal": True,
    "qk_norm": QKNorm(gains()["q_norm"], gains()["k_norm"]),
    "rotary_base": 50.0,
}


def keys(seed, length, dtype=np.float64):
    return normal(seed, B, G, length, K, dtype=dtype)


def by_chunks(cache, arrays, chunks, visible=None, **choices):
    """Attention to x in chunks of these lengths, one after the other, through the cache."""
    outputs, start = [], cache.offset
    for length in chunks:
        x = arrays["x"][..., start : start + length, :]
        mask = None if visible is None else visible[..., : start + length]
        outputs.append(attention(**(arrays | {"x": x}), visible=mask, cache=cache, **choices))
        start += length
    return np.concatenate(outputs, axis=-2)


def long_arrays(length=S):
    return attention_arrays() | {"x": normal(1, B, length, D)}


@pytest.mark.parametrize("chunks", [[S], [1] * S, [4, 1, 3, 1], [0, 2, 0, 7]])
def test_chunks_of_any_length_give_what_the_whole_sequence_gives(chunks):
    cache = KVCache(capacity=S)
    y = by_chunks(cache, long_arrays(), chunks, **CHOICES)
    np.testing.assert_allclose(y, attention(**long_arrays(), **CHOICES), atol=1e-12, rtol=1e-12)
    assert cache.offset == cache.length == S


@pytest.mark.parametrize("batch", [(), (B,), (B, 8)])
def test_a_cache_serves_any_number_of_batch_axes(batch):
    k, v = normal(1, *batch, G, T, K), normal(2, *batch, G, T, K)
    cache = KVCache(capacity=S)
    cache.append(k[..., :2, :], v[..., :2, :])
    keys, values = cache.append(k[..., 2:, :], v[..., 2:, :])
    np.testing.assert_array_equal(keys, k)
    np.testing.assert_array_equal(values, v)


def test_chunks_agree_in_float32_as_well():
    arrays = {name: array.astype(np.float32) for name, array in long_arrays().items()}
    choices = CHOICES | {"qk_norm": QKNorm(*(gain.astype(np.float32) for gain in gains().values()))}
    y = by_chunks(KVCache(S), arrays, [4, 1, 3, 1], **choices)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, attention(**arrays, **choices), atol=1e-5, rtol=1e-5)


@given(st.permutations(range(1, 8)), st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(0, 99))
def test_chunks_agree_at_any_size(sizes, chunks, seed):
    batch, groups, shared, width, spare, *_ = sizes
    n_heads, width = groups * shared, 2 * width
    rows = (n_heads + 2 * groups) * width
    d_model, length = n_heads * width, sum(chunks)
    arrays = {
        "x": normal(seed, batch, length, d_model),
        "qkv": normal(seed + 1, rows, d_model) / np.sqrt(d_model),
        "qkv_bias": normal(seed + 2, rows),
        "out": normal(seed + 3, d_model, d_model) / np.sqrt(d_model),
        "out_bias": None,
    }
    choices = {"n_heads": n_heads, "n_kv_heads": groups, "causal": True, "rotary_base": 50.0}
    y = by_chunks(KVCache(length + spare), arrays, chunks, **choices)
    np.testing.assert_allclose(y, attention(**arrays, **choices), atol=1e-12)


@pytest.mark.parametrize("window", [1, 3, 8])
@pytest.mark.parametrize("chunks", [[1] * 30, [2, 1, 3, 3, 1, 2, 3, 1, 1, 3, 3, 3, 2, 2]])
@pytest.mark.parametrize("spare", [0, 1, 5])
def test_a_window_slides_over_a_sequence_longer_than_the_cache(spare, chunks, window):
    cache = KVCache(capacity=window - 1 + max(chunks) + spare, window=window)
    arrays = long_arrays(30)
    y = by_chunks(cache, arrays, chunks, **CHOICES)
    whole = attention(**arrays, **CHOICES, visible=causal_mask(30, window=window))
    np.testing.assert_allclose(y, whole, atol=1e-12, rtol=1e-12)
    assert (cache.offset, cache.length) == (30, window - 1)


def test_padding_is_hidden_behind_a_cache_as_well():
    visible = padding_mask([S, 3], S)
    y = by_chunks(KVCache(S), long_arrays(), [4, 1, 4], visible, **CHOICES)
    whole = attention(**long_arrays(), **CHOICES, visible=visible)
    np.testing.assert_allclose(y, whole, atol=1e-12, rtol=1e-12)


def test_the_weights_of_a_step_are_those_of_its_row():
    cache, row, whole = KVCache(S), {}, {}
    arrays = long_arrays()
    by_chunks(cache, arrays, [S - 1], **CHOICES)
    by_chunks(cache, arrays, [1], **CHOICES, saved=row)
    attention(**arrays, **CHOICES, saved=whole)
    np.testing.assert_allclose(row["weights"], whole["weights"][..., -1:, :], atol=1e-12)


def test_what_is_handed_out_is_all_that_was_appended_in_order():
    cache = KVCache(capacity=8)
    cache.append(keys(1, 3), keys(2, 3))
    k, v = cache.append(keys(3, 2), keys(4, 2))
    np.testing.assert_array_equal(k, np.concatenate([keys(1, 3), keys(3, 2)], axis=-2))
    np.testing.assert_array_equal(v, np.concatenate([keys(2, 3), keys(4, 2)], axis=-2))


@pytest.mark.parametrize("window", [None, 3])
def test_nothing_is_copied_but_what_is_new(window):
    cache = KVCache(capacity=5, window=window)
    first, _ = cache.append(keys(1, 3), keys(2, 3))
    second, _ = cache.append(keys(3, 2), keys(4, 2))
    assert np.shares_memory(first, second)
    np.testing.assert_array_equal(first, keys(1, 3))  # what just fits in moves nothing
    assert second.base.shape == (B, G, 5, K)  # shared heads are stored once
    assert second.base is first.base


@pytest.mark.parametrize("window", [None, 4])
def test_an_overfull_cache_says_so_and_stays_as_it_was(window):
    cache, arrays = KVCache(capacity=6, window=window), long_arrays()
    first = by_chunks(cache, arrays, [4], **CHOICES)
    held = 4 if window is None else 3
    with pytest.raises(ValueError, match="the cache holds") as refusal:
        attention(**(arrays | {"x": arrays["x"][:, 4:8]}), cache=cache, **CHOICES)
    assert str(refusal.value) == f"the cache holds {held} of 6 positions: no room for 4 more"
    assert (cache.offset, cache.length) == (4, held)
    rest = by_chunks(cache, arrays, [2], **CHOICES)
    whole = attention(
        **(arrays | {"x": arrays["x"][:, :6]}), visible=causal_mask(6, window=window), **CHOICES
    )
    np.testing.assert_allclose(np.concatenate([first, rest], axis=1), whole, atol=1e-12)


def test_room_can_be_asked_for_before_anything_is_computed():
    cache = KVCache(capacity=6)
    cache.append(keys(1, 4), keys(2, 4))
    cache.require_room(2)
    with pytest.raises(ValueError, match="the cache holds 4 of 6 positions: no room for 3 more"):
        cache.require_room(3)


def test_after_a_reset_another_batch_starts_at_position_zero():
    cache, arrays = KVCache(capacity=S), long_arrays()
    by_chunks(cache, arrays, [5], **CHOICES)
    cache.reset()
    assert cache.offset == cache.length == 0
    one = arrays | {"x": arrays["x"][:1]}
    y = by_chunks(cache, one, [4, 5], **CHOICES)
    np.testing.assert_allclose(y, attention(**one, **CHOICES), atol=1e-12)


def test_nan_in_the_cache_is_not_hidden():
    cache, arrays = KVCache(capacity=S), long_arrays()
    arrays["x"][1, 2] = np.nan
    y = by_chunks(cache, arrays, [1] * S, **CHOICES)
    assert np.isnan(y).any(axis=-1)[1].tolist() == [False] * 2 + [True] * (S - 2)
    assert np.isfinite(y[0]).all()


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((0,), "capacity must be at least 1; got 0"),
        ((6, 0), "window must be at least 1; got 0"),
        ((6, 7), "window 7 does not fit into capacity 6"),
    ],
)
def test_sizes_that_serve_nothing_are_refused(sizes, sentence):
    with pytest.raises(ValueError, match=sentence):
        KVCache(*sizes)
    assert KVCache(6, 6).window == 6


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("k", "v", "error", "sentence"),
    [
        (keys(1, 2), keys(1, 3), ValueError, "v must have shape (2, 3, 2, 4); got (2, 3, 3, 4)"),
        (keys(1, 2)[:1], keys(1, 2)[:1], ValueError, "k must have shape (2, 3, 2, 4); got (1, 3, 2, 4)"),
        (
            keys(1, 2)[..., :3],
            keys(1, 2)[..., :3],
            ValueError,
            "k must have shape (2, 3, 2, 4); got (2, 3, 2, 3)",
        ),
        (keys(1, 2)[0, 0, 0], keys(1, 2)[0, 0, 0], ValueError, "k must have shape (..., T, D); got (4,)"),
        (
            keys(1, 2, np.float32),
            keys(1, 2, np.float32),
            TypeError,
            "k is float32 where the cache holds float64",
        ),
        (keys(1, 2), keys(1, 2, np.float32), TypeError, "v is float32 where the cache holds float64"),
        (keys(1, 2).astype(int), keys(1, 2), TypeError, "a cache needs a floating dtype; got int64"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_cache_stays_as_it_was(k, v, error, sentence):
    cache = KVCache(capacity=8)
    cache.append(keys(1, 3), keys(2, 3))
    with pytest.raises(error) as refusal:
        cache.append(k, v)
    assert str(refusal.value) == sentence
    assert cache.offset == 3
    np.testing.assert_array_equal(cache.append(keys(3, 1), keys(4, 1))[0][..., :3, :], keys(1, 3))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"causal": False}, ValueError, "a cache needs causal attention: it holds the past alone"),
        (
            {"visible": np.ones((T, T), bool)},
            ValueError,
            "visible has shape (5, 5), which does not broadcast to (2, 5, 8)",
        ),
        (
            {"visible": np.ones((T, 8))},
            TypeError,
            "visible must be boolean, True where a key is seen; got float64",
        ),
        (
            {"rotary_base": 50.0, "qk_norm": QKNorm(np.ones(3), np.ones(K))},
            ValueError,
            "q_norm must have shape (4,); got (3,)",
        ),
    ],
)
def test_attention_that_cannot_use_the_cache_is_refused_before_it_is_changed(wrong, error, sentence):
    cache = KVCache(capacity=8)
    cache.append(keys(1, 3), keys(2, 3))
    with pytest.raises(error) as refusal:
        attention(**attention_arrays(), **(CHOICES | wrong), cache=cache)
    assert str(refusal.value) == sentence
    assert cache.offset == 3
