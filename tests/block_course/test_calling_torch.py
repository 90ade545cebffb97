import numpy as np
import torch

from block_course.calling import observe
from block_course.exercise import Case, Manner
from block_course.plain import refusal

TORCH = Manner(framework="torch")
CASE = Case(
    name="a case",
    arguments={"x": np.arange(6, dtype=np.float32).reshape(2, 3), "mask": np.array([True, False])},
)


def test_an_answer_in_torch_gets_tensors_and_gives_arrays_of_the_same_dtype():
    def answer(x, mask):
        assert isinstance(x, torch.Tensor)
        assert mask.dtype is torch.bool
        return x.double(), x.requires_grad_(), ~mask

    observed = observe(answer, CASE, TORCH)

    assert observed.kinds == ("torch.Tensor",) * 3
    assert [each.dtype.name for each in observed.outputs] == ["float64", "float32", "bool"]
    assert all(type(each) is np.ndarray for each in observed.outputs)


def test_a_tensor_changed_in_place_is_seen():
    observed = observe(lambda x, mask: x.add_(1), CASE, TORCH)

    np.testing.assert_array_equal(observed.arguments_after["x"], CASE.arguments["x"] + 1)


def test_a_tensor_subclass_that_answers_for_itself_loses_its_class():
    class Liar(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return torch.ones(99)

    observed = observe(lambda x, mask: x.as_subclass(Liar), CASE, TORCH)

    np.testing.assert_array_equal(observed.outputs[0], CASE.arguments["x"])


def test_bfloat16_comes_home_in_float32_and_conjugate_views_are_resolved():
    observed = observe(lambda x, mask: (x.bfloat16(), torch.complex(x, x).conj()), CASE, TORCH)

    assert observed.outputs[0].dtype == np.float32
    assert refusal(observed.kinds[1]) == "an array of dtype complex64"


def test_torchs_settings_are_plain_inside_and_put_back_after():
    def answer(x, mask):
        torch.set_default_dtype(torch.float16)
        torch.manual_seed(9)
        return torch.rand(1), torch.tensor(float(torch.is_grad_enabled()))

    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    with torch.no_grad():
        observed = observe(lambda x, mask: torch.ones(1) * torch.is_grad_enabled(), CASE, TORCH)
        observe(answer, CASE, TORCH)
    after = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)

    assert observed.outputs[0].dtype == np.float32
    assert observed.outputs[0].tolist() == [1.0]
    assert after is torch.float64
    assert torch.equal(torch.rand(1), expected)


def test_a_tensor_in_a_numpy_exercise_is_told_apart():
    observed = observe(lambda x, mask: torch.from_numpy(x), CASE)

    assert observed.kinds == ("torch.Tensor",)


def test_a_tensor_that_numpy_cannot_hold_is_the_learners_exception():
    observed = observe(lambda x, mask: x.to_sparse(), CASE, TORCH)

    assert observed.status == "raised"
    assert observed.message.startswith("NotImplementedError: ")
