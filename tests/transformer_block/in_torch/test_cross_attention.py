import numpy as np
import pytest
import torch
from torch import nn

from tests.transformer_block.numerics import B, K, S, T, normal
from tests.transformer_block.parts import (
    D,
    G,
    H,
    cross_attention_arrays,
    gains,
    some_kept,
    some_visible,
    tensors,
)
from transformer_block.in_numpy import cross_attention as numpy_twin
from transformer_block.in_numpy import dropout as numpy_dropout
from transformer_block.in_numpy import heads as numpy_heads
from transformer_block.in_torch.cross_attention import CrossAttention, cross_attention
from transformer_block.in_torch.dropout import DropMask
from transformer_block.in_torch.heads import QKNorm
from transformer_block.in_torch.masks import padding_mask


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def parts_of(module):
    linears = module.q, module.kv, module.out
    return [part for linear in linears for part in (linear.weight, linear.bias)]


@pytest.mark.parametrize("groups", [H, G, 1])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_every_choice_agrees_with_the_twin(groups, bias, masked):
    arrays, keep = cross_attention_arrays(groups, bias=bias), some_kept(9, B, H, T, S)
    visible = some_visible(8, B, T, S) if masked else None
    y = cross_attention(
        **tensors(arrays),
        n_heads=H,
        n_kv_heads=groups,
        visible=torch.tensor(visible) if masked else None,
        qk_norm=QKNorm(*tensors(gains()).values(), 1e-2),
        drop=DropMask(torch.tensor(keep), 0.3),
    )
    expected = numpy_twin.cross_attention(
        **arrays,
        n_heads=H,
        n_kv_heads=groups,
        visible=visible,
        qk_norm=numpy_heads.QKNorm(*gains().values(), 1e-2),
        drop=numpy_dropout.DropMask(keep, 0.3),
    )
    np.testing.assert_allclose(y, expected, atol=1e-12)


def test_a_memory_of_padding_alone_gives_nothing_and_has_finite_gradients():
    inputs = tensors(cross_attention_arrays(H), requires_grad=True)
    y = cross_attention(**inputs, n_heads=H, visible=padding_mask([4, 0], S))
    assert torch.equal(y[1], inputs["out_bias"].expand(T, D))
    y.sum().backward()
    assert all(each.grad.isfinite().all() for each in inputs.values())
    assert not inputs["memory"].grad[1].any()


def test_the_weights_are_there_to_be_looked_at():
    inputs, saved = tensors(cross_attention_arrays(H)), {}
    y = cross_attention(**inputs, n_heads=H, saved=saved)
    torch.testing.assert_close(y, cross_attention(**inputs, n_heads=H))
    assert saved["weights"].shape == (B, H, T, S)


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        (
            {},
            {
                "q.weight": (D, D),
                "q.bias": (D,),
                "kv.weight": (2 * D, D),
                "kv.bias": (2 * D,),
                "out.weight": (D, D),
                "out.bias": (D,),
            },
        ),
        (
            {"n_kv_heads": G, "bias": False, "qk_norm": True},
            {
                "q.weight": (D, D),
                "kv.weight": (D, D),
                "out.weight": (D, D),
                "q_norm.weight": (K,),
                "k_norm.weight": (K,),
            },
        ),
    ],
)
def test_the_module_names_its_parameters_as_the_block_does(choices, names):
    state = CrossAttention(D, H, **choices).state_dict()
    assert [(name, tuple(value.shape)) for name, value in state.items()] == list(names.items())


def test_the_module_attends_with_its_own_projections_and_choices():
    module = CrossAttention(D, H, n_kv_heads=G, qk_norm=True, eps=1e-2, dropout=0.3).double().eval()
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    x, memory, visible, saved = random(5, B, T, D), random(6, B, S, D), padding_mask([4, 9], S), {}
    choices = {"n_kv_heads": G, "qk_norm": QKNorm(module.q_norm.weight, module.k_norm.weight, 1e-2)}
    expected = cross_attention(x, memory, *parts_of(module), H, visible, **choices)
    torch.testing.assert_close(module(x, memory, visible), expected)
    torch.testing.assert_close(module(x, memory, visible, saved), expected)
    assert saved["weights"].shape == (B, H, T, S)
    plain = CrossAttention(D, H).double()
    assert plain.eps == 1e-5
    expected = cross_attention(x, memory, *parts_of(plain), H)
    torch.testing.assert_close(plain(x, memory), expected)


def test_the_module_drops_weights_in_training_alone():
    module = CrossAttention(D, H, dropout=0.5).double()
    x, memory = random(5, B, T, D), random(6, B, S, D)
    torch.manual_seed(0)
    assert not torch.allclose(module.train()(x, memory), module(x, memory))
    torch.testing.assert_close(module.eval()(x, memory), module(x, memory))


def test_what_is_dropped_is_drawn_where_the_tokens_lie():
    module, x, memory = (
        CrossAttention(D, H, dropout=0.5).double().train(),
        random(5, B, T, D),
        random(6, B, S, D),
    )
    with torch.device("meta"):  # where a mask without a device of its own would lie
        assert module(x, memory).isfinite().all()


@pytest.mark.parametrize(
    ("heads", "sentence"),
    [
        ((5, None), "d_model 24 is not divisible by n_heads 5"),
        ((6, 4), "n_heads 6 is not divisible by n_kv_heads 4"),
    ],
)
def test_heads_that_do_not_share_evenly_are_refused_when_the_module_is_made(heads, sentence):
    with pytest.raises(ValueError, match=sentence):
        CrossAttention(D, heads[0], n_kv_heads=heads[1])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"memory": torch.ones(3, S, D)}, ValueError, "memory must have shape (2, S, 24); got (3, 9, 24)"),
        ({"memory": torch.ones(B, S, D)}, TypeError, "x is float64 but memory is float32"),
        ({"kv": torch.ones(D, D)}, ValueError, "kv must have shape (48, 24); got (24, 24)"),
        ({"q_bias": torch.ones(K)}, ValueError, "q_bias must have shape (24,); got (4,)"),
        ({"kv_bias": torch.ones(D)}, ValueError, "kv_bias must have shape (48,); got (24,)"),
        ({"out_bias": torch.ones(K)}, ValueError, "out_bias must have shape (24,); got (4,)"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, error, sentence):
    with pytest.raises(error) as refusal:
        cross_attention(**(tensors(cross_attention_arrays(H)) | {"n_heads": H} | wrong))
    assert str(refusal.value) == sentence
