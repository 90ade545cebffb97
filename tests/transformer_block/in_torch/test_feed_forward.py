import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from tests.transformer_block.numerics import B, F, T, normal
from tests.transformer_block.parts import D, feed_forward_arrays, gate_arrays, some_kept, tensors
from transformer_block.config import CHOICES
from transformer_block.in_numpy import dropout as numpy_dropout
from transformer_block.in_numpy import feed_forward as numpy_twin
from transformer_block.in_torch.dropout import DropMask
from transformer_block.in_torch.feed_forward import FeedForward, feed_forward

ACTIVATIONS = CHOICES["activation"]
GATED = ["swiglu", "geglu"]


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def arrays_of(activation, *, bias=True):
    return feed_forward_arrays(bias=bias) | (gate_arrays(bias=bias) if activation in GATED else {})


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_every_choice_agrees_with_the_twin(activation, bias, rate):
    arrays, keep, saved, looked_at = arrays_of(activation, bias=bias), some_kept(9, B, T, F), {}, {}
    drop = DropMask(torch.tensor(keep), rate) if rate else None
    their_drop = numpy_dropout.DropMask(keep, rate) if rate else None
    y = feed_forward(**tensors(arrays), activation=activation, drop=drop, saved=saved)
    expected = numpy_twin.feed_forward(**arrays, activation=activation, drop=their_drop, saved=looked_at)
    np.testing.assert_allclose(y, expected, atol=1e-11)
    np.testing.assert_allclose(saved["inner"], looked_at["inner"], atol=1e-11)


@pytest.mark.parametrize(
    ("activation", "bend"), [("relu", nn.ReLU()), ("gelu", nn.GELU()), ("gelu_tanh", nn.GELU("tanh"))]
)
def test_the_module_agrees_with_a_sequence_of_pytorchs_own(activation, bend):
    theirs = nn.Sequential(nn.Linear(D, F), bend, nn.Linear(F, D))
    ours = FeedForward(D, F, activation)
    ours.up, ours.down = theirs[0], theirs[2]
    x = random(5, B, T, D, dtype=torch.float32)
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", GATED)
def test_a_gated_module_uses_its_gate(activation, bias):
    module, x, saved = FeedForward(D, F, activation, bias=bias).double(), random(5, B, T, D), {}
    linears = module.up, module.down, module.gate
    up, down, gate = ((linear.weight, linear.bias) for linear in linears)
    expected = feed_forward(x, *up, *down, activation, gate=gate[0], gate_bias=gate[1])
    torch.testing.assert_close(module(x, saved), expected)
    assert saved["inner"].shape == (B, T, F)


@pytest.mark.parametrize(
    ("activation", "bias", "names"),
    [
        ("relu", True, {"up.weight": (F, D), "up.bias": (F,), "down.weight": (D, F), "down.bias": (D,)}),
        ("swiglu", False, {"up.weight": (F, D), "gate.weight": (F, D), "down.weight": (D, F)}),
        (
            "geglu",
            True,
            {
                "up.weight": (F, D),
                "up.bias": (F,),
                "gate.weight": (F, D),
                "gate.bias": (F,),
                "down.weight": (D, F),
                "down.bias": (D,),
            },
        ),
    ],
)
def test_the_module_names_its_parameters_as_the_block_does(activation, bias, names):
    state = FeedForward(D, F, activation, bias=bias).state_dict()
    assert [(name, tuple(value.shape)) for name, value in state.items()] == list(names.items())


def test_the_bend_is_a_relu_unless_asked():
    inputs = tensors(feed_forward_arrays())
    assert torch.equal(feed_forward(**inputs), feed_forward(**inputs, activation="relu"))
    assert FeedForward(D, F).activation == "relu"


def test_the_module_has_biases_unless_asked():
    assert {"up.bias", "down.bias"} <= set(FeedForward(D, F).state_dict())


def test_the_module_drops_inner_features_in_training_alone():
    module, x, saved = FeedForward(D, 70, dropout=0.5).double(), random(5, B, T, D), {}
    torch.manual_seed(0)
    first = module.train()(x, saved)
    assert not torch.allclose(first, module(x))
    in_training = (saved["inner"] == 0).double().mean()
    module.eval()(x, saved)
    assert in_training > 0.6 > (saved["inner"] == 0).double().mean()
    torch.testing.assert_close(module(x), module(x))


def test_what_is_dropped_is_drawn_where_the_tokens_lie():
    module, x = FeedForward(D, F, dropout=0.5).double().train(), random(5, B, T, D)
    with torch.device("meta"):  # where a mask without a device of its own would lie
        assert module(x).isfinite().all()


def test_it_takes_a_single_token_and_none():
    inputs = tensors(feed_forward_arrays())
    x = inputs.pop("x")
    torch.testing.assert_close(feed_forward(x[1, 2], **inputs), feed_forward(x, **inputs)[1, 2])
    assert feed_forward(x[:, :0], **inputs).shape == (B, 0, D)


def test_it_can_be_differentiated():
    inputs = tensors(arrays_of("geglu") | {"x": normal(1, T, D)}, requires_grad=True)

    def gated(x, w1, b1, w2, b2, gate, gate_bias):
        return feed_forward(x, w1, b1, w2, b2, "geglu", gate=gate, gate_bias=gate_bias)

    assert gradcheck(gated, tuple(inputs.values()), fast_mode=True)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"w1": torch.ones(F, D + 1)}, "w1 must have shape (7, 24); got (7, 25)"),
        ({"b1": torch.ones(D)}, "b1 must have shape (7,); got (24,)"),
        ({"w2": torch.ones(F, D)}, "w2 must have shape (24, 7); got (7, 24)"),
        ({"b2": torch.ones(F)}, "b2 must have shape (24,); got (7,)"),
        (
            {"activation": "swish"},
            "activation must be one of relu, gelu, gelu_tanh, silu, swiglu, geglu; got 'swish'",
        ),
        ({"activation": "swiglu"}, "swiglu needs a gate; got None"),
        ({"gate": torch.ones(F, D)}, "relu has no gate: gate and gate_bias must be None"),
        ({"gate_bias": torch.ones(F)}, "relu has no gate: gate and gate_bias must be None"),
        (
            {"activation": "geglu", "gate": torch.ones(F, D), "gate_bias": torch.ones(D)},
            "gate_bias must have shape (7,); got (24,)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    with pytest.raises(ValueError, match=r"must|gate") as refusal:
        feed_forward(**(tensors(feed_forward_arrays()) | wrong))
    assert str(refusal.value) == sentence


def test_a_module_with_an_unknown_activation_is_refused_when_it_is_made():
    sentence = "activation must be one of relu, gelu, gelu_tanh, silu, swiglu, geglu; got 'swish'"
    with pytest.raises(ValueError, match=sentence):
        FeedForward(D, F, "swish")
