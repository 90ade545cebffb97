import numpy as np
import pytest
import torch
from torch.autograd import gradcheck
from torch.nn import functional

from tests.transformer_block.numerics import B, K, S, T, normal
from tests.transformer_block.parts import G, H, some_kept, some_visible
from transformer_block.in_numpy import dropout as numpy_dropout
from transformer_block.in_numpy import scaled_dot_product as numpy_twin
from transformer_block.in_torch.dropout import DropMask
from transformer_block.in_torch.masks import causal_mask
from transformer_block.in_torch.scaled_dot_product import (
    attention_weights,
    scaled_dot_product_attention,
    softmax,
)


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def heads(*batch, groups=H, keys=S, **options):
    shapes = (*batch, H, T, K), (*batch, groups, keys, K), (*batch, groups, keys, K)
    return [random(seed, *shape, **options) for seed, shape in enumerate(shapes, 1)]


def masks(*batch):
    """Choices of what is hidden; in the last two, a query sees nothing."""
    blind = torch.tensor(some_visible(4, *batch, T, S))
    blind[..., 2, :] = False
    return {
        "nothing": {},
        "mask": {"visible": torch.tensor(some_visible(4, *batch, T, S))},
        "causal": {"causal": True},
        "window": {"causal": True, "window": 3},
        "both": {"visible": torch.tensor(some_visible(4, T, S)), "causal": True},
        "blind": {"visible": blind},
        "blind in the end": {"visible": blind, "causal": True, "window": 1},
    }


@pytest.mark.parametrize("kind", masks())
@pytest.mark.parametrize("groups", [H, G, 1])
@pytest.mark.parametrize("batch", [(), (B,), (B, 7)])
def test_the_fused_path_and_the_path_with_weights_agree_with_the_twin(batch, groups, kind):
    q, k, v = heads(*batch, groups=groups)
    hidden, saved = masks(*batch)[kind], {}
    arrays = {name: value.numpy() if name == "visible" else value for name, value in hidden.items()}
    expected = numpy_twin.scaled_dot_product_attention(*(each.numpy() for each in (q, k, v)), **arrays)
    fused = scaled_dot_product_attention(q, k, v, **hidden)
    explicit = scaled_dot_product_attention(q, k, v, **hidden, saved=saved)
    np.testing.assert_allclose(fused, expected, atol=1e-12)
    np.testing.assert_allclose(explicit, expected, atol=1e-12)
    weights = numpy_twin.attention_weights(q.numpy(), k.numpy(), **arrays)
    np.testing.assert_allclose(saved["weights"], weights, atol=1e-12)


@pytest.mark.parametrize("kind", masks())
@pytest.mark.parametrize("groups", [H, G])
def test_both_paths_have_the_same_finite_gradients(groups, kind):
    gradients = []
    for saved in (None, {}):
        inputs = heads(B, groups=groups, requires_grad=True)
        y = scaled_dot_product_attention(*inputs, **masks(B)[kind], saved=saved)
        gradients.append(torch.autograd.grad((random(6, *y.shape) * y).sum(), inputs))
    torch.testing.assert_close(*gradients)
    assert all(gradient.isfinite().all() for gradient in gradients[0])


@pytest.mark.parametrize("batch", [(), (B,)])
@pytest.mark.parametrize("groups", [H, G])
def test_the_kernels_own_causal_mask_serves_where_the_queries_are_the_keys(groups, batch, monkeypatch):
    calls = []
    kernel = functional.scaled_dot_product_attention
    monkeypatch.setattr(
        functional,
        "scaled_dot_product_attention",
        lambda *given, **options: calls.append(options) or kernel(*given, **options),
    )
    q, k, v = heads(*batch, groups=groups, keys=T)
    y = scaled_dot_product_attention(q, k, v, causal=True)
    torch.testing.assert_close(y, scaled_dot_product_attention(q, k, v, causal_mask(T)))
    one = scaled_dot_product_attention(q[..., -1:, :], k, v, causal=True)
    torch.testing.assert_close(one, y[..., -1:, :])
    behind = scaled_dot_product_attention(q[..., 2:, :], k, v, causal=True)
    torch.testing.assert_close(behind, y[..., 2:, :])
    by_window = scaled_dot_product_attention(q[..., -1:, :], k, v, causal=True, window=T)
    torch.testing.assert_close(by_window, one)
    # by the kernel; by a mask of the same meaning; one new token needs none; T ≠ S needs ours;
    # one token whose window holds all keys needs none
    given = [(each["is_causal"], each["attn_mask"] is not None) for each in calls]
    assert given == [(True, False), (False, True), (False, False), (False, True), (False, False)]
    assert {each["enable_gqa"] for each in calls} == {groups != H}


@pytest.mark.parametrize("saved", [None, {}])
def test_the_order_of_time_lies_beside_the_queries(saved):
    q, k, v = heads(B, keys=S)
    with torch.device("meta"):  # where a mask without a device of its own would lie
        y = scaled_dot_product_attention(q, k, v, causal=True, saved=saved)
    torch.testing.assert_close(y, scaled_dot_product_attention(q, k, v, causal_mask(T, S)))


def test_one_token_sees_all_of_a_window_and_no_more():
    q, k, v = heads(B)
    one = scaled_dot_product_attention(q[..., :1, :], k, v, causal=True, window=S)
    torch.testing.assert_close(one, scaled_dot_product_attention(q[..., :1, :], k, v))
    short = scaled_dot_product_attention(q[..., :1, :], k, v, causal=True, window=S - 2)
    torch.testing.assert_close(
        short, scaled_dot_product_attention(q[..., :1, :], k[..., 2:, :], v[..., 2:, :])
    )


@pytest.mark.parametrize("showing", [False, True])
def test_dropout_falls_on_the_weights_as_in_the_twin(showing):
    q, k, v = heads(B, groups=G)
    keep, saved = some_kept(5, B, H, T, S), {} if showing else None
    y = scaled_dot_product_attention(q, k, v, drop=DropMask(torch.tensor(keep), 0.3), saved=saved)
    expected = numpy_twin.scaled_dot_product_attention(
        *(each.numpy() for each in (q, k, v)), drop=numpy_dropout.DropMask(keep, 0.3)
    )
    np.testing.assert_allclose(y, expected, atol=1e-12)
    if showing:
        torch.testing.assert_close(saved["weights"], attention_weights(q, k))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("saved", [None, {}])
@pytest.mark.parametrize("groups", [H, G])
def test_a_query_that_sees_nothing_gathers_nothing_in_any_dtype(groups, saved, dtype):
    q, k, v = heads(B, groups=groups, dtype=dtype, requires_grad=True)
    y = scaled_dot_product_attention(q, k, v, **masks(B)["blind"], saved=saved)
    assert y.dtype == dtype
    assert torch.equal(y[:, :, 2], torch.zeros(B, H, K, dtype=dtype))
    with torch.autograd.set_detect_anomaly(True):  # not even a NaN that a later step would cover
        y.sum().backward()
    assert all(each.grad.isfinite().all() for each in (q, k, v))


def test_no_keys_and_no_queries_are_possible():
    q, none = random(1, H, T, K), torch.empty(H, 0, K, dtype=torch.float64)
    for saved in (None, {}):
        assert torch.equal(scaled_dot_product_attention(q, none, none, saved=saved), torch.zeros_like(q))
        assert scaled_dot_product_attention(none, none, none, causal=True, saved=saved).shape == (H, 0, K)


def test_softmax_shares_out_over_what_is_visible():
    visible = torch.tensor([[True, False, True], [False, False, False]])
    weights = softmax(torch.tensor([[1.0, 9.0, 1.0], [1.0, 2.0, 3.0]]), visible)
    assert torch.equal(weights, torch.tensor([[0.5, 0, 0.5], [0, 0, 0]]))


def test_softmax_can_be_differentiated_where_nothing_is_visible():
    visible = torch.tensor([[True, False, True], [False, False, False]])
    assert gradcheck(lambda scores: softmax(scores, visible), random(1, 2, 3, requires_grad=True))


@pytest.mark.parametrize("saved", [None, {}])
def test_nan_is_not_hidden(saved):
    q, k, v = heads(B)
    k[1, :, 3] = torch.nan
    y = scaled_dot_product_attention(q, k, v, causal=True, saved=saved)
    assert y[1].isnan().all()
    assert y[0].isfinite().all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("saved", [None, {}])
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"k": torch.ones(4, S, K), "v": torch.ones(4, S, K)}, "n_heads 6 is not divisible by n_kv_heads 4"),
        (
            {"visible": torch.ones(T, S + 1, dtype=torch.bool)},
            "visible has shape (5, 10), which does not broadcast to (5, 9)",
        ),
        ({"window": 3}, "a window needs causal attention: it looks back"),
        ({"window": 0, "causal": True}, "window must be at least 1; got 0"),
    ],
)
def test_what_does_not_fit_is_refused_by_name_on_both_paths(wrong, sentence, saved):
    arguments = dict(zip("qkv", heads(), strict=True)) | wrong
    with pytest.raises(ValueError, match=r"must|divisible|broadcast|causal") as refusal:
        scaled_dot_product_attention(**arguments, saved=saved)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="visible must be boolean, True where a key is seen; got float32"):
        scaled_dot_product_attention(*heads(), torch.ones(T, S))
