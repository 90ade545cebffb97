import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from tests.transformer_block.numerics import B, D, H, K, S, T, normal
from transformer_block.in_torch.attention import (
    Attention,
    attention,
    attention_weights,
    merge_heads,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)
from transformer_block.in_torch.masks import causal_mask, padding_mask


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def projections(**options):
    shapes = (3 * D, D), (3 * D,), (D, D), (D,)
    return [random(seed, *shape, **options) for seed, shape in enumerate(shapes)]


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
    x, visible = random(5, B, T, D), mask(kind)
    hidden = None if visible is None else ~visible.expand(B, T, T).repeat_interleave(H, dim=0)
    expected, their_weights = theirs(x, x, x, attn_mask=hidden, average_attn_weights=False)
    out = theirs.out_proj
    y, weights = attention(
        x, theirs.in_proj_weight, theirs.in_proj_bias, out.weight, out.bias, H, visible, return_weights=True
    )
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(weights, their_weights)


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "blind"])
def test_the_fused_path_and_the_path_with_weights_agree_forward_and_backward(kind):
    gradients, outputs = [], []
    for return_weights in (False, True):
        inputs = [random(5, B, T, D, requires_grad=True), *projections(requires_grad=True)]
        y = attention(*inputs, H, mask(kind), return_weights=return_weights)
        y = y[0] if return_weights else y
        outputs.append(y)
        gradients.append(torch.autograd.grad((random(6, B, T, D) * y).sum(), inputs))
    torch.testing.assert_close(*outputs)
    torch.testing.assert_close(*gradients)
    assert all(gradient.isfinite().all() for gradient in gradients[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("return_weights", [False, True])
def test_a_query_that_sees_nothing_gathers_nothing(return_weights, dtype):
    x = random(5, B, T, D, dtype=dtype, requires_grad=True)
    parts = projections(dtype=dtype)
    y = attention(x, *parts, H, mask("blind"), return_weights=return_weights)
    if return_weights:
        y, weights = y
        assert torch.equal(weights[:, :, 2], torch.zeros(B, H, T, dtype=dtype))
    assert torch.equal(y[:, 2], parts[-1].expand(B, D))
    with torch.autograd.set_detect_anomaly(True):  # not even a NaN that a later step would cover
        y.sum().backward()
    assert x.grad.isfinite().all()
    assert y.isfinite().all()


def test_a_sequence_of_padding_alone_gathers_nothing():
    y = attention(random(5, B, T, D), *projections(), H, padding_mask([0, 4], T))
    assert torch.equal(y[0], projections()[-1].expand(T, D))


@pytest.mark.parametrize("batch", [(), (B,), (B, 6)])
@pytest.mark.parametrize("masked", [False, True])
def test_queries_and_keys_may_differ_in_number(batch, masked):
    q, k, v = random(1, *batch, H, T, K), random(2, *batch, H, S, K), random(3, *batch, H, S, K)
    visible = causal_mask(T, S) if masked else None
    weights = attention_weights(q, k, visible)
    assert weights.shape == (*batch, H, T, S)
    torch.testing.assert_close(scaled_dot_product_attention(q, k, v, visible), weights @ v)


def test_no_keys_and_no_queries_are_possible():
    q, none = random(1, H, T, K), torch.empty(H, 0, K, dtype=torch.float64)
    assert torch.equal(scaled_dot_product_attention(q, none, none), torch.zeros_like(q))
    empty = torch.empty(B, 0, D, dtype=torch.float64)
    y, weights = attention(empty, *projections(), H, causal_mask(0), return_weights=True)
    assert attention(empty, *projections(), H).shape == y.shape == (B, 0, D)
    assert weights.shape == (B, H, 0, 0)


def test_softmax_shares_out_over_what_is_visible():
    visible = torch.tensor([[True, False, True], [False, False, False]])
    weights = softmax(torch.tensor([[1.0, 9.0, 1.0], [1.0, 2.0, 3.0]]), visible)
    assert torch.equal(weights, torch.tensor([[0.5, 0, 0.5], [0, 0, 0]]))


def test_softmax_can_be_differentiated_where_nothing_is_visible():
    visible = torch.tensor([[True, False, True], [False, False, False]])
    assert gradcheck(lambda scores: softmax(scores, visible), random(1, 2, 3, requires_grad=True))


def test_nan_is_not_hidden():
    x = random(5, B, T, D)
    x[1, 3] = torch.nan
    for y in (
        attention(x, *projections(), H, causal_mask(T)),
        attention(x, *projections(), H, causal_mask(T), True)[0],
    ):
        assert y[1, 3:].isnan().all()
        assert y[0].isfinite().all()


def test_a_head_holds_neighboring_features():
    x = random(1, B, T, D)
    heads = split_heads(x, H)
    assert torch.equal(heads[:, 1], x[..., K : 2 * K])
    assert torch.equal(merge_heads(heads), x)


def test_the_module_names_its_parameters_as_the_block_does():
    shapes = {name: tuple(value.shape) for name, value in Attention(D, H).state_dict().items()}
    assert shapes == {
        "qkv.weight": (3 * D, D),
        "qkv.bias": (3 * D,),
        "out.weight": (D, D),
        "out.bias": (D,),
    }


def test_the_module_attends_with_its_own_projections():
    module = Attention(D, H).double()
    x, visible = random(5, B, T, D), causal_mask(T)
    parts = module.qkv.weight, module.qkv.bias, module.out.weight, module.out.bias
    torch.testing.assert_close(module(x, visible), attention(x, *parts, H, visible))
    torch.testing.assert_close(module(x), attention(x, *parts, H))


def test_a_module_whose_heads_do_not_divide_the_width_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match="d_model 12 is not divisible by n_heads 5"):
        Attention(D, 5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"qkv": torch.ones(D, 3 * D)}, "qkv must have shape (36, 12); got (12, 36)"),
        ({"qkv_bias": torch.ones(D)}, "qkv_bias must have shape (36,); got (12,)"),
        ({"out": torch.ones(D, D + 1)}, "out must have shape (12, 12); got (12, 13)"),
        ({"out_bias": torch.ones(3 * D)}, "out_bias must have shape (12,); got (36,)"),
        ({"n_heads": 5}, "d_model 12 is not divisible by n_heads 5"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    names = ("qkv", "qkv_bias", "out", "out_bias")
    arguments = dict(zip(names, projections(), strict=True)) | {"n_heads": H} | wrong
    with pytest.raises(ValueError, match=r"must|divisible") as refusal:
        attention(random(5, B, T, D), **arguments)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(T,), (T, T + 1), (B + 1, T, T), (1, B, T, T)])
def test_a_mask_that_does_not_stretch_over_the_scores_is_refused(shape):
    visible = torch.ones(shape, dtype=torch.bool)
    with pytest.raises(ValueError, match="visible has shape") as refusal:
        attention(random(5, B, T, D), *projections(), H, visible)
    assert str(refusal.value) == f"visible has shape {shape}, which does not broadcast to (2, 5, 5)"


@pytest.mark.usefixtures("unchecked")
def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="visible must be boolean, True where a key is seen; got float32"):
        attention(random(5, B, T, D), *projections(), H, torch.ones(T, T))
