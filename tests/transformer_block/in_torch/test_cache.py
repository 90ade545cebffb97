import numpy as np
import pytest
import torch

from tests.transformer_block.numerics import B, K, S, T, normal
from tests.transformer_block.parts import D, G, H, attention_arrays, gains, tensors
from transformer_block.in_numpy import attention as numpy_attention
from transformer_block.in_numpy import cache as numpy_twin
from transformer_block.in_torch.attention import Attention, attention
from transformer_block.in_torch.cache import KVCache
from transformer_block.in_torch.heads import QKNorm
from transformer_block.in_torch.masks import causal_mask, padding_mask

pytestmark = pytest.mark.slow

CHOICES = {
    "n_heads": H,
    "n_kv_heads": G,
    "causal": True,
    "qk_norm": QKNorm(*tensors(gains()).values()),
    "rotary_base": 50.0,
}


def keys(seed, length, dtype=torch.float64):
    return torch.tensor(normal(seed, B, G, length, K), dtype=dtype)


def inputs(length=S):
    return tensors(attention_arrays() | {"x": normal(1, B, length, D)})


def by_chunks(cache, given, chunks, visible=None, **choices):
    """Attention to x in chunks of these lengths, one after the other, through the cache."""
    outputs, start = [], cache.offset
    for length in chunks:
        x = given["x"][..., start : start + length, :]
        mask = None if visible is None else visible[..., : start + length]
        outputs.append(attention(**(given | {"x": x}), visible=mask, cache=cache, **choices))
        start += length
    return torch.cat(outputs, dim=-2)


@pytest.mark.parametrize("chunks", [[S], [1] * S, [4, 1, 3, 1], [0, 2, 0, 7]])
def test_chunks_of_any_length_give_what_the_whole_sequence_gives(chunks):
    cache = KVCache(capacity=S)
    y = by_chunks(cache, inputs(), chunks, **CHOICES)
    torch.testing.assert_close(y, attention(**inputs(), **CHOICES), atol=1e-12, rtol=1e-12)
    assert cache.offset == cache.length == S


@pytest.mark.parametrize("batch", [(), (B,), (B, 8)])
def test_a_cache_serves_any_number_of_batch_axes(batch):
    k, v = (torch.tensor(normal(seed, *batch, G, T, K)) for seed in (1, 2))
    cache = KVCache(capacity=S)
    cache.append(k[..., :2, :], v[..., :2, :])
    keys, values = cache.append(k[..., 2:, :], v[..., 2:, :])
    assert torch.equal(keys, k)
    assert torch.equal(values, v)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.3)])
def test_chunks_agree_in_narrow_dtypes_as_well(dtype, tolerance):
    given = {name: value.to(dtype) for name, value in inputs().items()}
    choices = CHOICES | {"qk_norm": QKNorm(*(gain.to(dtype) for gain in CHOICES["qk_norm"][:2]))}
    y = by_chunks(KVCache(S), given, [4, 1, 3, 1], **choices)
    torch.testing.assert_close(y, attention(**given, **choices), atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("window", [1, 3, 8])
@pytest.mark.parametrize("chunks", [[1] * 30, [2, 1, 3, 3, 1, 2, 3, 1, 1, 3, 3, 3, 2, 2]])
@pytest.mark.parametrize("spare", [0, 1, 5])
def test_a_window_slides_over_a_sequence_longer_than_the_cache(spare, chunks, window):
    cache = KVCache(capacity=window - 1 + max(chunks) + spare, window=window)
    y = by_chunks(cache, inputs(30), chunks, **CHOICES)
    whole = attention(**inputs(30), **CHOICES, visible=causal_mask(30, window=window))
    torch.testing.assert_close(y, whole, atol=1e-12, rtol=1e-12)
    assert (cache.offset, cache.length) == (30, window - 1)


def test_padding_is_hidden_behind_a_cache_as_well():
    visible = padding_mask([S, 3], S)
    y = by_chunks(KVCache(S), inputs(), [4, 1, 4], visible, **CHOICES)
    torch.testing.assert_close(y, attention(**inputs(), **CHOICES, visible=visible), atol=1e-12, rtol=1e-12)


def test_a_step_agrees_with_that_of_the_twin():
    arrays, theirs, ours = attention_arrays(), numpy_twin.KVCache(8), KVCache(8)
    shared = {"n_heads": H, "n_kv_heads": G, "causal": True, "rotary_base": 50.0}
    for start, end in ((0, 3), (3, 4), (4, 5)):
        chunk = arrays | {"x": arrays["x"][:, start:end]}
        expected = numpy_attention.attention(**chunk, **shared, cache=theirs)
        y = attention(**tensors(chunk), **shared, cache=ours)
        np.testing.assert_allclose(y, expected, atol=1e-12)
        assert (ours.offset, ours.length) == (theirs.offset, theirs.length)


def test_the_weights_of_a_step_are_those_of_its_row():
    cache, row, whole = KVCache(S), {}, {}
    by_chunks(cache, inputs(), [S - 1], **CHOICES)
    by_chunks(cache, inputs(), [1], **CHOICES, saved=row)
    attention(**inputs(), **CHOICES, saved=whole)
    torch.testing.assert_close(row["weights"], whole["weights"][..., -1:, :])


def test_a_module_steps_through_a_cache():
    module, x = Attention(D, H, n_kv_heads=G, causal=True, rotary_base=50.0).double(), inputs()["x"]
    cache = KVCache(S)
    with torch.no_grad():
        y = torch.cat([module(x[:, t : t + 1], cache=cache) for t in range(S)], dim=1)
        torch.testing.assert_close(y, module(x), atol=1e-12, rtol=1e-12)


def test_a_module_in_training_drops_weights_of_what_is_cached_as_well():
    module, x = Attention(D, H, causal=True, dropout=0.5).double().train(), inputs()["x"]
    torch.manual_seed(0)
    with torch.no_grad():
        steps = []
        for _ in range(2):
            cache = KVCache(S)
            module(x[:, :4], cache=cache)
            steps.append(module(x[:, 4:6], cache=cache))
    assert not torch.allclose(*steps)


@pytest.mark.parametrize(("window", "held"), [(None, 3), (3, 2)])
def test_nothing_is_copied_but_what_is_new(window, held):
    cache = KVCache(capacity=5, window=window)
    first, _ = cache.append(keys(1, 3), keys(2, 3))
    k, v = cache.append(keys(3, 2), keys(4, 2))
    assert torch.equal(k, torch.cat([keys(1, 3)[..., -held:, :], keys(3, 2)], dim=-2))
    assert torch.equal(v, torch.cat([keys(2, 3)[..., -held:, :], keys(4, 2)], dim=-2))
    assert torch.equal(first, keys(1, 3))  # what just fits in moves nothing
    assert k.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()
    assert k.untyped_storage().nbytes() == B * G * 5 * K * 8  # shared heads are stored once


@pytest.mark.parametrize("window", [None, 4])
def test_an_overfull_cache_says_so_and_stays_as_it_was(window):
    cache, given = KVCache(capacity=6, window=window), inputs()
    first = by_chunks(cache, given, [4], **CHOICES)
    held = 4 if window is None else 3
    with pytest.raises(ValueError, match="the cache holds") as refusal:
        attention(**(given | {"x": given["x"][:, 4:8]}), cache=cache, **CHOICES)
    assert str(refusal.value) == f"the cache holds {held} of 6 positions: no room for 4 more"
    assert (cache.offset, cache.length) == (4, held)
    rest = by_chunks(cache, given, [2], **CHOICES)
    whole = attention(**(given | {"x": given["x"][:, :6]}), visible=causal_mask(6, window=window), **CHOICES)
    torch.testing.assert_close(torch.cat([first, rest], dim=1), whole, atol=1e-12, rtol=1e-12)


def test_room_can_be_asked_for_before_anything_is_computed():
    cache = KVCache(capacity=6)
    cache.append(keys(1, 4), keys(2, 4))
    cache.require_room(2)
    with pytest.raises(ValueError, match="the cache holds 4 of 6 positions: no room for 3 more"):
        cache.require_room(3)


def test_after_a_reset_another_batch_starts_at_position_zero():
    cache, given = KVCache(capacity=S), inputs()
    by_chunks(cache, given, [5], **CHOICES)
    cache.reset()
    assert cache.offset == cache.length == 0
    one = given | {"x": given["x"][:1]}
    torch.testing.assert_close(by_chunks(cache, one, [4, 5], **CHOICES), attention(**one, **CHOICES))


def test_gradients_that_would_be_lost_are_refused_and_the_cache_stays_as_it_was():
    cache, trained = KVCache(capacity=8), keys(1, 2).requires_grad_()
    for pair in ((trained, keys(2, 2)), (keys(2, 2), trained)):
        with pytest.raises(RuntimeError) as refusal:
            cache.append(*pair)
        assert str(refusal.value) == "a cache keeps no gradients: call it in torch.no_grad()"
    assert cache.offset == 0
    with torch.no_grad():
        cache.append(trained, trained)
    assert cache.offset == 2


def test_a_cache_that_inference_mode_filled_serves_outside_of_it():
    cache = KVCache(capacity=8)
    with torch.inference_mode():
        cache.append(keys(1, 3), keys(2, 3))
    k, _ = cache.append(keys(3, 2), keys(4, 2))
    assert torch.equal(k, torch.cat([keys(1, 3), keys(3, 2)], dim=-2))
    with torch.inference_mode():
        assert cache.append(keys(5, 1), keys(6, 1))[0].shape == (B, G, 6, K)


def test_the_room_lies_beside_the_keys():
    cache, k, v = KVCache(capacity=8), keys(1, 3), keys(2, 3)
    with torch.device("meta"):  # where room without a device of its own would lie
        keys_held, values_held = cache.append(k, v)
    assert torch.equal(keys_held, k)
    assert torch.equal(values_held, v)


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
            keys(1, 2).float(),
            keys(1, 2).float(),
            TypeError,
            "k is float32 where the cache holds float64",
        ),
        (keys(1, 2), keys(1, 2).float(), TypeError, "v is float32 where the cache holds float64"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_cache_stays_as_it_was(k, v, error, sentence):
    cache = KVCache(capacity=8)
    cache.append(keys(1, 3), keys(2, 3))
    with pytest.raises(error) as refusal:
        cache.append(k, v)
    assert str(refusal.value) == sentence
    assert cache.offset == 3
    assert torch.equal(cache.append(keys(3, 1), keys(4, 1))[0][..., :3, :], keys(1, 3))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"causal": False}, ValueError, "a cache needs causal attention: it holds the past alone"),
        (
            {"visible": torch.ones(T, T, dtype=torch.bool)},
            ValueError,
            "visible has shape (5, 5), which does not broadcast to (2, 5, 8)",
        ),
        (
            {"visible": torch.ones(T, 8)},
            TypeError,
            "visible must be boolean, True where a key is seen; got float32",
        ),
    ],
)
def test_attention_that_cannot_use_the_cache_is_refused_before_it_is_changed(wrong, error, sentence):
    cache = KVCache(capacity=8)
    cache.append(keys(1, 3), keys(2, 3))
    with pytest.raises(error) as refusal:
        attention(**inputs(T), **(CHOICES | wrong), cache=cache)
    assert str(refusal.value) == sentence
    assert cache.offset == 3
