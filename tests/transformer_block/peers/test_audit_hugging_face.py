"""How the audit calls the layers of Hugging Face: with masks and angles as their models pass them."""

import dataclasses

import numpy as np
import pytest
import torch

from transformer_block.audit.facts import LOWEST, Facts
from transformer_block.audit.layers import known

D, HEADS, B, T = 24, 6, 2, 5
generator = torch.Generator().manual_seed(1)
X = torch.randn(B, T, D, dtype=torch.float64, generator=generator)
VISIBLE = torch.rand(B, T, T, generator=generator) < 0.6
VISIBLE |= torch.eye(T, dtype=torch.bool)
BEFORE = torch.ones(T, T, dtype=torch.bool).tril()


def gpt2():
    from transformers.models.gpt2.modeling_gpt2 import GPT2Block, GPT2Config

    sizes = {"n_embd": D, "n_head": HEADS, "n_inner": 40, "n_layer": 1}
    return GPT2Block(GPT2Config(**sizes, attn_implementation="eager"), layer_idx=0)


def llama():
    from transformers.models.llama.modeling_llama import LlamaConfig, LlamaDecoderLayer

    sizes = {
        "hidden_size": D,
        "intermediate_size": 40,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 3,
    }
    return LlamaDecoderLayer(LlamaConfig(**sizes, attn_implementation="eager"), layer_idx=0)


def bert():
    from transformers.models.bert.modeling_bert import BertConfig, BertLayer

    sizes = {"hidden_size": D, "intermediate_size": 40, "num_attention_heads": HEADS}
    return BertLayer(BertConfig(**sizes, attn_implementation="eager"))


CAUSAL = {gpt2: True, llama: True, bert: False}
every_layer = pytest.mark.parametrize("layer", CAUSAL)
causal_ones = pytest.mark.parametrize("layer", [gpt2, llama])


def made(layer, dtype=torch.float64):
    torch.manual_seed(0)
    return layer().eval().to(dtype)


def received(layer, x, visible=None, held=None):
    """What a layer is passed beside its tokens, without a cache or behind one that holds so many."""
    kept = {}

    def block(x, **beside):
        kept.update(beside)
        return x

    facts = known(made(layer))
    if held is None:
        facts.call(block, x, visible)
    else:
        facts.call_cached(block, x, Holds(held))
    return kept


class Holds:
    def __init__(self, held):
        self.held = held

    def get_seq_length(self):
        return self.held


@pytest.mark.parametrize(
    ("layer", "positions", "placement"),
    [(gpt2, "none", "pre"), (llama, "relative", "pre"), (bert, "none", "post")],
)
def test_what_a_layer_is_is_known(layer, positions, placement):
    facts = known(made(layer))
    told = dataclasses.replace(facts, call=None, new_cache=None, call_cached=None)
    assert told == Facts(
        d_model=D, framework="torch", causal=CAUSAL[layer], placement=placement, positions=positions
    )
    assert (facts.call is None, facts.new_cache is None) == (False, not CAUSAL[layer])


@every_layer
def test_a_layer_is_known_by_what_it_is_made_from_and_not_by_its_name(layer):
    block = made(layer)
    name = type(block).__name__
    block.__class__ = type("Mine", (type(block),), {})
    assert known(block).d_model == D
    assert known(type(name, (torch.nn.Module,), {})()) == Facts()


@every_layer
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_mask_is_added_as_the_lowest_number_that_masks_and_the_dtype_have(layer, dtype):
    mask = received(layer, X.to(dtype), VISIBLE)["attention_mask"]
    lowest = max(float(LOWEST), torch.finfo(dtype).min)
    seen = VISIBLE & BEFORE if CAUSAL[layer] else VISIBLE
    assert (mask.dtype, mask.shape) == (dtype, (B, 1, T, T))
    assert torch.equal(mask[:, 0], torch.where(seen, 0.0, lowest).to(dtype))


@every_layer
def test_without_a_mask_all_is_seen_that_was_read_before(layer):
    mask = received(layer, X)["attention_mask"]
    assert torch.equal(
        mask[:, 0] == 0, (BEFORE if CAUSAL[layer] else torch.ones_like(BEFORE)).expand(B, T, T)
    )


@pytest.mark.parametrize("visible", [None, VISIBLE.to("meta")])
@every_layer
def test_all_that_is_passed_lies_where_the_tokens_do(layer, visible):
    beside = received(layer, X.to("meta"), visible)
    tensors = [beside.pop("attention_mask"), *beside.pop("position_embeddings", ())]
    assert {each.device.type for each in tensors} == {"meta"}
    assert beside == {}


@causal_ones
def test_behind_a_cache_new_tokens_see_what_it_holds_and_those_before_them(layer):
    beside = received(layer, X[:, :3], held=4)
    seen = [[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1]]
    assert (beside["attention_mask"][:, 0] == 0).tolist() == np.array([seen] * B, bool).tolist()
    assert beside["use_cache"] is True
    assert beside["cache"].held == 4


@pytest.mark.parametrize("held", [None, 4])
def test_angles_grow_with_the_position_and_sink_with_the_feature(held):
    cos, sin = received(llama, X, held=held)["position_embeddings"]
    size = D // HEADS
    places = (held or 0) + np.arange(T)
    angles = places[:, None] * 10_000.0 ** -(np.arange(0, size, 2) / size)
    angles = np.concatenate([angles, angles], axis=-1)
    assert (cos.dtype, cos.shape) == (X.dtype, (1, T, size))
    np.testing.assert_allclose(cos[0], np.cos(angles), atol=1e-6)
    np.testing.assert_allclose(sin[0], np.sin(angles), atol=1e-6)


@pytest.mark.parametrize("layer", [gpt2, bert])
def test_only_rotary_layers_are_passed_angles(layer):
    assert [*received(layer, X)] == ["attention_mask"]


@causal_ones
def test_tokens_in_pieces_behind_a_cache_come_out_as_they_do_at_once(layer):
    block = made(layer)
    facts = known(block)
    cache = facts.new_cache()
    with torch.no_grad():
        parts = [facts.call_cached(block, piece, cache) for piece in (X[:, :2], X[:, 2:3], X[:, 3:])]
        whole = facts.call(block, X, None)
    parts = [part[0] if isinstance(part, tuple) else part for part in parts]
    whole = whole[0] if isinstance(whole, tuple) else whole
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
