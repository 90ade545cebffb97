"""What the page computes is what the package computes, on random inputs."""

from dataclasses import replace

import numpy as np
import pytest

from tests.transformer_block.explore.conftest import Call
from transformer_block import cost
from transformer_block.config import BlockConfig, Placement
from transformer_block.dependence import reachable
from transformer_block.explore._drawn import uniform
from transformer_block.explore.cost import cache_bytes, letters
from transformer_block.explore.placement import streams
from transformer_block.in_numpy.layer_norm import layer_norm, statistics
from transformer_block.in_numpy.scaled_dot_product import softmax
from transformer_block.presets import PRESETS

CLOSE = {"rtol": 0, "atol": 1e-6}
SIZES = {"positions": 6, "features": 16, "inner": 32, "heads": 2}


@pytest.mark.parametrize("seed", range(20))
def test_layer_norm_of_a_token_is_the_packages(call: Call, seed: int) -> None:
    rng = np.random.default_rng(seed)
    token = rng.normal(3, 10 ** rng.uniform(-3, 2), size=rng.integers(2, 9))
    eps = 10.0 ** rng.integers(-5, 1)

    found = call("layerNorm", token, eps)

    mean, variance = statistics(token)
    np.testing.assert_allclose(found["output"], layer_norm(token, eps=eps), **CLOSE)
    np.testing.assert_allclose(found["mean"], mean.item(), **CLOSE)
    np.testing.assert_allclose(found["variance"], variance.item(), rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_attention_weights_under_a_mask_are_the_packages(call: Call, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, visible = rng.normal(scale=3, size=(4, 6)), rng.random((4, 6)) < rng.random()
    visible[rng.integers(4)] = False

    found = call("attentionWeights", scores, visible)

    np.testing.assert_allclose(found, softmax(scores, visible), **CLOSE)


def test_scores_too_large_for_exp_share_out_all_the_same(call: Call) -> None:
    scores = np.array([[-900.0, 1000.0, 1001.0], [-2000.0, -2001.0, 5.0]])
    visible = np.array([[True, True, True], [True, True, False]])

    found = call("attentionWeights", scores, visible)

    np.testing.assert_allclose(found, softmax(scores, visible), **CLOSE)


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_heard_through_blocks_is_the_packages(call: Call, seed: int, depth: int) -> None:
    visible = np.random.default_rng(seed).random((5, 5)) < 0.3

    found = call("reachable", visible, depth)

    np.testing.assert_array_equal(found, reachable(visible, depth))


@pytest.mark.parametrize(("seed", "start"), [(0, 0), (7, 65536), (2**20, 131 * 65536)])
def test_both_languages_draw_the_same_numbers(call: Call, seed: int, start: int) -> None:
    there = [call("uniform", seed, start + n) for n in range(50)]

    np.testing.assert_array_equal(there, uniform(seed, start, 50))


@pytest.mark.parametrize("gain", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("placement", ["pre", "post", "sandwich"])
def test_the_stream_at_every_depth_is_that_of_the_packages_stack(
    call: Call, placement: Placement, gain: float
) -> None:
    stack = call("drawnStack", {**SIZES, "depth": 5, "seed": 11, "gain": gain})

    found = call("streams", placement, stack, SIZES["heads"], 1e-5)

    expected = streams(placement, 5, 11, gain)
    np.testing.assert_allclose(found, expected, **CLOSE)
    np.testing.assert_allclose(call("spread", found[3]), expected[3].std(), **CLOSE)
    share = np.linalg.norm(expected[4] - expected[3]) / np.linalg.norm(expected[3])
    np.testing.assert_allclose(call("change", found[3], found[4]), share, **CLOSE)


def known_and_random() -> list[BlockConfig]:
    rng = np.random.default_rng(3)
    found = list(PRESETS.values())
    for _ in range(20):
        groups, shared, width = rng.integers(1, 7, size=3)
        found.append(
            BlockConfig(
                d_model=int(2 * groups * shared * width),
                n_heads=int(groups * shared),
                n_kv_heads=int(groups),
                d_ff=int(rng.integers(1, 99)),
                activation=str(rng.choice(["gelu", "swiglu"])),
                norm=str(rng.choice(["layer_norm", "rms_norm"])),
            )
        )
    return found + [replace(each, attention_bias=False, feed_forward_bias=False) for each in found[-8:]]


@pytest.mark.parametrize("config", known_and_random(), ids=lambda c: f"{c.d_model}-{c.activation}-{c.norm}")
def test_counts_of_a_block_are_the_packages_to_the_last_one(call: Call, config: BlockConfig) -> None:
    found = call("blockCost", dict(letters(config)), 37, "float16")

    flops = cost.forward_flops(config, 37)
    pairs = flops["attention.scores"] + flops["attention.values"]
    inner = sum(count for name, count in flops.items() if name.startswith("feed_forward"))
    assert found == {
        "parameters": sum(cost.parameters(config).values()),
        "matrices": sum(flops.values()) - pairs - inner,
        "pairs": pairs,
        "inner": inner,
        "flops": sum(flops.values()),
        "cache": cache_bytes(config, 37, "float16"),
    }


@pytest.mark.parametrize("dtype", cost.BYTES)
def test_the_cache_of_a_causal_block_is_the_packages(call: Call, dtype: str) -> None:
    config = PRESETS["llama3"]

    assert call("blockCost", dict(letters(config)), 41, dtype)["cache"] == cost.cache_bytes(
        config, 41, dtype=dtype
    )
