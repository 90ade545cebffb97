import numpy as np
import pytest
import torch
from torch import nn

from tests.transformer_block.numerics import B, K, T, normal
from tests.transformer_block.parts import D, G, H, attention_arrays, gains, some_kept, tensors
from transformer_block.in_numpy import attention as numpy_twin
from transformer_block.in_numpy import dropout as numpy_dropout
from transformer_block.in_numpy import heads as numpy_heads
from transformer_block.in_torch.attention import Attention, attention, split_qkv
from transformer_block.in_torch.dropout import DropMask
from transformer_block.in_torch.heads import QKNorm
from transformer_block.in_torch.masks import causal_mask, padding_mask


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def mask(kind):
    """Masks of each shape that attention takes; in the last, query 2 sees nothing."""
    blind = causal_mask(T)
    blind[2] = False
    return {"none": None, "causal": causal_mask(T), "padding": padding_mask([3, 5], T), "blind": blind}[kind]


@pytest.mark.parametrize("kind", ["none", "causal", "padding"])
def test_it_agrees_with_multihead_attention(kind):
    theirs = nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    x, visible, saved = random(5, B, T, D), mask(kind), {}
    hidden = None if visible is None else ~visible.expand(B, T, T).repeat_interleave(H, dim=0)
    expected, their_weights = theirs(x, x, x, attn_mask=hidden, average_attn_weights=False)
    out = theirs.out_proj
    arguments = theirs.in_proj_weight, theirs.in_proj_bias, out.weight, out.bias, H, visible
    torch.testing.assert_close(attention(x, *arguments), expected)
    torch.testing.assert_close(attention(x, *arguments, saved=saved), expected)
    torch.testing.assert_close(saved["weights"], their_weights)


@pytest.mark.parametrize("groups", [H, G, 1])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["none", "padding", "blind"])
def test_every_choice_agrees_with_the_twin(groups, bias, kind):
    arrays, keep = attention_arrays(groups, bias=bias), some_kept(9, B, H, T, T)
    shared = {"n_heads": H, "n_kv_heads": groups, "causal": kind == "padding", "rotary_base": 50.0}
    visible = mask(kind)
    y = attention(
        **tensors(arrays),
        **shared,
        visible=visible,
        qk_norm=QKNorm(*tensors(gains()).values(), 1e-2),
        drop=DropMask(torch.tensor(keep), 0.3),
    )
    expected = numpy_twin.attention(
        **arrays,
        **shared,
        visible=None if visible is None else visible.numpy(),
        qk_norm=numpy_heads.QKNorm(*gains().values(), 1e-2),
        drop=numpy_dropout.DropMask(keep, 0.3),
    )
    np.testing.assert_allclose(y, expected, atol=1e-12)


def test_the_rows_of_qkv_are_split_as_in_the_twin():
    projected = normal(1, B, T, D + 2 * G * K)
    ours, theirs = split_qkv(torch.tensor(projected), H, G), numpy_twin.split_qkv(projected, H, G)
    for part, expected in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(part, expected)


def test_causal_is_the_causal_mask():
    inputs, visible = tensors(attention_arrays(H)), padding_mask([3, 5], T)
    torch.testing.assert_close(
        attention(**inputs, n_heads=H, causal=True), attention(**inputs, n_heads=H, visible=causal_mask(T))
    )
    torch.testing.assert_close(
        attention(**inputs, n_heads=H, visible=visible, causal=True),
        attention(**inputs, n_heads=H, visible=visible & causal_mask(T)),
    )


def test_a_sequence_of_padding_alone_gathers_nothing():
    inputs = tensors(attention_arrays(H))
    y = attention(**inputs, n_heads=H, visible=padding_mask([0, 4], T))
    assert torch.equal(y[0], inputs["out_bias"].expand(T, D))


@pytest.mark.parametrize("saved", [None, {}])
def test_nan_is_not_hidden(saved):
    inputs = tensors(attention_arrays(H))
    inputs["x"][1, 3] = torch.nan
    y = attention(**inputs, n_heads=H, causal=True, saved=saved)
    assert y[1, 3:].isnan().all()
    assert y[0].isfinite().all()


def test_no_tokens_are_possible():
    inputs = tensors(attention_arrays(H) | {"x": np.empty((B, 0, D))})
    assert attention(**inputs, n_heads=H, causal=True, rotary_base=50.0).shape == (B, 0, D)


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ({}, {"qkv.weight": (72, D), "qkv.bias": (72,), "out.weight": (D, D), "out.bias": (D,)}),
        ({"n_kv_heads": G, "bias": False}, {"qkv.weight": (48, D), "out.weight": (D, D)}),
        (
            {"n_kv_heads": 1, "bias": False, "qk_norm": True},
            {"qkv.weight": (32, D), "out.weight": (D, D), "q_norm.weight": (K,), "k_norm.weight": (K,)},
        ),
    ],
)
def test_the_module_names_its_parameters_as_the_block_does(choices, names):
    state = Attention(D, H, **choices).state_dict()
    assert [(name, tuple(value.shape)) for name, value in state.items()] == list(names.items())


def test_the_module_attends_with_its_own_projections_and_choices():
    module = Attention(
        D, H, n_kv_heads=G, causal=True, qk_norm=True, eps=1e-2, rotary_base=50.0, dropout=0.3
    ).double()
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    x, visible, saved = random(5, B, T, D), padding_mask([3, 5], T), {}
    parts = module.qkv.weight, module.qkv.bias, module.out.weight, module.out.bias
    choices = {
        "n_kv_heads": G,
        "causal": True,
        "qk_norm": QKNorm(module.q_norm.weight, module.k_norm.weight, 1e-2),
        "rotary_base": 50.0,
    }
    module.eval()
    torch.testing.assert_close(module(x, visible), attention(x, *parts, H, visible, **choices))
    torch.testing.assert_close(module(x), attention(x, *parts, H, **choices))
    torch.testing.assert_close(module(x, saved=saved), module(x))
    assert saved["weights"].shape == (B, H, T, T)
    plain = Attention(D, H).double()
    assert plain.eps == 1e-5
    parts = plain.qkv.weight, plain.qkv.bias, plain.out.weight, plain.out.bias
    torch.testing.assert_close(plain(x), attention(x, *parts, H))


def test_the_module_drops_weights_in_training_alone():
    module, x = Attention(D, H, causal=True, dropout=0.5), random(5, B, T, D, dtype=torch.float32)
    torch.manual_seed(0)
    first, second = module.train()(x), module(x)
    assert not torch.allclose(first, second)
    torch.testing.assert_close(module.eval()(x), module(x))


def test_what_is_dropped_is_drawn_where_the_tokens_lie():
    module, x = Attention(D, H, dropout=0.5).double().train(), random(5, B, T, D)
    with torch.device("meta"):  # where a mask without a device of its own would lie
        assert module(x).isfinite().all()


def test_the_module_trains_every_parameter_it_has():
    module = Attention(D, H, n_kv_heads=G, qk_norm=True, rotary_base=50.0).double()
    module(random(5, B, T, D)).square().sum().backward()
    assert all(parameter.grad.abs().max() > 1e-6 for parameter in module.parameters())


@pytest.mark.parametrize(
    ("heads", "sentence"),
    [
        ((5, None), "d_model 24 is not divisible by n_heads 5"),
        ((6, 4), "n_heads 6 is not divisible by n_kv_heads 4"),
    ],
)
def test_heads_that_do_not_share_evenly_are_refused_when_the_module_is_made(heads, sentence):
    with pytest.raises(ValueError, match=sentence):
        Attention(D, heads[0], n_kv_heads=heads[1])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"qkv": torch.ones(D, 3 * D)}, "qkv must have shape (72, 24); got (24, 72)"),
        ({"qkv_bias": torch.ones(D)}, "qkv_bias must have shape (72,); got (24,)"),
        ({"out": torch.ones(D, D + 1)}, "out must have shape (24, 24); got (24, 25)"),
        ({"out_bias": torch.ones(3 * D)}, "out_bias must have shape (24,); got (72,)"),
        ({"n_heads": 5}, "d_model 24 is not divisible by n_heads 5"),
        ({"x": torch.ones(D)}, "x must have shape (..., T, D); got (24,)"),
        (
            {"visible": torch.ones(1, B, T, T, dtype=torch.bool)},
            "visible has shape (1, 2, 5, 5), which does not broadcast to (2, 5, 5)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    arguments = tensors(attention_arrays(H)) | {"n_heads": H} | wrong
    with pytest.raises(ValueError, match=r"must|divisible|broadcast") as refusal:
        attention(**arguments)
    assert str(refusal.value) == sentence
