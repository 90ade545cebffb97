"""Numbers that Python and the page draw alike are as good as random."""

import numpy as np
import pytest

from transformer_block.config import BlockConfig
from transformer_block.explore._drawn import drawn, drawn_stack, uniform
from transformer_block.parameters import check_stack

CONFIG = BlockConfig(d_model=6, n_heads=2, d_ff=11, n_layers=3, placement="sandwich")


def test_numbers_are_uniform_and_neighbors_unrelated() -> None:
    numbers = uniform(seed=1, start=0, count=20_000)

    counts, _ = np.histogram(numbers, bins=10, range=(0, 1))
    assert 0 <= numbers.min() < numbers.max() < 1
    assert abs(counts - 2000).max() < 200
    for lag in (1, 2, 16, 32):
        assert abs(np.corrcoef(numbers[:-lag], numbers[lag:])[0, 1]) < 0.03


def test_a_number_belongs_to_its_place_and_seed_alone() -> None:
    np.testing.assert_array_equal(uniform(4, 0, 9)[5:], uniform(4, 5, 4))
    assert not np.isin(uniform(4, 0, 9), uniform(5, 0, 9)).any()


def test_a_matrix_fills_its_range() -> None:
    matrix = drawn(seed=2, place=3, rows=40, columns=50, bound=0.5)

    assert matrix.shape == (40, 50)
    assert -0.5 <= matrix.min() < -0.49
    assert 0.49 < matrix.max() < 0.5


def test_a_stack_has_all_its_parameters_and_xaviers_matrices() -> None:
    values = drawn_stack(CONFIG, seed=7, gain=3.0)

    check_stack(CONFIG, values)
    up = values["blocks.1.feed_forward.up.weight"]
    assert 0.8 < np.abs(up).max() / (3 * np.sqrt(6 / 17)) <= 1
    assert values["blocks.2.norm_1_out.weight"].tolist() == [1] * 6
    assert values["norm.bias"].tolist() == [0] * 6
    matrices = [value for value in values.values() if value.ndim == 2]
    assert len({matrix.flat[0] for matrix in matrices}) == len(matrices) == 12


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_has_no_32_bits_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=r"seed must lie in 0 … 4294967295; got"):
        uniform(seed, 0, 3)
