"""What the contract of norms says of blocks whose norms compute whatever they are told to."""

import pytest
import torch

from tests.transformer_block.audit.normed import (
    Calls,
    D,
    Norm,
    layer,
    outside,
    over_time,
    rms,
    rms_of_one_and_w,
    sample,
)
from transformer_block.audit import Facts, Row
from transformer_block.audit.discovery import subject_of
from transformer_block.audit.norms import norms

WIDE = Facts(d_model=D)


WRONG = {
    sample: "sample variance",
    outside: "eps outside the root",
    over_time: "statistics over time and features",
}


def judged(order=None, **given):
    return norms(subject_of(Calls(order, **given), WIDE))


def evidence(kinds, canceled=(), uncalled=(), reused=()):
    return {
        "kinds": kinds,
        "canceled": dict(canceled),
        "uncalled": [*uncalled],
        "reused": [*reused],
    }


def test_right_norms_are_told_by_name():
    names = {"norm_1": "layer norm", "norm_2": "RMS norm", "norm_3": "RMS norm with a gain of 1 + w"}
    row = judged(norm_1=Norm(), norm_2=Norm(rms), norm_3=Norm(rms_of_one_and_w))
    assert row == Row(
        "norms",
        "held",
        "norm_1 is a layer norm, norm_2 is an RMS norm, norm_3 is an RMS norm with a gain of 1 + w",
        row.number,
        1e-5,
        evidence(names),
    )
    assert 0 <= row.number < 1e-12


@pytest.mark.parametrize("formula", WRONG, ids=WRONG.values())
@pytest.mark.parametrize("neighbor", [layer, rms])
def test_a_wrong_norm_is_as_far_off_as_from_the_nearest_right_one(formula, neighbor):
    """The number, taken again on the tokens that the norm was asked with."""
    asked = []

    def spied(x, w, b, eps):
        y = formula(x, w, b, eps)
        candidates = [right(x, w, b, eps) for right in (layer, rms, rms_of_one_and_w)]
        asked.append(min(float((y - each).abs().max() / y.abs().max()) for each in candidates))
        return y

    row = judged(norm_1=Norm(neighbor), norm_2=Norm(spied))
    kinds = {"norm_1": "layer norm" if neighbor is layer else "RMS norm", "norm_2": WRONG[formula]}
    sentence = f"norm_2 has {WRONG[formula]}"
    assert row == Row("norms", "broken", sentence, row.number, 1e-5, evidence(kinds))
    assert row.number == pytest.approx(asked[0], rel=1e-9)
    assert row.number > 0.01


def test_each_thing_that_is_wrong_with_norms_is_said():
    row = judged(
        ["ln_a", "ln_a", "ln_b"],
        ln_a=Norm(sample),
        ln_b=Norm(outside),
        ln_c=Norm(loses(0.5)),
    )
    assert row.sentence == (
        "ln_a has sample variance; ln_b has eps outside the root; ln_c loses its digits far from 0; "
        "ln_c is never called, and ln_a more than once"
    )
    assert row.number == pytest.approx(0.5, abs=0.01)


def test_a_norm_used_twice_while_another_is_never_used_is_broken_without_a_number():
    row = judged(["ln_2", "ln_2", "ln_4", "ln_4", "ln_4"], ln_1=Norm(), ln_2=Norm(), ln_3=Norm(), ln_4=Norm())
    kinds = dict.fromkeys(("ln_1", "ln_2", "ln_3", "ln_4"), "layer norm")
    sentence = "ln_1 is never called, and ln_2 more than once"
    told = evidence(kinds, uncalled=["ln_1", "ln_3"], reused=["ln_2", "ln_4"])
    assert row == Row("norms", "broken", sentence, evidence=told)


@pytest.mark.parametrize(
    ("order", "told"),
    [(["ln_1"], {"uncalled": ["ln_2"]}), (["ln_1", "ln_1", "ln_2"], {"reused": ["ln_1"]})],
    ids=["spare", "shared"],
)
def test_a_spare_norm_or_a_shared_one_is_no_fault(order, told):
    row = judged(order, ln_1=Norm(), ln_2=Norm())
    assert row.state == "held"
    assert row.evidence == evidence(dict.fromkeys(("ln_1", "ln_2"), "layer norm"), **told)


def loses(share, dtype=torch.float32):
    """A layer norm that is off by this share of its answer, far from 0 and in one dtype."""

    def formula(x, w, b, eps):
        far = x.dtype == dtype and x.abs().max() > 1000
        return layer(x, w, b, eps) * (1 + share * far)

    return formula


def test_a_norm_that_loses_digits_far_from_0_is_broken_by_how_many():
    row = judged(norm_1=Norm(), norm_2=Norm(loses(0.2)), norm_3=Norm(loses(0.02)))
    lost = row.evidence["canceled"]["norm_2"]
    kinds = dict.fromkeys(("norm_1", "norm_2", "norm_3"), "layer norm")
    sentence = "norm_2 loses its digits far from 0"
    assert row == Row("norms", "broken", sentence, lost, 1e-5, evidence(kinds, {"norm_2": lost}))
    assert lost == pytest.approx(0.2, abs=0.01)


def test_a_norm_of_pytorch_loses_digits_as_any_other():
    class Careless(torch.nn.LayerNorm):
        def forward(self, x):
            return super().forward(x) * (1.5 if x.dtype == torch.float32 and x.mean() > 1000 else 1)

    row = judged(norm_1=Careless(D))
    assert row.sentence == "norm_1 loses its digits far from 0"
    assert row.number == pytest.approx(0.5, abs=0.01)


def test_a_loss_is_measured_against_what_float64_gives():
    row = judged(norm_1=Norm(loses(-0.5, torch.float64)))
    assert row.number == pytest.approx(1.0, abs=0.02)


def test_a_norm_is_asked_on_tokens_of_the_size_of_the_root_of_eps_and_then_around_4096():
    asked = []

    def spied(x, w, b, eps):
        asked.append(x)
        return layer(x, w, b, eps)

    judged(norm_1=Norm(spied, eps=0.0625))
    near, far = ([x for x in asked if (x.mean() > 100) == is_far] for is_far in (False, True))
    assert float(near[0].square().mean().sqrt()) == pytest.approx(0.25, rel=0.2)
    assert {x.dtype for x in far} == {torch.float32, torch.float64}
    for x in far:
        assert abs(float(x.mean()) - 4096) < 0.3
        assert torch.equal(x.double(), far[0].double())


def fails(where):
    def formula(x, w, b, eps):
        if where(x):
            raise RuntimeError("not here")
        return layer(x, w, b, eps)

    return formula


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_norm_that_gives_no_answer_far_from_0_loses_no_digits(dtype):
    row = judged(norm_1=Norm(fails(lambda x: x.dtype == dtype and x.mean() > 1000)))
    assert (row.state, row.evidence["canceled"]) == ("held", {})
