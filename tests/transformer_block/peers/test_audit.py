"""What others wrote, audited: each row that is broken is shown again without the audit."""

from functools import partial

import pytest
import torch
from torch import nn

from transformer_block.audit import audit

pytestmark = pytest.mark.slow

SIZES = {"d_model": 24, "dim_feedforward": 40}
every_order = pytest.mark.parametrize("batch_first", [False, True])
every_place = pytest.mark.parametrize("norm_first", [False, True])


def audited(make):
    torch.manual_seed(0)
    return audit(make().eval(), isolate=False)


def broken(report):
    return [row.contract for row in report.broken]


@every_order
@every_place
@pytest.mark.parametrize("layer", [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer])
def test_pytorchs_layers_hold_every_contract_on_their_plain_path(layer, norm_first, batch_first):
    """An odd number of heads keeps the encoder layer from its fast path."""
    report = audited(partial(layer, nhead=3, norm_first=norm_first, batch_first=batch_first, **SIZES))
    assert broken(report) == []
    assert report["fully masked row"].state == "held"
    assert report["permutation"].state == "held"


@every_place
def test_the_fast_path_of_pytorchs_encoder_layer_breaks_on_a_fully_masked_row_alone(norm_first):
    make = partial(nn.TransformerEncoderLayer, nhead=4, norm_first=norm_first, batch_first=True, **SIZES)
    report = audited(make)
    assert broken(report) == ["fully masked row"]
    assert report["fully masked row"].evidence["forward"]["train"] == 0
    assert [fault.name for fault in report.faults] == ["masked_row_not_finite"]


@every_place
def test_without_the_audit_that_row_is_finite_in_training_and_nan_in_evaluation(norm_first):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(nhead=4, norm_first=norm_first, batch_first=True, **SIZES)
    hidden = torch.zeros(3, 7, dtype=torch.bool)
    hidden[0] = True
    x = torch.randn(3, 7, 24)
    with torch.no_grad():
        assert layer.train()(x, src_key_padding_mask=hidden).isfinite().all()
        y = layer.eval()(x, src_key_padding_mask=hidden)
    assert y[0].isnan().all()
    assert y[1:].isfinite().all()


every_attention = pytest.mark.parametrize("attention", ["eager", "sdpa"])


def gpt2(attention):
    from transformers.models.gpt2.modeling_gpt2 import GPT2Block, GPT2Config

    sizes = {"n_embd": 24, "n_head": 3, "n_inner": 40, "n_layer": 1}
    return GPT2Block(GPT2Config(**sizes, attn_implementation=attention), layer_idx=0)


def llama(attention):
    from transformers.models.llama.modeling_llama import LlamaConfig, LlamaDecoderLayer

    sizes = {"hidden_size": 24, "intermediate_size": 40, "num_attention_heads": 6, "num_key_value_heads": 3}
    return LlamaDecoderLayer(LlamaConfig(**sizes, attn_implementation=attention), layer_idx=0)


def bert(attention):
    from transformers.models.bert.modeling_bert import BertConfig, BertLayer

    sizes = {"hidden_size": 24, "intermediate_size": 40, "num_attention_heads": 3}
    return BertLayer(BertConfig(**sizes, attn_implementation=attention))


@every_attention
@pytest.mark.parametrize("layer", [gpt2, llama, bert])
def test_hugging_faces_layers_hold_every_contract(layer, attention):
    report = audited(partial(layer, attention))
    assert broken(report) == []
    assert report["padding"].state == "held"
    causal = "not applicable" if layer is bert else "held"
    assert (report["causal"].state, report["cache"].state) == (causal, causal)
