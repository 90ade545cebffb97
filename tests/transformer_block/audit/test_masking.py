"""What the contracts of masks say, of functions that move by whole steps of rounding."""

import numpy as np
import pytest

from tests.transformer_block.audit.small import ROUNDING, Steps, T, modal, subject
from transformer_block.audit import Row
from transformer_block.audit.masking import causal, masked_row, meaning, padding

PAST = np.tril(np.full((T, T), 5), -1)
NO_MASK = "it takes no mask"


def heard(**evidence):
    otherwise = {"eval": 0, "train": 0, "share": 0, "next_only": False, "hears_nothing": False}
    return otherwise | {"rounding": ROUNDING} | evidence


def future(*steps):
    """Who hears whom in a block that hears the past, and each of these steps more of the future."""
    return PAST + sum(size * np.eye(T, k=distance) for distance, size in enumerate(steps, start=1))


LEAKS = {
    "in evaluation": (
        {"eval": future(2), "train": PAST},
        {"eval": 2 * ROUNDING, "share": 6 / 21, "next_only": True},
    ),
    "in training": (
        {"eval": future(1), "train": future(0, 3)},
        {"eval": ROUNDING, "train": 3 * ROUNDING, "share": 5 / 21},
    ),
    "in evaluation and in training": (
        {"eval": np.triu(np.full((T, T), 4), 1), "train": future(3, 3)},
        {"eval": 4 * ROUNDING, "train": 3 * ROUNDING, "share": 1, "hears_nothing": True},
    ),
}


def in_modes(weights, **facts):
    return modal(facts=facts, **{mode: Steps(each) for mode, each in weights.items()})


@pytest.mark.parametrize("modes", LEAKS)
def test_a_future_that_leaks_is_told_with_the_modes_in_which_it_does(modes):
    weights, evidence = LEAKS[modes]
    sentence = f"an output moved when a later token changed, {modes}: the future leaks"
    number = max(evidence["eval"], evidence.get("train", 0))
    expected = Row("causal", "broken", sentence, number, ROUNDING, heard(**evidence))
    assert causal(in_modes(weights, causal=True)) == expected


@pytest.mark.parametrize(
    ("weights", "evidence"),
    [
        (PAST, {}),
        (future(1), {"eval": ROUNDING, "train": ROUNDING}),
        (PAST / 5, {"hears_nothing": True}),
        (PAST / 2, {}),
    ],
)
def test_a_future_that_moves_nothing_beyond_rounding_does_not_leak(weights, evidence):
    row = causal(subject(Steps(weights), causal=True))
    sentence = "no output moved when a later token changed at random"
    assert row == Row("causal", "held", sentence, heard(**evidence)["eval"], ROUNDING, heard(**evidence))


@pytest.mark.parametrize("said", [None, False])
def test_who_hears_whom_is_measured_of_a_block_that_need_not_be_causal_too(said):
    weights, evidence = LEAKS["in training"]
    sentence = (
        "positions hear later ones: it is not causal, or has lost its mask; "
        "Facts(causal=True) would make it a contract"
    )
    expected = Row("causal", "not applicable", sentence, evidence=heard(**evidence))
    assert causal(in_modes(weights, causal=said)) == expected


@pytest.mark.parametrize(
    ("contract", "name"),
    [(padding, "padding"), (meaning, "mask meaning"), (masked_row, "fully masked row")],
)
def test_nothing_is_said_of_the_mask_of_a_block_that_takes_none(contract, name):
    assert contract(subject(Steps(5))) == Row(name, "not applicable", NO_MASK)


def moved(**evidence):
    """The first sequence hides two keys: each of its queries moves by twice what unseen tokens move."""
    return {name: number * ROUNDING for name, number in ({"rounding": 1} | evidence).items()}


@pytest.mark.parametrize(
    ("modes", "blocks", "evidence"),
    [
        (
            "in evaluation",
            (Steps(seen=5, unseen=1, masked=3), Steps(seen=6, unseen=0.5)),
            {"eval": 2, "train": 1, "by_visible": 5, "by_mask": 3},
        ),
        (
            "in training",
            (Steps(seen=5), Steps(seen=6, unseen=1.5, masked=4)),
            {"eval": 0, "train": 3, "by_visible": 6, "by_mask": 4},
        ),
        (
            "in evaluation and in training",
            (Steps(seen=5, unseen=1), Steps(seen=6, unseen=1)),
            {"eval": 2, "train": 2, "by_visible": 5, "by_mask": 0},
        ),
    ],
)
def test_padding_that_is_heard_is_told_with_what_else_moved_in_the_worst_mode(modes, blocks, evidence):
    """Evaluation is told of where both are as bad."""
    row = padding(modal(facts={"mask": "visible"}, eval=blocks[0], train=blocks[1]))
    sentence = f"a visible output moved when a hidden token changed, {modes}"
    number = max(evidence["eval"], evidence["train"]) * ROUNDING
    assert row == Row("padding", "broken", sentence, number, ROUNDING, moved(**evidence))


@pytest.mark.parametrize("unseen", [0, 0.25, 0.5])
def test_padding_that_moves_nothing_beyond_rounding_is_not_heard(unseen):
    row = padding(subject(Steps(seen=7, unseen=unseen, masked=2), mask="visible"))
    evidence = moved(eval=2 * unseen, train=2 * unseen, by_visible=7, by_mask=2)
    sentence = "no visible output moved when hidden tokens changed"
    assert row == Row("padding", "held", sentence, 2 * unseen * ROUNDING, ROUNDING, evidence)


FORMS = {
    "visible": ("True means visible", lambda mask: mask),
    "hidden": ("True means hidden", lambda mask: ~mask),
    "additive": ("the mask is added to the scores", lambda mask: mask == 0),
}
SAID = [(None, "visible"), *((means, means) for means in FORMS)]


def masked(block, said):
    """A subject of evaluation; what its block would do in training is something else."""
    form = FORMS[said or "visible"][1]

    def in_evaluation(x, mask=None):
        return block(x, None if mask is None else form(mask))

    return modal(facts={"mask": "mask", "mask_means": said}, eval=in_evaluation, train=np.negative)


def in_words(seen, unseen):
    return f"{seen * ROUNDING:.2g}", f"{2 * unseen * ROUNDING:.2g}"


@pytest.mark.parametrize(("said", "means"), SAID)
@pytest.mark.parametrize(("seen", "unseen"), [(7, 0), (1.5, 3), (0, 0.5)])
def test_a_mask_that_hides_what_it_should_is_told_with_its_meaning(said, means, seen, unseen):
    row = meaning(masked(Steps(seen, unseen), said))
    visible, hidden = in_words(seen, unseen)
    sentence = f"{FORMS[means][0]}: a visible token moved others by {visible}, a hidden one by {hidden}"
    assert row == Row("mask meaning", "held", sentence, 0.0, 0.0, {"means": means})


@pytest.mark.parametrize(("said", "means"), SAID)
@pytest.mark.parametrize("seen", [0, 1])
def test_a_mask_that_hides_what_should_be_seen_is_read_the_wrong_way_round(said, means, seen):
    row = meaning(masked(Steps(seen, 3), said))
    visible, hidden = in_words(seen, 3)
    sentence = (
        f"a hidden token moved others by {hidden}, a visible one by {visible}: "
        "the mask is read the wrong way round"
    )
    assert row == Row("mask meaning", "broken", sentence, 1.0, 0.0, {"means": means})
