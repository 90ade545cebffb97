import pytest
import torch

from tests.transformer_block.choices import COVERING, config_of, name_of
from tests.transformer_block.numerics import B, D, H, S, T, normal, small_config
from transformer_block.in_torch.cache import KVCache
from transformer_block.in_torch.masks import padding_mask
from transformer_block.in_torch.stack import Stack
from transformer_block.parameters import initialize_stack, perturb, stack_shapes

pytestmark = pytest.mark.slow


def random(seed, *shape, **options):
    return torch.tensor(normal(seed, *shape), **options)


def stack(**choices):
    config = small_config(**{"n_layers": 3} | choices)
    return Stack(config, perturb(initialize_stack(config, seed=0), seed=0))


def caches(capacity=T, n_layers=3):
    return [KVCache(capacity) for _ in range(n_layers)]


@pytest.mark.parametrize("row", COVERING, ids=name_of)
def test_its_state_is_the_parameters_it_was_given(row):
    config = config_of(row)
    parameters = initialize_stack(config, seed=0)
    state = Stack(config, parameters).state_dict()
    assert list(state) == list(stack_shapes(config))
    assert all(torch.equal(state[name], torch.tensor(value)) for name, value in parameters.items())


def test_all_its_parameters_can_be_trained():
    model = stack(positions="sinusoidal")
    model(random(1, B, T, D)).square().mean().backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in model.parameters())


def test_making_one_draws_nothing_from_the_global_random_state():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    stack()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "rotary"])
def test_only_positions_tell_the_order_of_the_tokens(positions):
    model, x, order = stack(positions=positions), random(1, B, T, D), [3, 0, 4, 1, 2]
    moved = (model(x[:, order]) - model(x)[:, order]).abs().max()
    assert (moved > 1e-6) == (positions != "none")


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "rotary"])
@pytest.mark.parametrize("chunks", [[5], [2, 1, 2], [1, 1, 1, 1, 1]])
def test_with_caches_every_chunk_stands_at_its_global_position(chunks, positions):
    model, x, held = stack(causal=True, positions=positions), random(1, B, T, D), caches()
    with torch.no_grad():
        parts = [model(part, caches=held) for part in x.split(chunks, dim=1)]
        torch.testing.assert_close(torch.cat(parts, dim=1), model(x), rtol=1e-12, atol=1e-12)


def test_a_stack_of_one_block_continues_from_its_one_cache():
    model, x = stack(n_layers=1, causal=True, positions="sinusoidal"), random(1, B, T, D)
    held = caches(n_layers=1)
    with torch.no_grad():
        parts = [model(x[:, :2], caches=held), model(x[:, 2:], caches=held)]
        torch.testing.assert_close(torch.cat(parts, dim=1), model(x), rtol=1e-12, atol=1e-12)


def test_caches_without_room_are_left_as_they_were():
    model, x, held = stack(causal=True), random(1, B, T, D), caches(capacity=T + 1)
    held[2] = KVCache(T - 1)
    with torch.no_grad():
        model(x[:, :2], caches=held)
    with pytest.raises(ValueError, match="the cache holds 2 of 4 positions: no room for 3 more"):
        model.stages(x[:, 2:], caches=held)
    assert [cache.offset for cache in held] == [2, 2, 2]


def test_a_decoders_blocks_read_the_same_memory():
    model = stack(cross_attention=True, causal=True)
    x, memory, saved = random(1, B, T, D), random(2, B, S, D), {}
    model(x, memory=memory, memory_visible=padding_mask([4, 9], S), saved=saved)
    assert list(saved) == ["blocks.0", "blocks.1", "blocks.2"]
    for each in saved.values():
        weights = each["cross_attention"]["weights"]
        assert weights.shape == (B, H, T, S)
        assert not weights[0, ..., 4:].any()
        assert weights[1].all()


def test_it_drops_in_training_alone():
    model, x = stack(residual_dropout=0.5), random(1, B, T, D)
    torch.manual_seed(1)
    first, second = model.train()(x), model(x)
    assert (first - second).abs().max() > 1e-3
    assert torch.equal(model.eval()(x), stack()(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_dtype_is_the_parameters(dtype):
    stages = stack(positions="sinusoidal").to(dtype).stages(random(1, B, T, D, dtype=dtype))
    assert {value.dtype for _, value in stages} == {dtype}


def test_the_positions_lie_beside_the_tokens():
    model, x = stack(positions="sinusoidal"), random(1, B, T, D)
    expected = model(x)
    with torch.device("meta"):  # where positions without a device of their own would lie
        assert torch.equal(model(x), expected)
    name, moved = next(model.stages(x.to("meta")))
    assert (name, moved.device.type) == ("positions", "meta")


def test_wrong_parameters_are_refused_when_it_is_made():
    with pytest.raises(ValueError, match=r"blocks\.2\.norm_1\.weight is missing"):
        Stack(small_config(n_layers=3), initialize_stack(small_config(n_layers=2), seed=0))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shape", "inputs", "sentence"),
    [
        ((B, T, H), {}, "x must have shape (..., T, 12); got (2, 5, 3)"),
        ((D,), {}, "x must have shape (..., T, 12); got (12,)"),
        ((B, T, D), {"caches": caches(n_layers=2)}, "a stack of 3 blocks needs 3 caches; got 2"),
    ],
)
@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_what_does_not_fit_is_refused_before_the_first_block(positions, shape, inputs, sentence):
    with pytest.raises(ValueError, match=r"x must have|caches") as refusal:
        stack(causal=True, positions=positions).stages(random(1, *shape), **inputs)
    assert str(refusal.value) == sentence
