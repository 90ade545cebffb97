"""nn.TransformerDecoderLayer: self-attention, attention to a memory, feed-forward."""

from functools import partial

import pytest
import torch
from torch import nn

from tests.transformer_block.numerics import B, D, F, H, S, T, normal, random_parameters, small_config
from tests.transformer_block.peers import layouts
from tests.transformer_block.peers.agreement import OF_TWIN, TOLERANCE, assert_agree, load, of_module
from transformer_block.in_numpy.masks import causal_mask, key_padding_mask, padding_mask

pytestmark = pytest.mark.slow

MEMORY_LENGTHS = [S, 4]


def peer(config, parameters):
    layer = nn.TransformerDecoderLayer(
        D,
        H,
        F,
        dropout=0.0,
        activation=nn.GELU(),
        layer_norm_eps=config.eps,
        batch_first=True,
        norm_first=config.placement == "pre",
        dtype=getattr(torch, str(parameters["norm_1.weight"].dtype)),
    )
    return load(layer, layouts.decoder_layer(config, parameters))


@pytest.mark.parametrize("twin", OF_TWIN)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_it_agrees_forward_and_backward(placement, padded, dtype, twin):
    config = small_config(placement=placement, activation="gelu", causal=True, cross_attention=True, eps=1e-3)
    parameters = random_parameters(config, dtype=dtype)
    x, dy = (normal(seed, B, T, D, dtype=dtype) for seed in (1, 2))
    memory, visible = normal(3, B, S, D, dtype=dtype), padding_mask(MEMORY_LENGTHS, S)
    masks = {"tgt_mask": torch.tensor(~causal_mask(T))}
    if padded:
        masks["memory_key_padding_mask"] = torch.tensor(key_padding_mask(visible))
    ours = OF_TWIN[twin](config, parameters, x, dy, memory=memory, memory_visible=visible if padded else None)
    layer = peer(config, parameters)
    theirs = of_module(layer, partial(layer, **masks), x, dy, memory)
    assert_agree(ours, theirs, partial(layouts.decoder_layer, config))
