"""Parameter counts against the models of Hugging Face, made without values on the meta device."""

from collections import Counter

import pytest
import torch

from transformer_block.cost import model_parameters
from transformer_block.models import MODELS

pytestmark = pytest.mark.slow  # importing transformers takes up to 15 s

# What each of their tensors is a part of, by the first words of its name that say so.
GPT2 = {
    "transformer.wte": "token_embedding",
    "transformer.wpe": "positions",
    "transformer.h": "blocks",
    "transformer.ln_f": "final_norm",
}
LLAMA = {
    "model.embed_tokens": "token_embedding",
    "model.layers": "blocks",
    "model.norm": "final_norm",
    "lm_head": "output",
}
BERT = {
    "embeddings.word_embeddings": "token_embedding",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "embedding_norm",
    "encoder.layer": "blocks",
    "pooler.dense": "output",
}
LAYOUT = {"gpt2": GPT2, "gpt3": GPT2, "llama": LLAMA, "llama3": LLAMA, "bert": BERT, "minilm": BERT}


def gpt(known):
    from transformers import GPT2Config, GPT2LMHeadModel

    block = known.block
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=known.vocabulary,
            n_positions=known.context,
            n_embd=block.d_model,
            n_head=block.n_heads,
            n_inner=block.d_ff,
            n_layer=block.n_layers,
        )
    )


def llama(known):
    from transformers import LlamaConfig, LlamaForCausalLM

    block = known.block
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=known.vocabulary,
            max_position_embeddings=known.context,
            hidden_size=block.d_model,
            num_attention_heads=block.n_heads,
            num_key_value_heads=block.kv_heads,
            intermediate_size=block.d_ff,
            num_hidden_layers=block.n_layers,
            tie_word_embeddings=False,
        )
    )


def bert(known):
    from transformers import BertConfig, BertModel

    block = known.block
    return BertModel(
        BertConfig(
            vocab_size=known.vocabulary,
            max_position_embeddings=known.context,
            type_vocab_size=known.token_types,
            hidden_size=block.d_model,
            num_attention_heads=block.n_heads,
            intermediate_size=block.d_ff,
            num_hidden_layers=block.n_layers,
        )
    )


MADE = {"gpt2": gpt, "gpt3": gpt, "llama": llama, "llama3": llama, "bert": bert, "minilm": bert}


@pytest.mark.parametrize("name", MODELS)
def test_each_part_of_a_model_has_the_parameters_of_theirs(name):
    with torch.device("meta"):
        theirs = MADE[name](MODELS[name])
    found = Counter()
    for tensor, value in theirs.named_parameters():
        (part,) = (part for start, part in LAYOUT[name].items() if tensor.startswith(f"{start}."))
        found[part] += value.numel()
    assert {part: count for part, count in model_parameters(MODELS[name]).items() if count} == found
