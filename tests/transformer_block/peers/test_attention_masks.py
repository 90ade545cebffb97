"""Our masks through nn.MultiheadAttention and PyTorch's scaled_dot_product_attention, and turned over."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from tests.transformer_block.numerics import B, D, H, K, S, T, normal
from tests.transformer_block.peers.agreement import load
from transformer_block.in_numpy import cross_attention as numpy_attention
from transformer_block.in_numpy import masks as numpy_masks
from transformer_block.in_numpy import scaled_dot_product as numpy_scaled
from transformer_block.in_torch import cross_attention as torch_attention
from transformer_block.in_torch import masks as torch_masks
from transformer_block.in_torch import scaled_dot_product as torch_scaled

pytestmark = pytest.mark.slow

CAUSAL = numpy_masks.causal_mask(T, S)  # the T queries stand behind S − T cached tokens
PADDING = numpy_masks.padding_mask([S, 6], S)
MASKS = {
    "causal": CAUSAL,
    "padding": np.repeat(PADDING, T, axis=1),
    "both": CAUSAL & PADDING,
    "any": np.random.default_rng(4).random((B, T, S)) < 0.5,
}
every_mask = pytest.mark.parametrize("visible", MASKS.values(), ids=MASKS)
every_twin = pytest.mark.parametrize("twin", ["in_numpy", "in_torch"])

X, MEMORY = normal(1, B, T, D), normal(2, B, S, D)
Q, KEYS, VALUES = normal(3, B, H, T, K), normal(4, B, H, S, K), normal(5, B, H, S, K)
WEIGHTS = {
    "in_proj_weight": normal(6, 3 * D, D),
    "in_proj_bias": normal(7, 3 * D),
    "out_proj.weight": normal(8, D, D),
    "out_proj.bias": normal(9, D),
}


def ours(twin, visible):
    """Cross-attention of T queries to S keys: the output, and the weights of each head."""
    part = {"in_numpy": numpy_attention, "in_torch": torch_attention}[twin].cross_attention
    as_array = {"in_numpy": np.asarray, "in_torch": torch.tensor}[twin]
    stacked, bias = WEIGHTS["in_proj_weight"], WEIGHTS["in_proj_bias"]
    arrays = [X, MEMORY, stacked[:D], bias[:D], stacked[D:], bias[D:]]
    arrays += [WEIGHTS["out_proj.weight"], WEIGHTS["out_proj.bias"]]
    saved = {}
    y = part(*map(as_array, arrays), H, as_array(visible), saved=saved)
    return np.asarray(y), np.asarray(saved["weights"])


def multihead_attention(**options):
    layer = load(nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64), WEIGHTS)
    x, memory = torch.tensor(X), torch.tensor(MEMORY)
    y, weights = layer(x, memory, memory, average_attn_weights=False, **options)
    return y.detach().numpy(), None if weights is None else weights.detach().numpy()


def converted(twin, name, visible, *arguments):
    """A mask as the twin's converter gives it, in a tensor."""
    if twin == "in_numpy":
        return torch.tensor(getattr(numpy_masks, name)(visible, *arguments))
    return getattr(torch_masks, name)(torch.tensor(visible), *arguments)


@every_twin
@every_mask
def test_multihead_attention_reads_the_hidden_keys_of_each_head(twin, visible):
    mask = converted(twin, "multihead_attention_mask", visible, H)
    for actual, expected in zip(ours(twin, visible), multihead_attention(attn_mask=mask), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@every_twin
def test_multihead_attention_reads_padding_apart_from_causality(twin):
    masks = {
        "attn_mask": converted(twin, "multihead_attention_mask", CAUSAL, H),
        "key_padding_mask": converted(twin, "key_padding_mask", PADDING),
    }
    for actual, expected in zip(ours(twin, CAUSAL & PADDING), multihead_attention(**masks), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@every_twin
@every_mask
@pytest.mark.parametrize("form", ["boolean", "additive"])
def test_scaled_dot_product_attention_reads_a_mask_in_both_forms(form, twin, visible):
    mask = converted(twin, "scaled_dot_product_mask", visible)
    if form == "additive":
        dtype = {"in_numpy": np.float64, "in_torch": torch.float64}[twin]
        mask = converted(twin, "additive_mask", mask.numpy(), dtype)
    q, k, v = map(torch.tensor, (Q, KEYS, VALUES))
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    if twin == "in_numpy":
        actual = numpy_scaled.scaled_dot_product_attention(Q, KEYS, VALUES, visible)
    else:
        actual = torch_scaled.scaled_dot_product_attention(q, k, v, torch.tensor(visible))
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@every_mask
def test_a_mask_turned_over_gives_something_else(visible):
    y, _ = ours("in_torch", visible)
    turned_over = torch.tensor(np.repeat(np.broadcast_to(visible, (B, T, S)), H, axis=0))
    wrong, _ = multihead_attention(attn_mask=turned_over)
    assert not np.allclose(y, wrong, atol=0.01)


@every_mask
@pytest.mark.parametrize("convert", [torch_masks.scaled_dot_product_mask, torch_masks.additive_mask])
def test_a_mask_turned_over_gives_something_else_in_scaled_dot_product_attention(convert, visible):
    q, k, v = map(torch.tensor, (Q, KEYS, VALUES))
    right = torch_scaled.scaled_dot_product_attention(q, k, v, torch.tensor(visible))
    turned_over = torch_masks.scaled_dot_product_mask(~torch.tensor(visible))
    if convert is torch_masks.additive_mask:
        turned_over = convert(turned_over, torch.float64)
    wrong = scaled_dot_product_attention(q, k, v, attn_mask=turned_over)
    assert not np.allclose(right, wrong, atol=0.01)


@pytest.mark.parametrize("need_weights", [True, False])
def test_multihead_attention_has_no_number_for_a_query_that_sees_no_key_and_we_have_0(need_weights):
    visible = np.ones((B, T, S), dtype=bool)
    visible[1, 2] = False
    mask = torch_masks.multihead_attention_mask(torch.tensor(visible), H)
    y, _ = multihead_attention(attn_mask=mask, need_weights=need_weights)
    assert np.isnan(y[1, 2]).all() == need_weights
    ours_there = ours("in_torch", visible)[0][1, 2]
    np.testing.assert_array_equal(ours_there, WEIGHTS["out_proj.bias"])


@pytest.mark.parametrize("convert", [torch_masks.scaled_dot_product_mask, torch_masks.additive_mask])
def test_scaled_dot_product_attention_gives_0_to_a_query_that_sees_no_key(convert):
    mask = torch_masks.scaled_dot_product_mask(torch.zeros(B, T, S, dtype=torch.bool))
    if convert is torch_masks.additive_mask:
        mask = convert(mask, torch.float64)
    q, k, v = map(torch.tensor, (Q, KEYS, VALUES))
    assert (scaled_dot_product_attention(q, k, v, attn_mask=mask) == 0).all()
