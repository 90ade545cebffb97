import pytest
import torch

from tests.transformer_block.numerics import B, D, H, S, T, normal, random_parameters, small_config
from transformer_block.in_torch.block import Block


def random(seed, *shape):
    return torch.tensor(normal(seed, *shape))


def block(**choices):
    config = small_config(**choices)
    return Block(config, random_parameters(config))


def test_cross_attention_drops_weights_too():
    model, x, memory = (
        block(cross_attention=True, attention_dropout=0.5),
        random(1, B, T, D),
        random(2, B, S, D),
    )
    model.train().attention.eval()
    assert (model(x, memory=memory) - model(x, memory=memory)).abs().max() > 1e-3


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("choices", "inputs", "error", "sentence"),
    [
        ({"cross_attention": True}, {}, ValueError, "cross-attention needs a memory; got none"),
        ({}, {"memory": random(2, B, S, D)}, ValueError, "a memory is given, but cross_attention is False"),
        (
            {"cross_attention": True},
            {"memory": random(2, B, S, H)},
            ValueError,
            "memory must have shape (2, S, 12); got (2, 9, 3)",
        ),
        (
            {"cross_attention": True},
            {"memory": random(2, B, S, D).float()},
            TypeError,
            "x is float64 but memory is float32",
        ),
    ],
)
def test_a_memory_that_does_not_belong_is_refused_before_the_first_stage(choices, inputs, error, sentence):
    with pytest.raises(error) as refusal:
        block(**choices).stages(random(1, B, T, D), **inputs)
    assert str(refusal.value) == sentence
