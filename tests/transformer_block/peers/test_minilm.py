"""The trained MiniLM runs through our blocks as it runs in Hugging Face's BERT, layer by layer."""

import numpy as np
import pytest
import torch

from tests.transformer_block.minilm.small import CONFIG, IDS, LENGTHS, PLACES, SEGMENTS, D, F, H, L, V
from tests.transformer_block.minilm.small import bert as small_bert
from transformer_block.minilm import files, in_numpy, in_torch

pytestmark = pytest.mark.slow  # importing transformers takes up to 15 s

SENTENCES = [
    "A cat sat on the mat.",
    "She reads the manual twice before she touches the machine, and once more afterwards.",
    "Residual.",
    "Ünïcödé, emoji 🐈 and 1,234.5 %: anything is cut into known pieces.",
]
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-13}


def bert_model(**sizes):
    from transformers import BertConfig, BertModel

    config = BertConfig(**sizes, hidden_act="gelu", attn_implementation="eager")
    return BertModel(config, add_pooling_layer=False).eval()


def hidden_states(model, ids, lengths):
    """What transformers says of each token after the embeddings and after each layer."""
    mask = torch.tensor(np.arange(ids.shape[1]) < lengths[:, None]).long()
    with torch.no_grad():
        found = model(torch.tensor(ids), attention_mask=mask, output_hidden_states=True)
    return [each.numpy() for each in found.hidden_states]


def ours(twin, trained, ids, lengths):
    """The same of one of our encoders, and the vector of each sentence."""
    if twin == "in_numpy":
        return [value for _, value in in_numpy.SentenceEncoder(trained).stages(ids, lengths)]
    encoder = in_torch.SentenceEncoder(trained)
    with torch.no_grad():
        return [value.numpy() for _, value in encoder.stages(torch.tensor(ids), torch.tensor(lengths))]


def assert_agree(found, expected, lengths, tolerance):
    """Every token that is there, after every layer; then the sentences."""
    *states, mean, unit = found
    assert len(states) == len(expected)
    there = np.arange(states[0].shape[1]) < lengths[:, None]
    for state, wanted in zip(states, expected, strict=True):
        assert state.dtype == wanted.dtype
        np.testing.assert_allclose(state[there], wanted[there], rtol=tolerance, atol=tolerance)
    pooled = np.stack([row[:length].mean(axis=0) for row, length in zip(expected[-1], lengths, strict=True)])
    np.testing.assert_allclose(mean, pooled, rtol=tolerance, atol=tolerance)
    lengths_1 = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    np.testing.assert_allclose(unit, lengths_1, rtol=tolerance, atol=tolerance)


@pytest.mark.needs("weights")
@pytest.mark.parametrize("twin", ["in_numpy", "in_torch"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_trained_encoder_agrees_after_every_layer(twin, dtype):
    from safetensors.torch import load_file

    trained = files.load(dtype)
    ids, lengths = files.tokenize(SENTENCES)
    model = bert_model(
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        layer_norm_eps=1e-12,
    )
    weights = load_file(files.find("model.safetensors"))
    unused = {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"}
    model.load_state_dict({name: value for name, value in weights.items() if name not in unused})
    model.to(getattr(torch, dtype.__name__))
    expected = hidden_states(model, ids, lengths)
    assert len(expected) == 7
    assert_agree(ours(twin, trained, ids, lengths), expected, lengths, TOLERANCE[dtype])


@pytest.mark.parametrize("twin", ["in_numpy", "in_torch"])
def test_a_bert_of_random_weights_agrees(twin):
    model = bert_model(
        vocab_size=V,
        max_position_embeddings=PLACES,
        type_vocab_size=SEGMENTS,
        hidden_size=D,
        num_hidden_layers=L,
        num_attention_heads=H,
        intermediate_size=F,
        layer_norm_eps=CONFIG.eps,
    ).double()
    weights = small_bert()
    model.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    trained = files.Trained(CONFIG, files.stack_of(weights, L), files.embeddings_of(weights))
    expected = hidden_states(model, IDS, LENGTHS)
    assert_agree(ours(twin, trained, IDS, LENGTHS), expected, LENGTHS, 1e-10)


@pytest.mark.needs("weights")
@pytest.mark.parametrize(
    ("choice", "value", "least"), [("activation", "gelu_tanh", 1e-4), ("eps", 1e-5, 1e-6)]
)
def test_a_near_miss_in_the_configuration_is_seen(choice, value, least):
    """The tolerance is tight enough to tell GELU from its approximation, and one eps from another."""
    from dataclasses import replace

    trained = files.load(np.float64)
    ids, lengths = files.tokenize(SENTENCES)
    near = trained._replace(config=replace(trained.config, **{choice: value}))
    right, wrong = (ours("in_numpy", each, ids, lengths)[-2] for each in (trained, near))
    assert np.abs(right - wrong).max() > least
