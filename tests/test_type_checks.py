import subprocess
import sys

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from transformer_block.in_numpy.layer_norm import layer_norm

CALL = """
import os, sys
from tests import type_checks
type_checks.install()
import numpy as np
from transformer_block.in_numpy.layer_norm import layer_norm
layer_norm(np.ones((2, 3)), gamma=np.ones(4))
"""


def test_a_wrong_shape_is_refused_before_the_function_runs():
    with pytest.raises(TypeCheckError, match="parameter 'gamma'"):
        layer_norm(np.ones((2, 3)), gamma=np.ones(4))


@pytest.mark.parametrize("dtype", [int, bool, complex])
def test_a_wrong_dtype_is_refused_before_the_function_runs(dtype):
    with pytest.raises(TypeCheckError, match="parameter 'x'"):
        layer_norm(np.ones((2, 3), dtype))


@pytest.mark.usefixtures("unchecked")
def test_without_the_checks_the_function_refuses_in_its_own_words():
    with pytest.raises(ValueError, match=r"gamma must have shape \(3,\); got \(4,\)"):
        layer_norm(np.ones((2, 3)), gamma=np.ones(4))


def test_a_mutation_run_goes_without_the_checks(monkeypatch):
    monkeypatch.setenv("MUTANT_UNDER_TEST", "some.mutant")
    run = subprocess.run([sys.executable, "-c", CALL], capture_output=True, text=True, check=False)
    assert "ValueError: gamma must have shape (3,); got (4,)" in run.stderr
    assert "TypeCheckError" not in run.stderr


def test_one_thread_adds_sums_in_the_same_order_everywhere():
    import torch

    assert torch.get_num_threads() == 1
