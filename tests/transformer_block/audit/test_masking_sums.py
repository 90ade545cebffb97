"""What the audit says of the sums over keys: of no key at all, and of equal tokens."""

import numpy as np
import pytest

from tests.transformer_block.audit.small import ROUNDING, B, D, Recorded, T, modal, subject
from transformer_block.audit import Row
from transformer_block.audit.masking import averages, masked_row
from transformer_block.audit.measures import hidden_keys, mask_of


class Fragile:
    """So many numbers are lost where a query sees no key: of the outputs, and of each gradient."""

    def __init__(self, outputs=0):
        self.outputs, self.received = outputs, []

    def __call__(self, x, visible=None):
        self.received.append((x.copy(), visible))
        return lose(x, 0 if visible.any(axis=-1).all() else self.outputs)


class Learning(Fragile):
    def __init__(self, outputs=0, tokens=0, weights=0):
        super().__init__(outputs)
        self.tokens, self.weights = tokens, weights

    def gradients(self, x, dy, visible):
        self.received.append((x.copy(), dy.copy(), visible))
        return lose(x, self.tokens), {"weight": lose(np.ones((4, 4)), self.weights), "unread": None}


def lose(array, count):
    array.flat[:count] = [np.nan, np.inf, -np.inf, np.nan][:count]
    return array


def row_of_no_key(**blocks):
    return masked_row(modal(facts={"mask": "visible"}, **blocks))


@pytest.mark.parametrize(
    ("blocks", "places", "forward", "backward"),
    [
        ((Fragile(2), Fragile()), " came out as NaN or infinity in evaluation", (2, 0), ()),
        ((Fragile(), Fragile(1)), " came out as NaN or infinity in training", (0, 1), ()),
        (
            (Fragile(1), Learning(2, tokens=1, weights=3)),
            " came out as NaN or infinity in evaluation and in training; its gradients in training",
            (1, 2),
            (None, 4),
        ),
        (
            (Learning(1, weights=1), Learning()),
            " came out as NaN or infinity in evaluation; its gradients in evaluation",
            (1, 0),
            (1, 0),
        ),
        (
            (Learning(tokens=2), Learning(tokens=1)),
            " came out finite, but its gradients as NaN or infinity in evaluation and in training",
            (0, 0),
            (2, 1),
        ),
    ],
)
def test_what_is_lost_where_a_query_sees_no_key_is_counted_and_placed(blocks, places, forward, backward):
    modes = ("eval", "train")
    counts = {
        "forward": dict(zip(modes, forward, strict=True)),
        "backward": {mode: n for mode, n in zip(modes, backward, strict=bool(backward)) if n is not None},
    }
    number = sum(forward) + sum(counts["backward"].values())
    sentence = f"a sequence whose tokens see no key{places}"
    row = row_of_no_key(**dict(zip(modes, blocks, strict=True)))
    assert row == Row("fully masked row", "broken", sentence, number, 0.0, counts)


@pytest.mark.parametrize(
    ("make", "gradients", "backward"),
    [(Fragile, "", {}), (Learning, ", and so did its gradients", {"eval": 0, "train": 0})],
)
def test_what_stays_finite_where_a_query_sees_no_key_is_told_as_far_as_it_was_asked(
    make, gradients, backward
):
    sentence = f"a sequence whose tokens see no key came out finite{gradients}"
    counts = {"forward": {"eval": 0, "train": 0}, "backward": backward}
    expected = Row("fully masked row", "held", sentence, 0, 0.0, counts)
    assert row_of_no_key(eval=make(), train=make()) == expected


def test_one_sequence_sees_no_key_and_the_others_see_all():
    """The first, whose mask is everybody's where one mask is for all sequences."""
    block, other = Learning(), Learning()
    row_of_no_key(eval=block)
    row_of_no_key(eval=other)
    (x, visible), (again, dy, same) = block.received
    np.testing.assert_array_equal(other.received[1][1], dy)
    assert (x.shape, dy.shape, visible.shape) == ((B, T, D), (B, T, D), (B, T, T))
    np.testing.assert_array_equal(visible.all(axis=(1, 2)), [False, True, True])
    assert not visible[0].any()
    np.testing.assert_array_equal(same, visible)
    np.testing.assert_array_equal(again, x)
    assert (dy != x).any(axis=-1).all()


class Bumps:
    """Of equal tokens, output t comes out so many steps of rounding off: bare, behind padding, behind less.

    The last is the mask that leaves query 0 its own key and no other.
    """

    def __init__(self, bare=0, padded=0, own=0):
        self.bare, self.padded, self.own = (np.multiply(each, np.ones(T)) for each in (bare, padded, own))

    def __call__(self, x, visible=None):
        if x.shape[1] == 1:
            return x / 64
        off = self.bare
        if visible is not None:
            off = self.own if visible.ndim == 3 and not visible[:, 0, 1:].any() else self.padded
        return x / 64 + ROUNDING * off[:, None]


GOOD = "equal tokens came out equal, and as one of them alone"
BAD = (
    "equal tokens did not come out as one of them alone: the weights of a query do not sum to 1, "
    "or features change places"
)
SEEMS = (
    "only its first position gives what a token alone gives: positions seem to be added inside; "
    "Facts(positions='none') would make it a contract"
)
FIRST_RIGHT, LAST_RIGHT = [1, *range(2, T + 1)], [*range(2, T + 1), 1]


def average(state, sentence, bare, masked, behind):
    steps = {"bare": bare * ROUNDING, "masked": masked * ROUNDING}
    evidence = steps | {"behind": behind, "rounding": ROUNDING}
    return Row("average", state, sentence, max(steps.values()), ROUNDING, evidence)


@pytest.mark.parametrize("positions", [None, "none", "relative"])
@pytest.mark.parametrize(
    ("bare", "expected"),
    [
        (0, average("held", GOOD, 0, 0, False)),
        (1, average("held", GOOD, 1, 0, False)),
        (2, average("broken", BAD, 2, 0, False)),
        (LAST_RIGHT, average("broken", BAD, T, 0, True)),
    ],
)
def test_equal_tokens_come_out_as_one_alone_or_are_told_how_far_off_they_are(positions, bare, expected):
    assert averages(subject(Bumps(bare), positions=positions)) == expected


@pytest.mark.parametrize("positions", ["none", "relative"])
def test_a_block_whose_first_position_alone_is_right_is_held_to_what_was_said_of_its_positions(positions):
    assert averages(subject(Bumps(FIRST_RIGHT))) == Row("average", "not applicable", SEEMS)
    broken = average("broken", BAD, T, 0, False)
    assert averages(subject(Bumps(FIRST_RIGHT), positions=positions)) == broken


def test_tokens_are_not_equal_where_positions_are_added_to_them():
    row = averages(subject(Bumps(2), positions="added"))
    sentence = "positions are added to its tokens: none are equal inside"
    assert row == Row("average", "not applicable", sentence)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (Bumps(padded=1, own=1), average("held", GOOD, 0, 1, False)),
        (Bumps(padded=1, own=[2, *[0] * 6]), average("held", GOOD, 0, 1, True)),
        (Bumps(padded=3, own=[1, *[5] * 6]), average("broken", BAD, 0, 3, False)),
        (Bumps(bare=3, padded=2, own=np.nan), average("broken", BAD, 3, 2, True)),
        (Bumps(bare=LAST_RIGHT, padded=2), average("broken", BAD, T, 2, False)),
    ],
)
def test_equal_tokens_behind_a_mask_show_whether_it_stands_behind_the_softmax(block, expected):
    assert averages(subject(block, mask="visible")) == expected


@pytest.mark.parametrize(("bare", "behind"), [(LAST_RIGHT, True), (2, False)])
def test_a_mask_of_keys_alone_leaves_it_to_the_last_position_to_show_that(bare, behind):
    """Behind a mask of keys alone no query sees other keys than the rest do."""
    row = averages(subject(Bumps(bare, padded=1, own=9), mask="visible", mask_axes="BS"))
    assert row == average("broken", BAD, np.max(bare), 1, behind)


def test_one_token_of_each_sequence_stands_at_every_position():
    block = Recorded(lambda x, visible: x / 64)
    averages(modal(facts={"mask": "visible"}, eval=block, train=np.negative))
    token, *repeated = block.inputs
    assert token.shape == (B, 1, D)
    assert len({each.tobytes() for each in token}) == B
    for x in repeated:
        np.testing.assert_array_equal(x, token[:, [0] * T])
    no_mask, none, padding, own = block.masks
    assert no_mask is none is None
    np.testing.assert_array_equal(padding, mask_of(hidden_keys(subject(block))))
    query, key = np.ogrid[:T, :T]
    np.testing.assert_array_equal(own, np.broadcast_to((query == 0) == (key == 0), (B, T, T)))


def test_the_token_is_the_same_each_time():
    blocks = [Recorded(lambda x, visible: x / 64) for _ in range(2)]
    for block in blocks:
        averages(subject(block))
    np.testing.assert_array_equal(blocks[0].inputs[0], blocks[1].inputs[0])
