"""Which patterns of rows name which fault, in which order, and what a fault explains."""

import pytest

from transformer_block.audit import Fault, Row
from transformer_block.audit.broken.plain import CONFIG
from transformer_block.audit.diagnosis import Evidence, faults
from transformer_block.audit.known_faults import KNOWN
from transformer_block.audit.variants import wrong
from transformer_block.parameters import initialize

LEAKS = {"eval": 1.0, "train": 1.0, "rounding": 0.5}
NEXT = LEAKS | {"share": 0.3, "next_only": True}
ALL = LEAKS | {"share": 1.0, "next_only": False}
SOME = LEAKS | {"share": 0.3, "next_only": False}
UNEQUAL = {"bare": 1.0, "rounding": 0.5, "behind": False}
MASKED = UNEQUAL | {"bare": 0.5}
ENCODER = Row("causal", "not applicable", "")
DECODER = Row("causal", "held", "")


def broken(contract, **evidence):
    return Row(contract, "broken", "", evidence=evidence)


def held(contract, **evidence):
    return Row(contract, "held", "", evidence=evidence)


def names(*rows):
    return [fault.name for fault in faults(rows)]


def norms(*kinds, **evidence):
    return broken("norms", kinds=dict(enumerate(kinds)), **evidence)


LIKE = "like the package"
NAMED = [
    ([broken("shape")], "no_usable_output"),
    ([broken("shape", raised=True)], "no_usable_output"),
    ([broken("shape", ended=True)], "no_usable_output"),
    ([broken("determinism")], "dropout_left_on"),
    ([broken("batch")], "sequences_mixed"),
    ([broken("causal", **ALL | {"train": 0.5})], "causal_mask_dropped_in_eval"),
    ([broken("causal", **ALL | {"eval": 0.5})], "causal_mask_dropped_in_training"),
    ([broken("causal", **NEXT)], "causal_mask_off_by_one"),
    ([broken("causal", **ALL)], "causal_mask_missing"),
    ([broken("padding", **LEAKS | {"train": 0.5})], "mask_dropped_in_eval"),
    ([broken("padding", **LEAKS | {"eval": 0.5})], "mask_dropped_in_training"),
    ([broken("padding", **LEAKS)], "mask_ignored"),
    ([broken("padding", by_mask=0.5, **LEAKS)], "mask_ignored"),
    ([broken("padding", by_mask=0.6, **LEAKS)], "mask_lost_after_the_first_layer"),
    ([broken("mask meaning")], "mask_inverted"),
    ([broken("fully masked row")], "masked_row_not_finite"),
    ([norms("layer norm", "sample variance")], "sample_variance"),
    ([norms("eps outside the root")], "eps_outside_the_root"),
    ([norms("statistics over time and features")], "statistics_over_time_and_features"),
    ([norms("RMS norm", canceled={"a": 0.3})], "variance_from_mean_of_squares"),
    ([broken("far from 0")], "variance_from_mean_of_squares"),
    ([norms("layer norm", uncalled=["a"], reused=["b"])], "first_norm_reused"),
    ([ENCODER, broken("average", **UNEQUAL)], "heads_not_transposed_back"),
    ([broken("causal", **SOME), broken("average", **MASKED)], "heads_not_transposed_back"),
    ([broken("causal", **ALL), broken("average", **MASKED)], "softmax_over_queries"),
    ([broken("padding", **LEAKS), DECODER, broken("average", **UNEQUAL)], "softmax_over_queries"),
    ([broken("causal", **ALL), broken("average", **MASKED | {"behind": True})], "weights_do_not_sum_to_1"),
    ([DECODER, broken("average", **UNEQUAL)], "weights_do_not_sum_to_1"),
    ([ENCODER, broken("average", **MASKED)], "weights_do_not_sum_to_1"),
    ([broken("zeroed branches", ends_in_norm=True, nothing=True, normalized=0.0)], "post_norm"),
    ([broken("zeroed branches", ends_in_norm=False, nothing=True, normalized=0.0)], "no_residual"),
    ([broken("zeroed branches", ends_in_norm=False, nothing=False, normalized=0.02)], "normed_x_added"),
    ([broken("output kept")], "output_buffer_reused"),
    ([broken("input kept")], "input_written_over"),
    ([broken("dtype")], "dtype_not_kept"),
    ([broken("state")], "state_incomplete"),
    ([broken("gradients", dead=["a"])], "parameter_unused"),
    ([broken("gradients", dead=[])], "gradients_not_finite"),
    ([broken("float16")], "not_finite_in_half"),
    ([broken("bfloat16")], "not_finite_in_half"),
    ([broken("cache", hears_all=False, first_right=True)], "cache_mask_misaligned"),
    ([broken("cache", hears_all=True, first_right=True)], "cache_offset_off_by_one"),
    ([broken("cache", hears_all=True, first_right=False)], "cache_stale"),
    *(([broken(LIKE, matches=[name])], name) for name, _ in wrong(CONFIG, initialize(CONFIG, 0))),
]


@pytest.mark.parametrize(("rows", "name"), NAMED)
def test_a_pattern_names_a_fault_that_explains_its_broken_rows(rows, name):
    first, *_ = faults(rows)
    contracts = tuple(
        each for each in KNOWN[name][1] if each in {r.contract for r in rows if r.state == "broken"}
    )
    assert contracts
    assert first == Fault(name, KNOWN[name][0], contracts)


def test_every_fault_can_be_named():
    assert {name for _, name in NAMED} | {"pre_norm"} == {*KNOWN}


UNNAMED = [
    [],
    [held("batch"), held("dtype"), held("cache", hears_all=False)],
    [broken("zeroed branches", ends_in_norm=False, nothing=False, normalized=0.03)],
    [broken("causal", **SOME)],
    [broken("permutation")],
    [norms("layer norm", uncalled=["a"], reused=[])],
    [norms("layer norm", uncalled=[], reused=["a"])],
    [norms("layer norm", canceled={})],
    [broken(LIKE, matches=[])],
    [broken(LIKE)],
    [broken("train and eval")],
]


@pytest.mark.parametrize("rows", UNNAMED)
def test_a_pattern_of_no_known_fault_is_left_without_a_name(rows):
    assert names(*rows) == []


@pytest.mark.parametrize("contract", ["batch", "dtype", "cache", "determinism", "far from 0", "average"])
@pytest.mark.parametrize("way", ["raised", "ended"])
def test_a_row_without_an_answer_names_no_fault(contract, way):
    assert names(broken(contract, **{way: True})) == []


def test_a_block_without_outputs_has_no_other_fault():
    assert names(broken("shape"), broken("dtype"), broken("cache")) == ["no_usable_output"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([broken("determinism"), broken("batch"), broken("dtype")], ["dropout_left_on", "dtype_not_kept"]),
        (
            [broken("padding", **LEAKS), broken("causal", **ALL | {"train": 0.0})],
            ["causal_mask_dropped_in_eval", "mask_ignored"],
        ),
        ([broken("padding", **LEAKS | {"eval": 0.0}), broken(LIKE, matches=["mask_ignored"])],
         ["mask_dropped_in_training"]),
        ([broken(LIKE, matches=["another_eps", "biases_forgotten"]), broken("gradients", dead=["a"])],
         ["another_eps", "parameter_unused"]),
        ([broken(LIKE, matches=["biases_forgotten"]), norms("sample variance")],
         ["biases_forgotten", "sample_variance"]),
        (
            [norms("layer norm", "sample variance", "eps outside the root"), broken("far from 0")],
            ["sample_variance", "variance_from_mean_of_squares"],
        ),
        ([norms("sample variance", uncalled=["a"], reused=["b"]), broken("gradients", dead=["a"])],
         ["sample_variance", "first_norm_reused"]),
        ([ENCODER, broken("average", **UNEQUAL), broken("padding", **LEAKS), broken("fully masked row")],
         ["heads_not_transposed_back", "masked_row_not_finite"]),
        ([ENCODER, broken("average", **UNEQUAL), broken("mask meaning")], ["mask_inverted"]),
        ([broken("causal", **NEXT), broken("padding", by_mask=1.0, **LEAKS)],
         ["causal_mask_off_by_one", "mask_lost_after_the_first_layer"]),
        (
            [
                broken("bfloat16"),
                broken("gradients", dead=[]),
                broken("state"),
                broken("dtype"),
                broken("input kept"),
                broken("output kept"),
                broken("cache", hears_all=False),
            ],
            [
                "cache_mask_misaligned",
                "output_buffer_reused",
                "input_written_over",
                "dtype_not_kept",
                "state_incomplete",
                "not_finite_in_half",
            ],
        ),
    ],
)  # fmt: skip
def test_the_most_telling_evidence_comes_first_and_what_it_explains_is_not_named_again(rows, expected):
    assert names(*rows) == expected


def test_evidence_says_what_was_measured_and_what_was_not():
    found = Evidence({"cache": broken("cache", eval=float("nan"), train=0.5, share=0.6, rounding=0.5)})
    assert found.of("cache", "share") == 0.6
    assert found.of("cache", "missing") is None
    assert found.of("cache", "missing", 3) == 3
    assert found.of("padding", "share", 3) == 3
    assert [found.above("cache", name) for name in ("eval", "train", "share", "missing")] == [
        True,
        False,
        True,
        False,
    ]
    assert found.broken("cache") is True
    assert found.broken("padding") is False
    assert found.raised("padding") is False
