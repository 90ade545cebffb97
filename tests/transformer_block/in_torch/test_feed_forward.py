import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from tests.transformer_block.numerics import B, D, F, T, normal
from transformer_block.config import ACTIVATIONS as CONFIGURABLE
from transformer_block.in_torch.feed_forward import ACTIVATIONS, FeedForward, feed_forward


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def weights(**options):
    return (
        random(1, F, D, **options),
        random(2, F, **options),
        random(3, D, F, **options),
        random(4, D, **options),
    )


@pytest.mark.parametrize(
    ("activation", "bend"), [("relu", nn.ReLU()), ("gelu_tanh", nn.GELU(approximate="tanh"))]
)
def test_the_module_agrees_with_a_sequence_of_pytorchs_own(activation, bend):
    theirs = nn.Sequential(nn.Linear(D, F), bend, nn.Linear(F, D))
    ours = FeedForward(D, F, activation)
    ours.up, ours.down = theirs[0], theirs[2]
    x = random(5, B, T, D, dtype=torch.float32)
    torch.testing.assert_close(ours(x), theirs(x))


def test_the_module_names_its_parameters_as_the_block_does():
    shapes = {name: tuple(value.shape) for name, value in FeedForward(D, F).state_dict().items()}
    assert shapes == {"up.weight": (F, D), "up.bias": (F,), "down.weight": (D, F), "down.bias": (D,)}


def test_the_bend_is_a_relu_unless_asked():
    x = random(5, T, D)
    assert torch.equal(feed_forward(x, *weights()), feed_forward(x, *weights(), "relu"))
    assert FeedForward(D, F).activation == "relu"


def test_it_takes_a_single_token():
    x = random(5, B, T, D)
    torch.testing.assert_close(feed_forward(x[1, 2], *weights()), feed_forward(x, *weights())[1, 2])


def test_it_can_be_differentiated():
    assert gradcheck(
        feed_forward, (random(5, T, D, requires_grad=True), *weights(requires_grad=True), "gelu_tanh")
    )


def test_every_activation_of_the_config_is_there():
    assert tuple(ACTIVATIONS) == CONFIGURABLE


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"w1": torch.ones(F, D + 1)}, "w1 must have shape (7, 12); got (7, 13)"),
        ({"b1": torch.ones(D)}, "b1 must have shape (7,); got (12,)"),
        ({"w2": torch.ones(F, D)}, "w2 must have shape (12, 7); got (7, 12)"),
        ({"b2": torch.ones(F)}, "b2 must have shape (12,); got (7,)"),
        ({"activation": "swish"}, "activation must be one of relu, gelu_tanh; got 'swish'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    arguments = dict(zip(("w1", "b1", "w2", "b2"), weights(), strict=True)) | wrong
    with pytest.raises(ValueError, match="must") as refusal:
        feed_forward(random(5, T, D), **arguments)
    assert str(refusal.value) == sentence


def test_a_module_with_an_unknown_activation_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match="activation must be one of relu, gelu_tanh; got 'swish'"):
        FeedForward(D, F, "swish")
