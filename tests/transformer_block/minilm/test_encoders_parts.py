"""The parts of an encoder serve any number of batch axes; a refusal says its sentence and no more."""

import numpy as np
import pytest
import torch

from tests.transformer_block.minilm.small import IDS, LENGTHS, B, D, T, trained
from tests.transformer_block.numerics import normal
from transformer_block.minilm import in_numpy, in_torch


def numpy_embed(ids):
    of = trained()
    return in_numpy.embed(ids, of.embeddings, of.config.eps)


def torch_embed(ids):
    return in_torch.SentenceEncoder(trained()).embed(torch.tensor(ids)).detach().numpy()


def torch_mean(x, visible):
    return in_torch.mean_of(torch.tensor(x), torch.tensor(visible)).numpy()


@pytest.mark.parametrize("embed", [numpy_embed, torch_embed])
def test_one_sentence_and_a_batch_of_batches_are_embedded_as_a_batch_is(embed):
    whole = embed(IDS)
    assert whole.shape == (B, T, D)
    np.testing.assert_allclose(embed(IDS[2]), whole[2], atol=1e-12)
    np.testing.assert_allclose(embed(IDS.reshape(B, 1, T)), whole[:, None], atol=1e-12)


@pytest.mark.parametrize("mean_of", [in_numpy.mean_of, torch_mean])
def test_the_mean_of_one_sentence_and_of_a_batch_of_batches_is_that_of_a_batch(mean_of):
    x, visible = normal(3, B, T, D), np.arange(T) < LENGTHS[:, None]
    expected = np.array([rows[:length].mean(0) for rows, length in zip(x, LENGTHS, strict=True)])
    np.testing.assert_allclose(mean_of(x, visible), expected, atol=1e-12)
    np.testing.assert_allclose(mean_of(x[2], visible[2]), expected[2], atol=1e-12)
    batches = mean_of(x.reshape(B, 1, T, D), visible.reshape(B, 1, T))
    np.testing.assert_allclose(batches, expected[:, None], atol=1e-12)


def test_a_sentence_without_a_token_is_refused_in_these_words():
    with pytest.raises(ValueError, match=r"^a sentence has at least one token; got length 0$"):
        in_numpy.SentenceEncoder(trained()).stages(IDS, LENGTHS - 1)
