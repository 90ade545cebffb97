import numpy as np
import pytest

from block_course.checks.masks.blocks import Design, drawn, forward_of, subject
from block_course.checks.masks.designs import NO_MASK, TILES, right_designs, wrong_designs
from block_course.under_test import Block, Interview

B, T, D, F = 2, 5, 8, 11
RNG = np.random.default_rng(0)
X = RNG.normal(size=(B, T, D))
PARAMETERS = drawn(RNG, D, F)
RIGHT, WRONG = right_designs(), wrong_designs(tile=2)


def asked(design):
    return Block(Interview(subject(design, PARAMETERS, right=True)).ask)


def leaks(block, x):
    """Pairs of an output and a later position that it hears, over all items."""
    y, found = block(x), set()
    for s in range(1, x.shape[1]):
        changed = x.copy()
        changed[:, s] = np.random.default_rng(s).normal(size=changed[:, s].shape)
        found |= {(int(t), s) for t in np.flatnonzero((block(changed) != y).any((0, 2))) if t < s}
    return found


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_block_leaks_not_one_bit(name: str) -> None:
    assert leaks(asked(RIGHT[name]), X) == set()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_block_leaks(name: str) -> None:
    assert leaks(asked(WRONG[name]), X)


def test_tiles_leak_inside_themselves_and_their_last_position_is_alone() -> None:
    assert leaks(asked(WRONG[TILES]), X) == {(0, 1), (2, 3)}


def test_a_constant_added_to_a_token_never_reaches_attention_behind_a_layer_norm() -> None:
    block, changed = asked(WRONG[NO_MASK]), X.copy()
    changed[:, -1] += 100.0

    np.testing.assert_array_equal(block(changed)[:, :-1], block(X)[:, :-1])


@pytest.mark.parametrize("design", [RIGHT["post-norm"], WRONG[NO_MASK]], ids=["causal", "no mask"])
def test_gradients_foretell_what_a_small_step_does(design: Design) -> None:
    smooth, dy = forward_of(design, PARAMETERS, None), np.random.default_rng(1).normal(size=X.shape)
    step = 1e-6 * np.random.default_rng(2).normal(size=X.shape)

    foretold = (asked(design).gradients(X, dy) * step).sum()

    rise = ((smooth(X + step) - smooth(X - step)) * dy).sum() / 2.0
    assert foretold == pytest.approx(rise, rel=1e-5)


def test_gradients_are_zero_to_the_last_bit_where_nothing_is_heard() -> None:
    dy = np.zeros_like(X)
    dy[:, 1] = np.random.default_rng(3).normal(size=(B, D))

    heard = np.abs(asked(RIGHT["pre-norm"]).gradients(X, dy)).max((0, 2))

    assert (heard[:2] > 0.0).all()
    assert not heard[2:].any()


def test_a_dy_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no answer \(gradients\) to \(2, 5, 8\) and \(2, 5\)"):
        asked(Design()).gradients(X, X[..., 0])


@pytest.mark.parametrize(("given", "returned"), [(np.float32, np.float32), (np.int64, np.float64)])
def test_a_block_answers_in_the_dtype_of_its_tokens(given: type, returned: type) -> None:
    assert asked(Design())(X.astype(given)).dtype == returned


def test_a_single_sequence_is_its_own_first_item() -> None:
    block = asked(WRONG["a mask for the first item alone"])

    np.testing.assert_allclose(block(X[0]), block(X)[0], atol=1e-12)
