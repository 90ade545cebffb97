"""What contracts are measured with: gradients, stirred parameters, random tokens, a block's arguments."""

import numpy as np
import pytest
import torch

from transformer_block.audit import layers
from transformer_block.audit.facts import Facts
from transformer_block.audit.subject import Subject, Unable, accepts_keyword, arguments, tokens
from transformer_block.audit.torch_subject import TorchSubject

D = 6
X = np.random.default_rng(1).normal(size=(2, 4, D))
DY = np.random.default_rng(2).normal(size=(2, 4, D))
VISIBLE = np.random.default_rng(3).random((2, 4, 4)) < 0.5


class Held:
    """Parameters alone."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def __call__(self, x):
        return x


@pytest.mark.parametrize(("mode", "training"), [("eval", False), ("train", True)])
def test_a_block_that_knows_both_modes_is_copied_into_either(mode, training):
    subject = TorchSubject(torch.nn.Identity().train(not training), Facts(d_model=D))
    assert subject.in_mode(mode).block.training is training
    assert subject.block.training is not training


def test_a_memory_read_through_a_cache_is_the_one_that_is_read_without():
    memory = Subject(Held(), Facts(d_model=D, memory=True)).beside(len(X))[1]["memory"]
    np.testing.assert_array_equal(layers._memory(X), memory)


def moves(seed=0, **parameters):
    """By how much each parameter is moved."""
    subject = Subject(Held(**parameters), Facts(d_model=D))
    stirred = subject.stirred(seed).parameters() if seed else subject.stirred().parameters()
    return {name: stirred[name] - value for name, value in parameters.items()}


def test_gradients_are_those_that_the_block_gives_for_what_it_is_called_with():
    received = []

    class Block:
        def __call__(self, x, seen):
            return x

        def gradients(self, x, dy, *args, **named):
            received.append((x, dy, args, named))
            return 2 * dy, [("w", x[0])]

    facts = Facts(d_model=D, mask="seen", memory=True)
    dx, learned = Subject(Block(), facts, dtype="float32").gradients(X, DY, VISIBLE)
    ((x, dy, args, named),) = received
    np.testing.assert_array_equal(dx, 2 * dy)
    assert [*learned] == ["w"]
    np.testing.assert_array_equal(learned["w"], x[0])
    assert (x.dtype, dy.dtype, args, [*named]) == (np.float32, np.float32, (), ["memory", "seen"])
    np.testing.assert_array_equal(x, X.astype(np.float32))
    np.testing.assert_array_equal(dy, DY.astype(np.float32))
    np.testing.assert_array_equal(named["seen"], VISIBLE)
    assert named["memory"].shape[0] == len(X)


def test_gradients_are_asked_for_with_a_mask_by_place():
    class Block:
        def __call__(self, x, seen, /):
            return x

        def gradients(self, x, dy, *args):
            return args[0], {}

    mask, learned = Subject(Block(), Facts(d_model=D, mask="seen")).gradients(X, DY, VISIBLE)
    np.testing.assert_array_equal(mask, VISIBLE)
    assert learned == {}


@pytest.mark.parametrize("gradients", [None, "none of them"])
def test_a_block_without_a_way_back_has_no_gradients(gradients):
    block = Held()
    if gradients:
        block.gradients = gradients
    with pytest.raises(Unable, match=r"^it has no gradients$"):
        Subject(block, Facts(d_model=D)).gradients(X, DY)


def test_vectors_are_stirred_by_a_tenth_and_matrices_by_half_over_the_root_of_their_width():
    moved = moves(vector=np.zeros(9000), matrix=np.zeros((90, 100)), cube=np.zeros((20, 5, 25)))
    assert moved["vector"].std() == pytest.approx(0.1, rel=0.03)
    assert moved["matrix"].std() == pytest.approx(0.5 / 10, rel=0.03)
    assert moved["cube"].std() == pytest.approx(0.5 / 5, rel=0.05)
    for each in moved.values():
        assert abs(each.mean()) < 0.1 * each.std()


def test_parameters_are_stirred_by_normal_draws_of_the_seed_each_from_where_it_is():
    given = {"w": DY[0], "b": DY[1, 0]}
    rng = np.random.default_rng(4)
    expected = {"w": rng.normal(size=(4, D)) * 0.5 / np.sqrt(D), "b": rng.normal(size=D) * 0.1}
    for name, each in moves(seed=4, **given).items():
        np.testing.assert_allclose(each, expected[name], atol=1e-14)
    np.testing.assert_array_equal(moves(**given)["w"], moves(**given)["w"])
    assert not np.allclose(moves(**given)["w"], moves(seed=4, **given)["w"])


def test_a_block_whose_parameters_cannot_be_set_is_left_as_it_is():
    subject = Subject(abs, Facts(d_model=D))
    assert subject.stirred() is subject


def test_tokens_are_random_multiples_of_a_64th_and_then_scaled():
    subject = Subject(abs, Facts(d_model=500))
    drawn = tokens(subject)
    assert drawn.shape == (3, 7, 500)
    np.testing.assert_array_equal(drawn * 64, np.round(drawn * 64))
    assert np.any((drawn * 64) % 2)
    assert drawn.std() == pytest.approx(1, rel=0.02)
    assert abs(drawn.mean()) < 0.02
    np.testing.assert_array_equal(tokens(subject), drawn)
    np.testing.assert_array_equal(tokens(subject, scale=300.0), 300 * drawn)
    assert not np.allclose(tokens(subject, 1), drawn)
    expected = np.random.default_rng(1).normal(size=drawn.shape)
    np.testing.assert_allclose(tokens(subject, 1), expected, rtol=0, atol=0.5 / 64)


class Module:
    def forward(self, x, mask):
        return x

    def __call__(self, *args, **named):
        return self.forward(*args, **named)


class Silent:
    __signature__ = "none"

    def __call__(self, x):
        return x


def test_a_blocks_arguments_are_those_of_its_forward():
    assert [*arguments(Module())] == ["x", "mask"]
    assert [*arguments(lambda x, *, seen=None: x)] == ["x", "seen"]
    assert [*arguments(Silent())] == [*arguments(3)] == []


def test_an_argument_can_be_passed_by_its_name_unless_it_has_a_place_alone():
    def by_place(x, mask, /):
        return x

    assert accepts_keyword(Module(), "mask")
    assert accepts_keyword(lambda x, *, mask: x, "mask")
    assert not accepts_keyword(by_place, "mask")
    assert not accepts_keyword(Module(), "seen")
