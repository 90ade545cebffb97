import numpy as np
import pytest
import torch

from tests.transformer_block.numerics import B, D, F, H, T, normal
from transformer_block.in_numpy import linear as numpy_twin
from transformer_block.in_torch.linear import linear


@pytest.mark.parametrize("shape", [(D,), (T, D), (B, T, D), (B, H, T, D)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_it_agrees_with_its_twin(shape, with_bias):
    arrays = [normal(1, *shape), normal(2, F, D)] + [normal(3, F)] * with_bias
    y = linear(*map(torch.tensor, arrays))
    np.testing.assert_allclose(y, numpy_twin.linear(*arrays), atol=1e-12)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"weight": torch.ones(D, F)},
            "weight must have shape (out, in) with x of shape (..., in); got (12, 7) and (5, 12)",
        ),
        ({"bias": torch.ones(D)}, "bias must have shape (7,); got (12,)"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong, sentence):
    arguments = {"x": torch.ones(T, D), "weight": torch.ones(F, D), "bias": torch.ones(F)} | wrong
    with pytest.raises(ValueError, match="must") as refusal:
        linear(**arguments)
    assert str(refusal.value) == sentence
