"""Which fault is named for which rows, whatever block they come from."""

import pytest

from transformer_block.audit import Fault, Row
from transformer_block.audit.diagnosis import faults
from transformer_block.audit.known_faults import KNOWN


def rows(**broken):
    """Broken rows of these contracts, with what they measured; _ is a space."""
    return [Row(name.replace("_", " "), "broken", "", evidence=e) for name, e in broken.items()]


def held(contract, **evidence):
    return Row(contract.replace("_", " "), "held", "", evidence=evidence)


def named(*given):
    return [fault.name for fault in faults(given)]


@pytest.mark.parametrize(
    ("contract", "name"),
    [
        ("determinism", "dropout_left_on"),
        ("batch", "sequences_mixed"),
        ("mask_meaning", "mask_inverted"),
        ("fully_masked_row", "masked_row_not_finite"),
        ("input_kept", "input_written_over"),
        ("output_kept", "output_buffer_reused"),
        ("dtype", "dtype_not_kept"),
        ("state", "state_incomplete"),
        ("float16", "not_finite_in_half"),
        ("bfloat16", "not_finite_in_half"),
        ("far_from_0", "variance_from_mean_of_squares"),
        ("cache", "cache_mask_misaligned"),
        ("gradients", "gradients_not_finite"),
        ("shape", "no_usable_output"),
    ],
)
def test_a_row_has_the_fault_that_breaks_it_alone(contract, name):
    sentence, _ = KNOWN[name]
    told = contract.replace("_", " ")
    assert faults(rows(**{contract: {}})) == (Fault(name, sentence, (told,)),)
    assert faults([held(contract)]) == ()


@pytest.mark.parametrize("evidence", [{}, {"raised": True}, {"ended": True}])
def test_without_an_output_nothing_else_is_named(evidence):
    assert named(*rows(shape=evidence, determinism={}, dtype={})) == ["no_usable_output"]


def test_a_shape_that_holds_leaves_the_others_to_be_named():
    assert named(held("shape"), *rows(determinism={}, dtype={})) == ["dropout_left_on", "dtype_not_kept"]


def test_the_first_of_the_variants_that_agree_is_named():
    matches = {"matches": ["another_eps", "scores_not_scaled"]}
    assert named(*rows(like_the_package=matches)) == ["another_eps"]
    assert named(*rows(like_the_package={"matches": []})) == []
    also = rows(like_the_package={"matches": ["another_eps", "biases_forgotten"]}, gradients={})
    assert named(*also) == ["another_eps", "gradients_not_finite"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("statistics over time and features", "statistics_over_time_and_features"),
        ("sample variance", "sample_variance"),
        ("eps outside the root", "eps_outside_the_root"),
    ],
)
def test_a_norm_of_a_wrong_kind_is_named_after_it(kind, name):
    assert named(*rows(norms={"kinds": {"norm_1": "layer norm", "norm_2": kind}})) == [name]


def test_a_norm_that_loses_its_digits_is_named_for_it():
    assert named(*rows(norms={"canceled": {"norm_1": 0.5}})) == ["variance_from_mean_of_squares"]
    assert named(*rows(norms={"canceled": {}})) == []


@pytest.mark.parametrize(
    ("uncalled", "reused", "name"),
    [
        (["norm_2"], ["norm_1"], ["first_norm_reused"]),
        (["norm_2"], [], []),
        ([], ["norm_1"], []),
    ],
)
def test_a_norm_used_twice_in_place_of_another_takes_both(uncalled, reused, name):
    assert named(*rows(norms={"uncalled": uncalled, "reused": reused})) == name


EDGE = {"rounding": 0.5, "by_mask": 0.0}


@pytest.mark.parametrize(
    ("train", "name"),
    [(0.0, "mask_dropped_in_eval"), (0.5, "mask_dropped_in_eval"), (0.6, "mask_ignored")],
)
def test_a_move_as_large_as_rounding_is_none(train, name):
    assert named(*rows(padding={"eval": 1.0, "train": train, **EDGE})) == [name]


def test_what_was_not_measured_did_not_move():
    assert named(*rows(padding={"eval": 1.0})) == ["mask_dropped_in_eval"]
    assert named(*rows(padding={"eval": 0.5, "train": 0.5, "by_mask": 0.25})) == [
        "mask_lost_after_the_first_layer"
    ]


@pytest.mark.parametrize(
    ("evidence", "name"),
    [
        ({"normalized": 0.02}, ["normed_x_added"]),
        ({"normalized": 0.021}, []),
        ({}, []),
        ({"normalized": 0.0, "nothing": True}, ["no_residual"]),
        ({"normalized": 0.0, "nothing": True, "ends_in_norm": True}, ["post_norm"]),
    ],
)
def test_what_silent_branches_leave_tells_what_becomes_of_the_stream(evidence, name):
    assert named(*rows(zeroed_branches=evidence)) == name


UNEQUAL = {"bare": 1.0, "masked": 1.0, "rounding": 0.5, "behind": False}
CAUSAL = {"eval": 1.0, "train": 1.0, "rounding": 0.5, "share": 0.4}


def test_features_that_come_from_some_of_the_later_tokens_are_scrambled():
    assert named(*rows(average=UNEQUAL, causal=CAUSAL)) == ["heads_not_transposed_back"]


@pytest.mark.parametrize(
    ("behind", "name"), [(False, "softmax_over_queries"), (True, "weights_do_not_sum_to_1")]
)
def test_weights_that_hang_on_all_later_tokens_are_of_no_softmax_over_keys(behind, name):
    all_later = CAUSAL | {"share": 1.0}
    assert named(*rows(average=UNEQUAL | {"behind": behind}, causal=all_later)) == [name]


def test_a_block_in_which_nothing_leaks_only_scales_its_weights():
    assert named(*rows(average=UNEQUAL), held("causal")) == ["weights_do_not_sum_to_1"]
    assert named(*rows(average=UNEQUAL | {"bare": 0.5}), Row("causal", "not applicable", "")) == [
        "weights_do_not_sum_to_1"
    ]


def test_a_mask_that_is_read_the_wrong_way_round_explains_unequal_tokens():
    assert named(*rows(average=UNEQUAL, mask_meaning={}), held("causal")) == ["mask_inverted"]


def test_a_fault_is_told_with_the_broken_rows_that_it_explains():
    leaks = {"eval": 1.0, "train": 1.0, "rounding": 0.5, "share": 1.0}
    (fault,) = faults([*rows(train_and_eval={}, causal=leaks), held("cache")])
    assert fault == Fault(
        "causal_mask_missing", "each position hears all later ones", ("causal", "train and eval")
    )


@pytest.mark.parametrize(
    ("evidence", "name"),
    [({"dead": ["a"]}, "parameter_unused"), ({"dead": []}, "gradients_not_finite")],
)
def test_gradients_that_are_missing_are_told_from_those_that_are_not_finite(evidence, name):
    assert named(*rows(gradients=evidence)) == [name]


@pytest.mark.parametrize(
    ("evidence", "name"),
    [
        ({"hears_all": True, "first_right": True}, "cache_offset_off_by_one"),
        ({"hears_all": True, "first_right": False}, "cache_stale"),
    ],
)
def test_a_cache_that_is_heard_is_off_by_its_place_or_from_its_start(evidence, name):
    assert named(*rows(cache=evidence)) == [name]


@pytest.mark.parametrize("gone", ["raised", "ended"])
@pytest.mark.parametrize("contract", ["determinism", "padding", "average", "state", "far_from_0"])
def test_a_row_without_a_measure_names_no_fault(contract, gone):
    assert named(*rows(**{contract: {gone: True}}), held("causal")) == []
