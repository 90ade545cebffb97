"""Both encoders read sentences alike, whatever stands behind their ends."""

import numpy as np
import pytest
import torch

from tests.transformer_block.minilm.small import IDS, LENGTHS, PLACES, B, D, L, T, V, trained
from transformer_block.minilm.files import EMBEDDINGS
from transformer_block.minilm.in_numpy import SentenceEncoder, mean_of
from transformer_block.minilm.in_torch import SentenceEncoder as InTorch

pytestmark = pytest.mark.slow

STAGES = ["embeddings", *(f"blocks.{i}" for i in range(L)), "mean", "unit"]


def numpy_stages(ids=IDS, lengths=LENGTHS, dtype=np.float64):
    return dict(SentenceEncoder(trained(dtype)).stages(ids, lengths))


def torch_stages(ids=IDS, lengths=LENGTHS, dtype=np.float64):
    stages = InTorch(trained(dtype)).stages(torch.tensor(ids), torch.tensor(lengths))
    return {name: value.detach().numpy() for name, value in stages}


every_twin = pytest.mark.parametrize("stages", [numpy_stages, torch_stages])


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_the_twins_agree_at_every_stage(dtype, tolerance):
    ours, theirs = numpy_stages(dtype=dtype), torch_stages(dtype=dtype)
    assert [*ours] == [*theirs] == STAGES
    there = np.arange(T) < LENGTHS[:, None]
    for name, value in ours.items():
        rows = there if value.ndim == 3 else np.ones(B, bool)
        assert value.dtype == theirs[name].dtype == dtype
        assert value.shape == theirs[name].shape == ((B, T, D) if value.ndim == 3 else (B, D))
        np.testing.assert_allclose(
            value[rows], theirs[name][rows], rtol=tolerance, atol=tolerance, err_msg=name
        )


@every_twin
def test_the_embedding_is_the_normed_sum_of_three_rows(stages):
    tables = trained().embeddings
    x = tables["tokens"][IDS[3, 5]] + tables["positions"][5] + tables["segments"][0]
    normed = (x - x.mean()) / np.sqrt(x.var() + 1e-3)
    expected = normed * tables["norm.weight"] + tables["norm.bias"]
    np.testing.assert_allclose(stages()["embeddings"][3, 5], expected, atol=1e-12)


@every_twin
def test_what_stands_behind_the_end_of_a_sentence_changes_nothing(stages):
    other = np.where(np.arange(T) < LENGTHS[:, None], IDS, (IDS + 1) % V)
    np.testing.assert_array_equal(stages(other)["unit"], stages()["unit"])


@every_twin
def test_a_sentence_alone_is_what_it_is_in_a_batch(stages):
    whole = stages()["unit"]
    for b, length in enumerate(LENGTHS):
        alone = stages(IDS[b : b + 1, :length], LENGTHS[b : b + 1])["unit"]
        np.testing.assert_allclose(alone[0], whole[b], atol=1e-12)


@every_twin
def test_the_mean_is_that_of_the_tokens_and_the_last_stage_has_length_1(stages):
    found = stages()
    last = found[f"blocks.{L - 1}"]
    expected = np.stack([last[b, :length].mean(axis=0) for b, length in enumerate(LENGTHS)])
    np.testing.assert_allclose(found["mean"], expected, atol=1e-12)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found["unit"], expected / lengths, atol=1e-12)


def test_what_is_not_a_number_behind_the_end_does_not_reach_the_mean():
    x = np.full((2, 3, 4), np.nan)
    x[0, :2], x[1, 0] = 1, 2
    visible = np.array([[True, True, False], [True, False, False]])
    np.testing.assert_array_equal(mean_of(x, visible), np.repeat([[1.0], [2.0]], 4, axis=1))


def test_calling_the_encoder_returns_the_last_stage():
    np.testing.assert_array_equal(SentenceEncoder(trained())(IDS, LENGTHS), numpy_stages()["unit"])
    with torch.no_grad():
        y = InTorch(trained())(torch.tensor(IDS), torch.tensor(LENGTHS))
    np.testing.assert_array_equal(y.numpy(), torch_stages()["unit"])


def test_the_weights_of_attention_can_be_looked_at():
    ours, theirs = {}, {}
    list(SentenceEncoder(trained()).stages(IDS, LENGTHS, ours))
    list(InTorch(trained()).stages(torch.tensor(IDS), torch.tensor(LENGTHS), theirs))
    for saved in (ours, theirs):
        assert [*saved] == [f"blocks.{i}" for i in range(L)]
        hidden = np.asarray(saved["blocks.1"]["attention"]["weights"].tolist())[2, :, :, 4:]
        assert not hidden.any()


def test_the_torch_encoder_is_in_evaluation_mode_and_learns_every_table():
    encoder = InTorch(trained())
    assert not any(module.training for module in encoder.modules())
    assert len([*encoder.parameters()]) == len(EMBEDDINGS) + 12 * L
    encoder(torch.tensor(IDS), torch.tensor(LENGTHS)).sum().backward()
    assert all(each.grad.isfinite().all() for each in encoder.parameters())
    encoder.train()
    with torch.no_grad():
        y = encoder(torch.tensor(IDS), torch.tensor(LENGTHS))
    assert not np.allclose(y.numpy(), numpy_stages()["unit"])


@pytest.mark.usefixtures("unchecked")
@every_twin
@pytest.mark.parametrize(
    ("ids", "lengths", "kind", "message"),
    [
        (IDS.astype(float), LENGTHS, TypeError, "ids must be integers; got float64"),
        (IDS, LENGTHS.astype(float), TypeError, "lengths must be integers; got float64"),
        (IDS[0], LENGTHS, ValueError, r"ids must have shape \(B, T\); got \(7,\)"),
        (IDS, LENGTHS[:2], ValueError, "5 sentences need 5 lengths; got 2"),
        (IDS, LENGTHS + 1, ValueError, "lengths must lie between 0 and S 7; got 8"),
        (IDS, LENGTHS - 1, ValueError, "a sentence has at least one token; got length 0"),
        (IDS + 1, LENGTHS, ValueError, "tokens are numbered from 0 to 22; got 23"),
        (IDS - V, LENGTHS, ValueError, "tokens are numbered from 0 to 22; got -"),
        (np.zeros((5, 12), int), LENGTHS, ValueError, "there are 11 positions; 12 are asked for"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(stages, ids, lengths, kind, message):
    with pytest.raises(kind, match=message):
        stages(ids, lengths)


@every_twin
def test_every_place_and_every_token_can_be_used(stages):
    ids = np.arange(2 * PLACES).reshape(2, PLACES) + (V - 2 * PLACES)
    assert np.isfinite(stages(ids, np.array([PLACES, PLACES]))["unit"]).all()
