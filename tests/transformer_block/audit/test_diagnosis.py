import re
from dataclasses import replace

import pytest
import torch

from tests.transformer_block.audit.said import unexpected
from transformer_block.audit import Facts, Row, audit
from transformer_block.audit.broken import BROKEN, CONFIG, Block, streams
from transformer_block.audit.broken.attentions import WithRotaryPositions
from transformer_block.audit.diagnosis import faults
from transformer_block.audit.known_faults import KNOWN
from transformer_block.audit.running import NAMES

pytestmark = pytest.mark.slow

every_fault = pytest.mark.parametrize("name", BROKEN)


def made(make):
    torch.manual_seed(0)
    return make()


@every_fault
@pytest.mark.parametrize("like", [None, CONFIG], ids=["alone", "like"])
def test_each_fault_is_named_and_no_other(name, like):
    make = BROKEN[name]
    if like is not None and name == "cache_offset_off_by_one":
        like = replace(like, positions="rotary")
    report = audit(made(make), Facts(fresh=make), like=like, isolate=False)
    assert [fault.name for fault in report.faults] == [name], str(report)
    assert {row.contract for row in report.broken} <= set(KNOWN[name][1])
    assert [*filter(None, map(unexpected, report))] == []


@every_fault
def test_each_of_them_passes_a_test_of_shapes(name):
    x = torch.randn(2, 5, CONFIG.d_model)
    assert made(BROKEN[name])(x).shape == x.shape


def test_rotary_positions_are_no_fault():
    assert audit(made(WithRotaryPositions), isolate=False).holds


def test_a_post_norm_block_is_right_in_itself_and_not_the_one_that_was_meant():
    assert audit(made(streams.PostNorm), isolate=False).holds
    meant = audit(made(streams.PostNorm), like=CONFIG, isolate=False)
    assert [fault.name for fault in meant.faults] == ["post_norm"]


def test_a_right_block_is_told_so_by_each_row():
    report = audit(made(Block), Facts(fresh=Block), like=CONFIG, isolate=False)
    assert report.holds
    assert [*filter(None, map(unexpected, report))] == []


@pytest.mark.parametrize("fault", KNOWN)
def test_a_fault_is_told_in_plain_words(fault):
    """In small letters, but for the letters of formulas, which stand as they are written everywhere."""
    sentence, _ = KNOWN[fault]
    assert {*re.findall(r"\w*[A-Z]\w*", sentence)} <= {"D", "E", "K", "NaN"}
    assert not re.search(r"\b[dek]\b|\bnan\b", sentence)


def test_every_fault_explains_contracts_that_exist():
    contracts = {*NAMES.values(), "like the package"}
    assert all(set(explained) <= contracts for _, explained in KNOWN.values())


def rows(**broken):
    """Rows of these contracts, broken, with what they measured; _ is a space."""
    return [Row(name.replace("_", " "), "broken", "", evidence=e) for name, e in broken.items()]


def named(*given):
    return [fault.name for fault in faults(given)]


@pytest.mark.parametrize(
    ("evidence", "name"),
    [
        ({"first_right": True, "hears_all": True}, "cache_offset_off_by_one"),
        ({"first_right": True, "hears_all": False}, "cache_mask_misaligned"),
        ({"first_right": False, "hears_all": True}, "cache_stale"),
    ],
)
def test_what_is_heard_behind_a_cache_tells_its_faults_apart(evidence, name):
    assert named(*rows(cache=evidence)) == [name]


@pytest.mark.parametrize(
    ("evidence", "name"),
    [
        ({"eval": 1.0, "train": 0.0, "rounding": 0.5}, "mask_dropped_in_eval"),
        ({"eval": 0.0, "train": 1.0, "rounding": 0.5}, "mask_dropped_in_training"),
        ({"eval": 1.0, "train": 1.0, "rounding": 0.5, "by_mask": 0.0}, "mask_ignored"),
        ({"eval": 1.0, "train": 1.0, "rounding": 0.5, "by_mask": 1.0}, "mask_lost_after_the_first_layer"),
    ],
)
def test_the_modes_in_which_padding_leaks_tell_its_faults_apart(evidence, name):
    assert named(*rows(padding=evidence)) == [name]


@pytest.mark.parametrize(
    ("evidence", "name"),
    [
        ({"eval": 1.0, "train": 0.0, "rounding": 0.5}, ["causal_mask_dropped_in_eval"]),
        ({"eval": 0.0, "train": 1.0, "rounding": 0.5}, ["causal_mask_dropped_in_training"]),
        ({"eval": 1.0, "train": 1.0, "rounding": 0.5, "next_only": True}, ["causal_mask_off_by_one"]),
        ({"eval": 1.0, "train": 1.0, "rounding": 0.5, "share": 1.0}, ["causal_mask_missing"]),
        ({"eval": 1.0, "train": 1.0, "rounding": 0.5, "share": 0.4}, []),
    ],
)
def test_who_hears_whom_tells_the_faults_of_causal_masks_apart(evidence, name):
    assert named(*rows(causal=evidence)) == name


@pytest.mark.parametrize(
    ("contract", "evidence", "name"),
    [
        ("gradients", {"dead": ["a"], "wild": []}, "parameter_unused"),
        ("gradients", {"dead": [], "wild": ["a"]}, "gradients_not_finite"),
        ("bfloat16", {}, "not_finite_in_half"),
        ("far_from_0", {}, "variance_from_mean_of_squares"),
        ("zeroed_branches", {"ends_in_norm": True}, "post_norm"),
        ("zeroed_branches", {"nothing": True, "normalized": 9.0}, "no_residual"),
        ("zeroed_branches", {"nothing": False, "normalized": 0.01}, "normed_x_added"),
        ("fully_masked_row", {}, "masked_row_not_finite"),
    ],
)
def test_single_rows_have_names(contract, evidence, name):
    assert named(*rows(**{contract: evidence})) == [name]


def test_a_pattern_that_is_not_known_has_no_name():
    assert named(*rows(zeroed_branches={"normalized": 9.0})) == []
    assert named(*rows(permutation={})) == []


def test_a_row_that_raised_says_nothing_of_a_fault():
    assert named(*rows(padding={"raised": True}, cache={"ended": True})) == []


def test_a_fault_that_explains_a_row_keeps_others_from_being_named_for_it():
    given = rows(determinism={}, batch={}, cache={"first_right": True, "hears_all": True}, output_kept={})
    assert named(*given) == ["dropout_left_on", "output_buffer_reused"]
    assert faults(given)[0].contracts == ("determinism", "batch", "cache")


def test_sequences_are_not_called_mixed_where_chance_makes_them_differ():
    disturbed = rows(batch={}, train_and_eval={})
    assert named(*rows(determinism={}), *disturbed) == ["dropout_left_on"]
    assert named(*disturbed) == ["sequences_mixed"]


def test_equal_tokens_that_come_out_unequal_in_an_encoder_are_scrambled_heads():
    encoder = Row("causal", "not applicable", "")
    scrambled = {"bare": 1.0, "rounding": 0.5, "behind": False}
    assert named(encoder, *rows(average=scrambled)) == ["heads_not_transposed_back"]
    masked = scrambled | {"bare": 0.0}
    leaks = {"eval": 1.0, "train": 1.0, "rounding": 0.5, "by_mask": 1.0}
    assert named(encoder, *rows(average=masked, padding=leaks)) == ["softmax_over_queries"]
    behind = masked | {"behind": True}
    assert named(encoder, *rows(average=behind, padding=leaks)) == ["weights_do_not_sum_to_1"]
