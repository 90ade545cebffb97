import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from tests.transformer_block.choices import COVERING, config_of, name_of
from tests.transformer_block.numerics import B, D, F, H, S, T, normal, random_parameters, small_config
from transformer_block.in_torch.block import Block
from transformer_block.in_torch.cache import KVCache
from transformer_block.in_torch.masks import causal_mask, padding_mask
from transformer_block.parameters import initialize, shapes

# nn.TransformerEncoderLayer's names for ours
THEIRS = {
    "norm_1": "norm1",
    "norm_2": "norm2",
    "attention.qkv.": "self_attn.in_proj_",
    "attention.out": "self_attn.out_proj",
    "feed_forward.up": "linear1",
    "feed_forward.down": "linear2",
}


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def block(**choices):
    config = small_config(**choices)
    return Block(config, random_parameters(config))


def their_name(name):
    for ours, theirs in THEIRS.items():
        name = name.replace(ours, theirs)
    return name


def encoder_layer(ours):
    theirs = nn.TransformerEncoderLayer(
        D,
        H,
        F,
        dropout=0.0,
        activation={"relu": "relu", "gelu_tanh": nn.GELU(approximate="tanh")}[ours.config.activation],
        layer_norm_eps=ours.config.eps,
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    theirs.load_state_dict({their_name(name): value for name, value in ours.state_dict().items()})
    return theirs


def test_it_passes_through_its_stages_in_order():
    names = [name for name, _ in block().stages(random(1, B, T, D))]
    assert names == ["norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2"]


@pytest.mark.parametrize("row", COVERING, ids=name_of)
def test_its_state_is_the_parameters_it_was_given(row):
    config = config_of(row)
    parameters = random_parameters(config)
    state = Block(config, parameters).state_dict()
    assert list(state) == list(shapes(config))
    assert all(torch.equal(state[name], torch.tensor(value)) for name, value in parameters.items())


def test_its_parameters_are_copies_that_can_be_trained():
    config = small_config()
    parameters = random_parameters(config)
    model = Block(config, parameters)
    assert all(parameter.requires_grad for parameter in model.parameters())
    model(random(1, B, T, D)).square().mean().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
    for name, value in random_parameters(config).items():
        assert (parameters[name] == value).all()
        if name != "attention.qkv.bias":  # its key third has no gradient: softmax does not see it
            assert not torch.isclose(model.state_dict()[name], torch.tensor(value), atol=0).all()


def test_making_one_draws_nothing_from_the_global_random_state():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    block()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("activation", ["relu", "gelu_tanh"])
@pytest.mark.parametrize("kind", ["encoder", "causal", "padding"])
def test_it_agrees_with_the_encoder_layer_forward_and_backward(kind, activation):
    ours = block(causal=kind == "causal", activation=activation, eps=1e-3)
    theirs = encoder_layer(ours).train()
    hidden = torch.tensor([[False, False, False, True, True], [False] * 5])
    options = {
        "encoder": {},
        "causal": {"src_mask": ~causal_mask(T)},
        "padding": {"src_key_padding_mask": hidden},
    }[kind]
    visible = padding_mask([3, 5], T) if kind == "padding" else None
    x, direction = random(1, B, T, D), random(2, B, T, D)
    y, expected = ours(x, visible), theirs(x, **options)
    torch.testing.assert_close(y, expected)
    (direction * y).sum().backward()
    (direction * expected).sum().backward()
    their_parameters = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter.grad, their_parameters[their_name(name)].grad)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("t", range(T))
def test_only_a_causal_block_keeps_a_change_from_reaching_earlier_tokens(causal, t):
    model, x = block(causal=causal), random(1, B, T, D)
    changed = x.clone()
    changed[:, t] = random(2, B, D)
    moved = (model(x) - model(changed)).abs().amax(dim=(0, 2)) > 1e-9
    assert moved.tolist() == [not causal or s >= t for s in range(T)]


def test_padding_and_causality_are_joined():
    x, visible = random(1, B, T, D), padding_mask([3, 5], T)
    torch.testing.assert_close(block(causal=True)(x, visible), block()(x, visible & causal_mask(T)))


def test_the_causal_mask_lies_beside_the_tokens():
    model, x = block(causal=True), random(1, B, T, D)
    expected = model(x)
    with torch.device("meta"):  # where a mask without a device of its own would lie
        assert torch.equal(model(x), expected)


def test_a_query_that_sees_nothing_has_finite_gradients():
    model, x = block(causal=True), random(1, B, T, D, requires_grad=True)
    model(x, padding_mask([0, 4], T)).sum().backward()
    assert all(each.grad.isfinite().all() for each in (x, *model.parameters()))


def test_with_both_branches_zeroed_it_is_the_identity():
    model = block(causal=True)
    with torch.no_grad():
        for linear in (model.attention.out, model.feed_forward.down):
            linear.weight.zero_()
            linear.bias.zero_()
    x = random(1, B, T, D)
    assert torch.equal(model(x), x)


def test_it_can_be_differentiated():
    config = small_config(causal=True, activation="gelu_tanh")
    assert gradcheck(
        Block(config, random_parameters(config)), random(1, 1, 3, D, requires_grad=True), fast_mode=True
    )


def test_a_sequence_needs_no_batch_and_may_be_a_token_or_none():
    model, x = block(causal=True), random(1, B, T, D)
    torch.testing.assert_close(model(x[1]), model(x)[1])
    torch.testing.assert_close(model(x[:, :1]), model(x)[:, :1])
    assert model(x[:, :0]).shape == (B, 0, D)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_dtype_is_the_parameters(dtype):
    stages = block(causal=True).to(dtype).stages(random(1, B, T, D, dtype=dtype))
    assert {value.dtype for _, value in stages} == {dtype}


def test_wrong_parameters_are_refused_when_it_is_made():
    with pytest.raises(
        ValueError, match=r"feed_forward\.up\.weight must have shape \(7, 12\); got \(8, 12\)"
    ):
        Block(small_config(), initialize(small_config(d_ff=8), seed=0))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(B, T, D + 1), (D,), (B, D, T)])
def test_an_x_of_another_width_is_refused_before_the_first_stage(shape):
    with pytest.raises(ValueError, match="x must have shape") as refusal:
        block().stages(torch.ones(shape))
    assert str(refusal.value) == f"x must have shape (..., T, 12); got {shape}"


def test_an_x_of_another_dtype_is_refused_before_the_first_stage():
    with pytest.raises(TypeError, match="x is float32 but the parameters are float64"):
        block().stages(random(1, B, T, D, dtype=torch.float32))


def test_autocast_may_mix_dtypes():
    model, x = block(causal=True).float(), random(1, B, T, D, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = model(x.bfloat16())
    torch.testing.assert_close(y.float(), model(x), rtol=0.05, atol=0.05)


def test_with_a_cache_it_continues_where_it_was():
    model, x, cache = block(causal=True, positions="rotary"), random(1, B, T, D), KVCache(T)
    with torch.no_grad():
        parts = [model(x[:, :2], cache=cache), model(x[:, 2:3], cache=cache), model(x[:, 3:], cache=cache)]
        torch.testing.assert_close(torch.cat(parts, dim=1), model(x), rtol=1e-12, atol=1e-12)


def test_what_the_attentions_have_to_show_is_saved_under_their_names():
    model, x, memory, saved = block(cross_attention=True), random(1, B, T, D), random(2, B, S, D), {}
    y = model(x, memory=memory, saved=saved)
    torch.testing.assert_close(y, model(x, memory=memory), rtol=1e-12, atol=1e-12)
    assert saved["attention"]["weights"].shape == (B, H, T, T)
    assert saved["cross_attention"]["weights"].shape == (B, H, T, S)


@pytest.mark.parametrize("rate", ["attention_dropout", "residual_dropout", "feed_forward_dropout"])
def test_it_drops_in_training_alone(rate):
    model, x = block(**{rate: 0.5}), random(1, B, T, D)
    torch.manual_seed(1)
    first, second = model.train()(x), model(x)
    assert (first - second).abs().max() > 1e-3
    torch.testing.assert_close(model.eval()(x), block()(x), rtol=1e-12, atol=1e-12)
