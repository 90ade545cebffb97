"""Answers that are no plain functions: modules, gradients, tests of blocks."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from block_course.calling import observe
from block_course.exercise import Case, Manner
from tests.block_course.judging import LENGTH, WIDTH, good, running_mean, subject, whole_mean

MODULE = Manner("torch", "module")
TEST = Manner(calls="test")
rng = np.random.default_rng(0)
X = rng.normal(size=(4, 3))
WEIGHT = rng.normal(size=(5, 3))


class Linear(torch.nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(inner, width))

    def forward(self, x):
        return x @ self.weight.T * (3.0 if self.training else 1.0)


def module_case(**given):
    base = {"arguments": {"x": X}, "init": {"width": 3, "inner": 5}, "state": {"weight": WEIGHT}}
    return Case(name="a case", **(base | given))


def case_with(block, right):
    return Case(
        name="a case", arguments={"x": rng.normal(size=(LENGTH, WIDTH))}, subject=subject(block, right)
    )


def test_a_module_is_built_loaded_and_called_in_evaluation_mode() -> None:
    observed = observe(Linear, module_case(), MODULE)

    assert observed.kinds == ("torch.Tensor",)
    assert observed.outputs[0].dtype == np.float64
    np.testing.assert_allclose(observed.outputs[0], X @ WEIGHT.T, rtol=1e-14)


def test_a_module_in_training_is_called_in_training_mode() -> None:
    observed = observe(Linear, module_case(train=True), MODULE)

    np.testing.assert_allclose(observed.outputs[0], 3.0 * X @ WEIGHT.T, rtol=1e-14)


def test_a_module_whose_train_forgets_to_return_itself_is_called_all_the_same() -> None:
    class Forgetful(Linear):
        def train(self, mode=True):
            super().train(mode)

    observed = observe(Forgetful, module_case(train=True), MODULE)

    np.testing.assert_allclose(observed.outputs[0], 3.0 * X @ WEIGHT.T, rtol=1e-14)


def test_parameters_by_other_names_are_told() -> None:
    observed = observe(Linear, module_case(state={"matrix": WEIGHT}), MODULE)

    assert observed.status == "raised"
    assert 'Missing key(s) in state_dict: "weight"' in observed.message


@pytest.mark.parametrize("answer", [lambda width, inner: 3, dict])
def test_what_builds_no_module_is_named(answer) -> None:
    observed = observe(answer, module_case(), MODULE)

    assert observed.status == "raised"
    assert observed.message.startswith("TypeError: expected a torch.nn.Module; got an object of type")


def test_a_module_that_is_not_written_is_not_attempted() -> None:
    class Unwritten(Linear):
        def forward(self, x):
            raise NotImplementedError()

    class NotEvenBuilt(torch.nn.Module):
        def __init__(self, width, inner):
            raise NotImplementedError()

    assert observe(Unwritten, module_case(), MODULE).status == "not attempted"
    assert observe(NotEvenBuilt, module_case(), MODULE).status == "not attempted"


def test_gradients_come_after_the_outputs() -> None:
    dy = rng.normal(size=(4, 5))
    case = Case(name="a case", arguments={"x": X, "w": WEIGHT, "mask": np.ones(3, bool)}, cotangent=dy)

    observed = observe(lambda x, w, mask: (x * mask) @ w.T, case, Manner("torch"))

    y, dx, dw = observed.outputs
    np.testing.assert_allclose(y, X @ WEIGHT.T, rtol=1e-14)
    np.testing.assert_allclose(dx, dy @ WEIGHT, rtol=1e-14)
    np.testing.assert_allclose(dw, dy.T @ X, rtol=1e-14)


def test_an_argument_that_is_not_used_gets_a_gradient_of_zero() -> None:
    case = Case(name="a case", arguments={"x": X, "w": WEIGHT}, cotangent=np.ones((4, 3)))

    observed = observe(lambda x, w: 2 * x, case, Manner("torch"))

    np.testing.assert_array_equal(observed.outputs[2], np.zeros((5, 3)))


def test_an_answer_that_returns_none_is_not_blamed_for_its_gradient() -> None:
    case = Case(name="a case", arguments={"x": X}, cotangent=np.ones((4, 3)))

    observed = observe(lambda x: [].append(x), case, Manner("torch"))

    assert (observed.status, observed.kinds) == ("returned", ("refused: None",))


def test_an_output_that_is_cut_off_is_named() -> None:
    case = Case(name="a case", arguments={"x": X}, cotangent=np.ones((4, 3)))

    observed = observe(lambda x: 2 * x.detach(), case, Manner("torch"))

    message = "ValueError: no gradient arrives: the first output is cut off from the arguments"
    assert observed.message == message


@pytest.mark.parametrize(("block", "right"), [(running_mean, True), (whole_mean, False)])
def test_the_verdict_of_a_test_is_its_output(block, right) -> None:
    observed = observe(good, case_with(block, right), TEST)

    assert observed.status == "returned"
    assert observed.outputs[0].tolist() is right


def test_an_exception_of_a_test_other_than_a_failed_assertion_is_no_verdict() -> None:
    observed = observe(lambda block, x: block(x[:2]), case_with(running_mean, True), TEST)

    assert observed.status == "raised"
    assert "no answer (forward) to (2, 3)" in observed.message
    assert observed.place.startswith("line ")
    assert "block(x[:2])" in observed.place


def test_a_test_without_a_block_is_a_fault_of_the_exercise() -> None:
    observed = observe(good, Case(name="bare", arguments={"x": X}), TEST)

    assert observed.message == "ValueError: the case 'bare' has no subject to test"


@pytest.mark.parametrize("third", [Fraction(1, 3), Decimal("0.25"), np.longdouble("0.5"), np.float64(2)])
def test_numbers_of_other_kinds_come_home_in_float64(third) -> None:
    observed = observe(lambda x: third, module_case())

    assert observed.outputs[0].dtype == np.float64
    assert observed.outputs[0].item() == float(third)


def test_an_array_that_is_wider_than_float64_comes_home_in_float64() -> None:
    observed = observe(lambda x: x.astype(np.longdouble), module_case())

    np.testing.assert_array_equal(observed.outputs[0], X)
    assert observed.outputs[0].dtype == np.float64


def test_an_empty_set_is_a_set_of_no_names() -> None:
    observed = observe(lambda x: {"lacks": set()}, module_case(), Manner(names=("lacks",)))

    assert observed.kinds == ("names",)
    assert observed.outputs[0].size == 0


def test_a_dict_is_read_by_the_names_that_are_wanted() -> None:
    manner = Manner(names=("mean", "shape", "kind"))

    observed = observe(lambda x: {"shape": x.shape, "mean": x.mean(), "more": 1}, module_case(), manner)

    assert observed.kinds == ("numpy.float64", "numpy.ndarray", "refused: missing")
    assert observed.outputs[1].tolist() == [4, 3]
