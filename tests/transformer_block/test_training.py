"""Training: what the classifier computes, what a step does, and that a small stack learns."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from transformer_block import training
from transformer_block.config import BlockConfig
from transformer_block.in_torch.stack import Stack
from transformer_block.parameters import initialize_stack
from transformer_block.tasks import Batch, reversal
from transformer_block.training import (
    TokenClassifier,
    accuracy,
    learn_reversal,
    linear_warmup,
    train,
)

CONFIG = BlockConfig(d_model=6, n_heads=2, d_ff=10, n_layers=2, positions="sinusoidal")


def batches(count: int, symbols: int = 5) -> list[Batch]:
    generator = np.random.default_rng(3)
    return [reversal(3, 4, symbols, generator) for _ in range(count)]


def test_scores_are_the_readout_of_the_stack_of_the_embeddings() -> None:
    model = TokenClassifier(CONFIG, 5, seed=1)
    tokens = torch.from_numpy(batches(1)[0].tokens)
    stack = Stack(
        CONFIG, {name: value.astype(np.float32) for name, value in initialize_stack(CONFIG, 1).items()}
    )

    scores = model(tokens)

    assert scores.shape == (3, 4, 5)
    torch.testing.assert_close(scores, stack(model.embedding[tokens]) @ model.readout.T)


def test_embeddings_have_the_spread_one_and_the_readout_xaviers_bound() -> None:
    model = TokenClassifier(BlockConfig(d_model=40, n_heads=2, d_ff=10), 60, seed=2)
    bound = (6 / (60 + 40)) ** 0.5

    assert model.embedding.std().item() == pytest.approx(1, abs=0.05)
    assert model.readout.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert model.readout.abs().max().item() <= bound


def test_every_parameter_is_registered_in_float32_and_follows_from_the_seed() -> None:
    first, again, other = (dict(TokenClassifier(CONFIG, 5, seed).named_parameters()) for seed in (1, 1, 2))

    assert {"embedding", "readout", "stack.norm.weight"} < first.keys()
    assert {parameter.dtype for parameter in first.values()} == {torch.float32}
    for name in first:
        torch.testing.assert_close(first[name], again[name], rtol=0, atol=0)
    assert not torch.equal(first["embedding"], other["embedding"])
    assert not torch.equal(first["readout"], other["readout"])


def test_a_mask_reaches_the_blocks_and_saved_receives_their_weights() -> None:
    model = TokenClassifier(CONFIG, 5, seed=1)
    tokens = torch.from_numpy(batches(1)[0].tokens)
    changed = tokens.clone()
    changed[:, 2] = (changed[:, 2] + 1) % 5
    alone = torch.eye(4, dtype=torch.bool)
    saved: dict[str, dict[str, torch.Tensor]] = {}

    moved = (model(tokens, alone) - model(changed, alone, saved=saved)).abs().amax(dim=(0, 2))

    assert (moved > 0).tolist() == [False, False, True, False]
    assert saved.keys() == {"blocks.0", "blocks.1"}


def test_fewer_than_one_symbols_are_refused() -> None:
    with pytest.raises(ValueError, match="symbols must be at least 1; got 0"):
        TokenClassifier(CONFIG, 0, seed=0)


def test_a_warm_up_rises_in_even_steps_to_the_peak_and_stays() -> None:
    np.testing.assert_allclose(linear_warmup(6, 0.8, 4), [0.2, 0.4, 0.6, 0.8, 0.8, 0.8])


def test_without_a_warm_up_the_first_step_has_the_peak() -> None:
    np.testing.assert_array_equal(linear_warmup(3, 0.7), [0.7, 0.7, 0.7])


def test_a_warm_up_longer_than_the_training_does_not_reach_the_peak() -> None:
    np.testing.assert_allclose(linear_warmup(2, 0.9, 3), [0.3, 0.6])


@pytest.mark.parametrize(("steps", "warmup", "name"), [(-1, 2, "steps"), (2, -1, "warmup")])
def test_negative_steps_are_refused_by_name(steps: int, warmup: int, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 0; got -1"):
        linear_warmup(steps, 0.1, warmup)


def test_the_loss_is_the_mean_of_the_answers_surprise_before_the_step() -> None:
    model, (batch,) = TokenClassifier(CONFIG, 5, seed=1), batches(1)
    with torch.no_grad():
        logs = functional.log_softmax(model(torch.from_numpy(batch.tokens)), dim=-1)
    surprise = -np.take_along_axis(logs.numpy(), batch.answers[..., None], axis=-1)

    (loss,) = train(model, [batch], [0.01])

    assert loss == pytest.approx(surprise.mean(), rel=1e-5)


def test_the_first_step_moves_each_parameter_by_the_rate_against_its_gradient() -> None:
    model, (batch,) = TokenClassifier(CONFIG, 5, seed=1), batches(1)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}

    train(model, [batch], [0.02])

    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        heard = parameter.grad.abs() > 1e-5
        step = (parameter.detach() - before[name])[heard]
        torch.testing.assert_close(step, -0.02 * parameter.grad[heard].sign(), rtol=2e-3, atol=0)


def test_each_step_has_its_own_rate_and_its_own_gradient() -> None:
    given = batches(3)
    model, other = (TokenClassifier(CONFIG, 5, seed=1) for _ in range(2))
    adam = torch.optim.Adam(other.parameters())
    expected = []
    for batch, rate in zip(given, (0.01, 0.03, 0.02), strict=True):
        adam.param_groups[0]["lr"] = rate
        adam.zero_grad()
        scores = other(torch.from_numpy(batch.tokens))
        loss = functional.cross_entropy(scores.mT, torch.from_numpy(batch.answers))
        loss.backward()
        adam.step()
        expected.append(loss.item())

    losses = train(model, given, (0.01, 0.03, 0.02))

    np.testing.assert_allclose(losses, expected, rtol=1e-4)


def test_a_rate_of_zero_leaves_the_model_as_it_is() -> None:
    model = TokenClassifier(CONFIG, 5, seed=1)
    before = {name: value.clone() for name, value in model.state_dict().items()}

    train(model, batches(2), [0.0, 0.0])

    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


def test_batches_and_rates_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="shorter"):
        train(TokenClassifier(CONFIG, 5, seed=1), batches(2), [0.1])


class Echo(torch.nn.Module):
    """Answers with what it was given, and in training with the next symbol."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return functional.one_hot((tokens + int(self.training)) % 5, 5).float()


def test_accuracy_is_the_share_of_right_answers_in_evaluation_mode() -> None:
    tokens = np.array([[0, 1, 2], [3, 4, 0]])
    answers = np.array([[0, 1, 3], [3, 4, 1]])
    model = Echo()

    share = accuracy(model, Batch(tokens, answers))

    assert share == pytest.approx(4 / 6)
    assert model.training


def test_accuracy_leaves_a_model_in_evaluation_where_it_was() -> None:
    model = Echo().eval()

    assert accuracy(model, Batch(np.array([[1, 2]]), np.array([[1, 2]]))) == 1.0
    assert not model.training


def test_two_runs_of_one_seed_see_the_same_and_end_the_same() -> None:
    first, again, other = (learn_reversal(CONFIG, 0.01, 2, seed, steps=3) for seed in (4, 4, 5))

    assert first.losses == again.losses != other.losses
    assert first.accuracy == again.accuracy
    assert len(first.losses) == 3


def test_a_warm_up_changes_the_first_step_and_not_the_first_loss() -> None:
    plain, warmed = (learn_reversal(CONFIG, 0.05, warmup, seed=4, steps=2) for warmup in (0, 4))

    assert plain.losses[0] == warmed.losses[0]
    assert plain.losses[1] != warmed.losses[1]


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")  # shape checks would take most of the time
def test_a_small_stack_learns_to_reverse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "SYMBOLS", 4)
    monkeypatch.setattr(training, "LENGTH", 3)
    config = BlockConfig(d_model=16, n_heads=2, d_ff=24, n_layers=2, positions="sinusoidal")

    run = learn_reversal(config, 0.01, 10, seed=0, steps=150)

    assert run.accuracy > 0.99
    assert run.losses[0] > 1 > 10 * run.losses[-1]


def test_the_examination_holds_sequences_that_were_not_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []

    def remember(model: torch.nn.Module, batch: Batch) -> float:
        seen.append(batch.tokens)
        return 0.5

    monkeypatch.setattr(training, "accuracy", remember)

    run = learn_reversal(CONFIG, 0.01, 2, seed=4, steps=1)

    assert run.accuracy == 0.5
    assert seen[0].shape == (8 * training.BATCH, training.LENGTH)
    assert set(np.unique(seen[0])) == set(range(training.SYMBOLS))
