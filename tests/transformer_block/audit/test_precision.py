"""Number formats: which are kept, which are narrow, and which lose their digits far from 0."""

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row
from transformer_block.audit.precision import bfloat16, dtype, far_from_zero, float16
from transformer_block.audit.subject import Subject, tokens
from transformer_block.audit.torch_subject import TorchSubject

D = 6
FACTS = Facts(d_model=D, framework="numpy")
X = tokens(Subject(abs, FACTS))
FUNCTION = "its parameters cannot be read and set from outside"


class Block:
    """A NumPy block of one function, which keeps what it was called with."""

    def __init__(self, function):
        self.parameters = {"gain": np.ones(D)}
        self.function, self.seen = function, []

    def __call__(self, x):
        self.seen.append(x)
        return self.function(x)


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(D))
        self.function = function

    def forward(self, x):
        return self.function(self, x)


def array_block(function, **said):
    return Subject(Block(function), Facts(d_model=D, **said))


def module(function):
    return TorchSubject(Module(function), Facts(d_model=D))


def test_dtypes_that_are_kept_are_listed():
    good = "float64, float32, float16 in, the same out"
    assert dtype(array_block(lambda x: x)) == Row("dtype", "held", good, 0.0, 0.0, {"changed": []})


def test_dtypes_that_are_not_kept_are_listed_and_counted():
    row = dtype(module(lambda self, x: x.float()))
    bad = "float64, bfloat16, float16 in did not give the same dtype and device out"
    assert row == Row("dtype", "broken", bad, 3.0, 0.0, {"changed": ["float64", "bfloat16", "float16"]})


def test_a_function_is_asked_in_its_own_dtype_alone():
    row = dtype(Subject(lambda x: x, FACTS))
    assert row == Row("dtype", "held", "float64 in, the same out", 0.0, 0.0, {"changed": []})


def test_an_output_on_another_device_is_not_kept():
    row = dtype(module(lambda self, x: x.to("meta") if x.dtype == torch.float64 else x))
    assert row.evidence == {"changed": ["float64"]}


def test_what_is_no_array_keeps_no_dtype():
    assert dtype(array_block(lambda x: None)).evidence == {"changed": ["float64", "float32", "float16"]}


def refusing(words):
    def forward(self, x):
        if x.dtype == torch.float16:
            raise RuntimeError(words)
        return x

    return module(forward)


def test_a_dtype_that_the_machine_lacks_is_left_out_and_one_that_the_block_refuses_is_not():
    lacking = dtype(refusing("'sdpa' not implemented for 'Half'"))
    assert lacking.sentence == "float64, float32, bfloat16 in, the same out"
    assert dtype(refusing("not thought of")).evidence == {"changed": ["float16"]}


def test_a_block_that_raises_in_its_own_dtype_raises():
    def fails(x):
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        dtype(array_block(fails))


def test_narrow_formats_are_tried_on_tokens_of_two_sizes():
    subject = array_block(lambda x: x)
    good = "finite on tokens of size 1 and of size 300"
    evidence = {"ordinary": 0, "large": 0}
    assert float16(subject) == Row("float16", "held", good, 0.0, 0.0, evidence)
    for seen, factor in zip(subject.block.seen, (1, 300), strict=True):
        np.testing.assert_array_equal(seen, (X * factor).astype(np.float16), strict=True)


def test_what_overflows_is_counted_by_the_size_of_the_tokens():
    with np.errstate(over="ignore"):
        row = float16(array_block(lambda x: x * 300))
        over = int(np.isinf(X.astype(np.float16) * np.float16(300) * 300).sum())
    bad = "NaN or infinite on tokens of size 300"
    assert row == Row("float16", "broken", bad, float(over), 0.0, {"ordinary": 0, "large": over})
    assert over > 1


def once(x):
    y = x.copy()
    y[1, 2, 3] = np.nan
    return y


@pytest.mark.parametrize(
    ("placement", "evidence"), [("post", {"ordinary": 1}), ("pre", {"ordinary": 1, "large": 1})]
)
def test_one_output_that_is_not_finite_is_enough_and_counted_once_for_each_size(placement, evidence):
    row = float16(array_block(once, placement=placement))
    bad = "NaN or infinite on tokens of size 1"
    assert row == Row("float16", "broken", bad, float(len(evidence)), 0.0, evidence)


def test_large_tokens_are_not_asked_of_post_norm():
    subject = array_block(lambda x: x, placement="post")
    good = "finite on tokens of size 1"
    assert float16(subject) == Row("float16", "held", good, 0.0, 0.0, {"ordinary": 0})
    assert len(subject.block.seen) == 1


def test_a_format_that_there_is_not_is_set_aside():
    assert bfloat16(array_block(abs)) == Row("bfloat16", "not applicable", "NumPy has no bfloat16")
    row = float16(refusing("'sdpa' not implemented for 'Half'"))
    assert row == Row("float16", "not applicable", "'sdpa' not implemented for 'Half'")
    with pytest.raises(RuntimeError, match="not thought of"):
        float16(refusing("not thought of"))


ALLOWED = 128 * 4096 * 2.0**-23


def test_float32_is_given_tokens_that_it_holds_exactly():
    subject = array_block(lambda x: x)
    good = "float32 gave what float64 gave on tokens with a mean of 4,096"
    assert far_from_zero(subject) == Row("far from 0", "held", good, 0.0, ALLOWED)
    for seen, kind in zip(subject.block.seen, (np.float64, np.float32), strict=True):
        np.testing.assert_array_equal(seen, (X + 4096).astype(kind), strict=True)


BAD = "float32 lost its digits on tokens with a mean of 4,096, which float64 has not lost"
LARGEST = np.abs(X + 4096).max()


@pytest.mark.parametrize(
    ("function", "size"),
    [
        (lambda x: x, 1.0),  # what is added to the stream is small, as large as that is
        (lambda x: 3 * x, 2 * LARGEST),  # what is added is large
        (lambda x: x - 4096, np.abs(X).max()),  # what comes out is small, as in post-norm
        (lambda x: (x - 4096) / 64, 1.0),  # smaller than 1 is not small
    ],
    ids=["nothing is added", "much is added", "little comes out", "next to nothing comes out"],
)
def test_what_is_lost_is_measured_by_what_the_block_adds_or_gives(function, size):
    lost = 8192.0

    def careless(x):
        return function(x) + (lost if x.dtype == np.float32 else 0)

    row = far_from_zero(array_block(careless))
    assert (row.contract, row.sentence, row.threshold) == ("far from 0", BAD, ALLOWED)
    assert row.number == pytest.approx(lost / size)


def test_a_function_can_not_be_asked_in_two_formats():
    assert far_from_zero(Subject(abs, FACTS)) == Row("far from 0", "not applicable", FUNCTION)


def test_digits_are_asked_for_in_evaluation():
    def careless_in_training(self, x):
        return x + 1 if self.training and x.dtype == torch.float32 else x

    assert far_from_zero(module(careless_in_training)).state == "held"
