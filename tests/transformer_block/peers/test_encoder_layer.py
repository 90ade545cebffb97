"""nn.TransformerEncoderLayer, with the norms before the branches and after the adds."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from tests.transformer_block.numerics import B, D, F, H, T, normal, random_parameters, small_config
from tests.transformer_block.peers import layouts
from tests.transformer_block.peers.agreement import OF_TWIN, TOLERANCE, assert_agree, load, of_module
from transformer_block.in_numpy.masks import causal_mask, key_padding_mask, padding_mask

pytestmark = pytest.mark.slow

LENGTHS = [3, T]
ACTIVATIONS = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh")}


def peer(config, parameters):
    dtype = parameters["norm_1.weight"].dtype
    layer = nn.TransformerEncoderLayer(
        D,
        H,
        F,
        dropout=0.0,
        activation=ACTIVATIONS[config.activation],
        layer_norm_eps=config.eps,
        batch_first=True,
        norm_first=config.placement == "pre",
        dtype=getattr(torch, str(dtype)),
    )
    return load(layer, layouts.encoder_layer(config, parameters))


def hidden(causal, padded):
    """The masks of the layer: True where a key is hidden."""
    masks = {"src_mask": ~causal_mask(T)} if causal else {}
    if padded:
        masks["src_key_padding_mask"] = key_padding_mask(padding_mask(LENGTHS, T))
    return {name: torch.tensor(mask) for name, mask in masks.items()}


@pytest.mark.parametrize("twin", OF_TWIN)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("causal", "padded"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_it_agrees_forward_and_backward(placement, activation, causal, padded, dtype, twin):
    config = small_config(placement=placement, activation=activation, causal=causal, eps=1e-3)
    parameters = random_parameters(config, dtype=dtype)
    x, dy = (normal(seed, B, T, D, dtype=dtype) for seed in (1, 2))
    visible = padding_mask(LENGTHS, T) if padded else None
    ours = OF_TWIN[twin](config, parameters, x, dy, visible=visible)
    layer = peer(config, parameters)
    theirs = of_module(layer, partial(layer, **hidden(causal, padded)), x, dy)
    assert_agree(ours, theirs, partial(layouts.encoder_layer, config))


@pytest.mark.parametrize("twin", OF_TWIN)
def test_a_mask_turned_over_does_not_agree(twin):
    config = small_config()
    parameters = random_parameters(config)
    x, dy = (normal(seed, B, T, D) for seed in (1, 2))
    ours = OF_TWIN[twin](config, parameters, x, dy, visible=padding_mask([3, 4], T))
    turned_over = torch.tensor(padding_mask([3, 4], T)[:, 0])
    layer = peer(config, parameters)
    theirs = of_module(layer, partial(layer, src_key_padding_mask=turned_over), x, dy)
    assert np.abs(ours.y - theirs.y).max() > 0.01
