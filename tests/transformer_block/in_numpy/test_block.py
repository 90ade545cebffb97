import numpy as np
import pytest

from tests.transformer_block.numerics import B, D, H, S, T, normal, random_parameters, small_config
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.masks import causal_mask, padding_mask
from transformer_block.parameters import initialize

STAGES = {
    "pre": ["norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2"],
    "post": ["attention", "add_1", "norm_1", "feed_forward", "add_2", "norm_2"],
    "parallel": ["norm_1", "attention", "add_1", "feed_forward", "add_2"],
    "sandwich": [
        *("norm_1", "attention", "norm_1_out", "add_1"),
        *("norm_2", "feed_forward", "norm_2_out", "add_2"),
    ],
}


def block(**choices):
    config = small_config(**choices)
    return Block(config, random_parameters(config))


@pytest.mark.parametrize("placement", STAGES)
def test_it_passes_through_its_stages_in_order(placement):
    stages = dict(block(placement=placement).stages(normal(1, B, T, D)))
    assert list(stages) == STAGES[placement]
    assert {value.shape for value in stages.values()} == {(B, T, D)}


def test_each_stage_is_its_part_with_its_own_parameters():
    x, config = normal(1, B, T, D), small_config(eps=1e-2, activation="gelu_tanh")
    p = random_parameters(config)
    stage = dict(Block(config, p).stages(x))

    def of(name):
        return p[f"{name}.weight"], p[f"{name}.bias"]

    np.testing.assert_array_equal(stage["norm_1"], layer_norm(x, *of("norm_1"), 1e-2))
    attended = attention(stage["norm_1"], *of("attention.qkv"), *of("attention.out"), config.n_heads)
    np.testing.assert_array_equal(stage["attention"], attended)
    np.testing.assert_array_equal(stage["add_1"], x + attended)
    np.testing.assert_array_equal(stage["norm_2"], layer_norm(stage["add_1"], *of("norm_2"), 1e-2))
    fed = feed_forward(stage["norm_2"], *of("feed_forward.up"), *of("feed_forward.down"), "gelu_tanh")
    np.testing.assert_array_equal(stage["feed_forward"], fed)
    np.testing.assert_array_equal(stage["add_2"], stage["add_1"] + fed)


def test_calling_it_gives_the_last_stage():
    x, visible = normal(1, B, T, D), padding_mask([3, 5], T)
    np.testing.assert_array_equal(block()(x, visible), dict(block().stages(x, visible))["add_2"])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("t", range(T))
def test_only_a_causal_block_keeps_a_change_from_reaching_earlier_tokens(causal, t):
    x = normal(1, B, T, D)
    changed = x.copy()
    changed[:, t] = normal(2, B, D)
    moved = np.abs(block(causal=causal)(x) - block(causal=causal)(changed)).max(axis=(0, 2)) > 1e-9
    assert moved.tolist() == [not causal or s >= t for s in range(T)]


def test_a_causal_block_is_an_encoder_given_the_causal_mask():
    x, visible = normal(1, B, T, D), padding_mask([3, 5], T)
    np.testing.assert_array_equal(block(causal=True)(x), block()(x, causal_mask(T)))
    np.testing.assert_array_equal(block(causal=True)(x, visible), block()(x, visible & causal_mask(T)))


@pytest.mark.parametrize("last", ["attention.out", "feed_forward.down"])
def test_a_zeroed_branch_adds_nothing(last):
    config = small_config()
    p = random_parameters(config)
    p |= {name: np.zeros_like(p[name]) for name in (f"{last}.weight", f"{last}.bias")}
    stages = dict(Block(config, p).stages(normal(1, B, T, D)))
    before, after = {"attention.out": ("norm_1", "add_1"), "feed_forward.down": ("add_1", "add_2")}[last]
    unchanged = normal(1, B, T, D) if before == "norm_1" else stages[before]
    np.testing.assert_array_equal(stages[after], unchanged)


def test_with_both_branches_zeroed_it_is_the_identity():
    config = small_config(causal=True)
    p = random_parameters(config)
    p |= {name: np.zeros_like(value) for name, value in p.items() if "out" in name or "down" in name}
    x = normal(1, B, T, D)
    np.testing.assert_array_equal(Block(config, p)(x), x)


def test_tokens_may_be_reordered_when_none_is_hidden():
    x, order = normal(1, B, T, D), [3, 0, 4, 1, 2]
    np.testing.assert_allclose(block()(x[:, order]), block()(x)[:, order], atol=1e-12)


def test_a_sequence_needs_no_batch_and_may_be_a_token_or_none():
    x = normal(1, B, T, D)
    np.testing.assert_allclose(block(causal=True)(x[1]), block(causal=True)(x)[1], atol=1e-12)
    np.testing.assert_allclose(block(causal=True)(x[:, :1]), block(causal=True)(x)[:, :1], atol=1e-12)
    assert block(causal=True)(x[:, :0]).shape == (B, 0, D)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_the_parameters(dtype):
    config = small_config(causal=True)
    stages = Block(config, random_parameters(config, dtype=dtype)).stages(normal(1, B, T, D, dtype=dtype))
    assert {value.dtype for _, value in stages} == {np.dtype(dtype)}


def test_the_input_is_left_alone():
    x = normal(1, B, T, D)
    x.setflags(write=False)
    assert not np.shares_memory(block()(x), x)


def test_wrong_parameters_are_refused_when_it_is_made():
    config = small_config()
    with pytest.raises(
        ValueError, match=r"feed_forward\.up\.weight must have shape \(7, 12\); got \(8, 12\)"
    ):
        Block(config, initialize(small_config(d_ff=8), seed=0))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(B, T, D + 1), (D,), (B, D, T)])
def test_an_x_of_another_width_is_refused_before_the_first_stage(shape):
    with pytest.raises(ValueError, match="x must have shape") as refusal:
        block().stages(np.ones(shape))
    assert str(refusal.value) == f"x must have shape (..., T, 12); got {shape}"


def test_an_x_of_another_dtype_is_refused_before_the_first_stage():
    with pytest.raises(TypeError, match="x is float32 but the parameters are float64"):
        block().stages(normal(1, B, T, D, dtype=np.float32))


def test_placements_with_the_same_parameters_are_different_functions():
    x, parameters = normal(1, B, T, D), random_parameters(small_config())
    pre, post = (Block(small_config(placement=placement), parameters)(x) for placement in ("pre", "post"))
    assert np.abs(pre - post).min() > 1e-6


def test_a_decoder_block_reads_its_memory_through_a_mask_of_its_own():
    x, memory = normal(1, B, T, D), normal(2, B, S, D)
    decoder = block(cross_attention=True, causal=True)
    seen = padding_mask([4, 9], S)
    y = decoder(x, memory=memory, memory_visible=seen)
    changed = memory.copy()
    changed[0, 4:] = normal(3, 5, D)
    np.testing.assert_array_equal(decoder(x, memory=changed, memory_visible=seen), y)
    assert np.abs(decoder(x, memory=changed) - decoder(x, memory=memory))[0].min() > 1e-6


def test_with_a_cache_it_continues_where_it_was():
    x, model, cache = normal(1, B, T, D), block(causal=True, positions="rotary"), KVCache(T)
    parts = [model(x[:, :2], cache=cache), model(x[:, 2:3], cache=cache), model(x[:, 3:], cache=cache)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), model(x), rtol=1e-12, atol=1e-12)


def test_what_each_branch_has_to_show_is_saved_under_its_name():
    x, saved = normal(1, B, T, D), {}
    model = block(cross_attention=True, causal=True)
    y = model(x, memory=normal(2, B, S, D), saved=saved)
    np.testing.assert_array_equal(y, model(x, memory=normal(2, B, S, D)))
    assert list(saved) == ["attention", "cross_attention", "feed_forward"]
    assert saved["attention"]["weights"].shape == (B, H, T, T)
    assert saved["cross_attention"]["weights"].shape == (B, H, T, S)
    np.testing.assert_array_equal(np.triu(saved["attention"]["weights"], 1), 0)


@pytest.mark.parametrize("rate", ["attention_dropout", "residual_dropout", "feed_forward_dropout"])
def test_it_drops_only_when_it_is_given_a_generator(rate):
    x, model = normal(1, B, T, D), block(**{rate: 0.5})
    draws = [model(x, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(model(x), block()(x))
    np.testing.assert_array_equal(draws[0], draws[1])
    assert np.abs(draws[0] - draws[2]).max() > 1e-3
    assert np.abs(draws[0] - model(x)).max() > 1e-3


def test_with_no_rate_a_generator_changes_nothing_and_draws_nothing():
    x, generator = normal(1, B, T, D), np.random.default_rng(1)
    np.testing.assert_array_equal(block()(x, rng=generator), block()(x))
    assert generator.random() == np.random.default_rng(1).random()


def test_the_residual_alone_is_left_where_all_updates_are_dropped():
    x = normal(1, B, T, D)
    stages = dict(block(residual_dropout=0.5).stages(x, rng=np.random.default_rng(1)))
    kept = stages["add_1"] != x
    np.testing.assert_allclose(stages["add_1"], np.where(kept, x + 2 * stages["attention"], x), rtol=1e-12)
    assert 0.3 < kept.mean() < 0.7


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("choices", "inputs", "error", "sentence"),
    [
        ({"cross_attention": True}, {}, ValueError, "cross-attention needs a memory; got none"),
        ({}, {"memory": normal(2, B, S, D)}, ValueError, "a memory is given, but cross_attention is False"),
        (
            {"cross_attention": True},
            {"memory": normal(2, B, S, H)},
            ValueError,
            "memory must have shape (2, S, 12); got (2, 9, 3)",
        ),
        (
            {"cross_attention": True},
            {"memory": normal(2, B, S, D, dtype=np.float32)},
            TypeError,
            "x is float64 but memory is float32",
        ),
        (
            {"causal": True},
            {"cache": KVCache(T), "rng": np.random.default_rng(1)},
            ValueError,
            "a cache is for evaluation: rng must be None",
        ),
    ],
)
def test_inputs_that_do_not_belong_are_refused_before_the_first_stage(choices, inputs, error, sentence):
    with pytest.raises(error) as refusal:
        block(**choices).stages(normal(1, B, T, D), **inputs)
    assert str(refusal.value) == sentence
