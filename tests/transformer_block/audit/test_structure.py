"""What a block is when its branches say nothing tells where its norms and its additions stand."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row
from transformer_block.audit.structure import ends_in_norm, scaled, standardized, zeroed
from transformer_block.audit.subject import Subject, tokens
from transformer_block.audit.torch_subject import TorchSubject

D = 6
FACTS = Facts(d_model=D, framework="numpy")
NAME = "zeroed branches"
RNG = np.random.default_rng(0)


class Stream:
    """A block of a matrix, a bias and a gain, whose output is said by a function of x and its branch."""

    def __init__(self, output):
        self.output = output
        self.parameters = {"w": RNG.normal(size=(D, D)), "a.bias": np.ones(D), "gain": np.full(D, 2.0)}

    def __call__(self, x):
        p = self.parameters
        return self.output(x, x @ p["w"] + p["a.bias"], p["gain"])


def added(x, branch, gain):
    return x + gain * branch


def post(x, branch, gain):
    return gain * standardized(x + branch)


def subject_of(output, **said):
    return Subject(Stream(output), replace(FACTS, **said))


def row_of(output, **said):
    return zeroed(subject_of(output, **said))


LARGE = tokens(Subject(abs, FACTS), scale=30.0)
ALLOWED = 32 * np.finfo(float).eps * np.sqrt(D) * np.abs(LARGE).max() / 30
TO_NORM = min(np.abs(LARGE - standardized(LARGE)).max(), np.abs(LARGE - scaled(LARGE)).max())


def test_a_stream_of_additions_is_left_as_it_came_in():
    good = "with branches at 0 the block returned its input: the stream runs through by additions alone"
    row = row_of(added)
    assert (row.contract, row.state, row.sentence, row.number) == (NAME, "held", good, 0.0)
    assert row.threshold == pytest.approx(ALLOWED, abs=0)
    assert row.evidence == {
        "identity": 0.0,
        "normalized": pytest.approx(TO_NORM),
        "nothing": False,
        "ends_in_norm": False,
    }


BAD = "with branches at 0 the block did not return its input"


@pytest.mark.parametrize(
    ("output", "told", "number"),
    [
        (lambda x, branch, gain: gain * branch, ": nothing came out", np.abs(LARGE).max() / 30),
        (lambda x, branch, gain: 2 * x + branch, "", np.abs(LARGE).max() / 30),
        (post, ": tokens came out normalized", np.abs(LARGE - standardized(LARGE)).max() / 30),
        (
            lambda x, branch, gain: scaled(x + branch),
            ": tokens came out normalized",
            np.abs(LARGE - scaled(LARGE)).max() / 30,
        ),
    ],
    ids=["no x", "x twice", "layer norm", "rms norm"],
)
def test_what_came_out_instead_is_told(output, told, number):
    row = row_of(output)
    assert (row.contract, row.state, row.sentence) == (NAME, "broken", BAD + told)
    assert row.number == pytest.approx(number)
    assert row.threshold == pytest.approx(ALLOWED, abs=0)
    assert row.evidence["nothing"] == (told == ": nothing came out")
    assert row.evidence["ends_in_norm"] == (told == ": tokens came out normalized")


def test_a_number_as_far_from_a_norm_as_may_be_is_normalized():
    """It is 0.02 to the last bit above a number just below 0; above one near 1 it would be rounded."""
    y = standardized(LARGE)
    place = np.unravel_index(np.where(y < 0, y, -np.inf).argmax(), y.shape)
    below = y[place]
    near = (below + 0.02 + step * np.spacing(0.02) / 4 for step in range(-8, 9))
    y[place] = next(number for number in near if number - below == 0.02)
    row = row_of(lambda x, branch, gain: y)
    assert row.sentence == f"{BAD}: tokens came out normalized"
    assert row.evidence["normalized"] == 0.02


@pytest.mark.parametrize(("factor", "nothing"), [(0.5, True), (1, True), (1.5, False)])
def test_nothing_is_what_rounding_explains(factor, nothing):
    allowed = Subject(abs, FACTS).rounding(LARGE) / 30
    row = row_of(lambda x, branch, gain: np.full_like(x, factor * allowed))
    assert row.evidence["nothing"] is nothing


def test_a_post_norm_block_is_to_normalize():
    good = "with branches at 0 tokens came out normalized, as post-norm has it"
    row = row_of(post, placement="post")
    assert (row.contract, row.state, row.sentence, row.threshold) == (NAME, "held", good, 0.02)
    assert row.number == pytest.approx(0, abs=1e-12)
    assert row.evidence["ends_in_norm"]


def test_a_post_norm_block_that_adds_alone_is_none():
    bad = "with branches at 0 a token did not come out normalized, as post-norm would have it"
    row = row_of(added, placement="post")
    assert (row.contract, row.state, row.sentence, row.threshold) == (NAME, "broken", bad, 0.02)
    assert row.number == pytest.approx(TO_NORM)
    assert row.evidence["identity"] == 0


def test_positions_that_are_added_never_stay_alone():
    why = "positions are added to its tokens, which never stay alone"
    assert row_of(added, positions="added") == Row(NAME, "not applicable", why)


def test_parameters_that_can_not_be_read_can_not_be_zeroed():
    why = "its parameters cannot be read and set from outside"
    assert zeroed(Subject(abs, FACTS)) == Row(NAME, "not applicable", why)


def test_matrices_and_biases_are_silenced_and_gains_are_1():
    given = []

    def remake(parameters):
        given.append(parameters)
        block = Stream(added)
        block.parameters = parameters
        return block

    held = Stream(added)
    zeroed(Subject(held, replace(FACTS, remake=remake)))
    silent, stirred, plain = given
    for name, value in {"w": np.zeros((D, D)), "a.bias": np.zeros(D), "gain": np.ones(D)}.items():
        np.testing.assert_array_equal(silent[name], value, strict=True)
        np.testing.assert_array_equal(plain[name], stirred[name] if name == "w" else value)
        assert np.all(stirred[name] != held.parameters[name])


@pytest.mark.parametrize(
    ("output", "normed"),
    [
        (post, True),
        (lambda x, branch, gain: 1.1 * post(x, branch, gain), False),
        (lambda x, branch, gain: x / np.sqrt((x**2).mean(1, keepdims=True)), False),
        (lambda x, branch, gain: x / np.sqrt((x**2).mean()), False),
        (lambda x, branch, gain: x / 0 * 0, False),
    ],
    ids=["each token", "a little larger", "each feature over time", "all at once", "not finite"],
)
def test_a_norm_at_the_end_shows_in_the_size_of_each_token(output, normed):
    with np.errstate(all="ignore"):
        assert ends_in_norm(subject_of(output)) is normed


class InEvaluation(torch.nn.Module):
    """It normalizes in evaluation, and gives nothing of use in training."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(D, D))

    def forward(self, x):
        return x * torch.nan if self.training else torch.nn.functional.layer_norm(x, (D,))


def test_a_block_is_silenced_in_evaluation():
    trained = TorchSubject(InEvaluation().train(), Facts(d_model=D, placement="post"))
    row = zeroed(trained)
    assert (row.state, row.evidence["ends_in_norm"]) == ("held", True)
    assert ends_in_norm(trained)


def test_a_token_is_standardized_and_scaled_by_itself():
    x = RNG.normal(2, 3, size=(2, 4, 5))
    for place in np.ndindex(2, 4):
        token = x[place]
        np.testing.assert_allclose(standardized(x)[place], (token - token.mean()) / token.std())
        np.testing.assert_allclose(scaled(x)[place], token / np.sqrt(token @ token / 5))
