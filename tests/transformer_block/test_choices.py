"""The set of configurations that other tests run through holds what it says."""

from itertools import combinations

import pytest

from tests.transformer_block.choices import COVERING, EXCLUDED, FACTORS, config_of, name_of, pairs, repr_of
from transformer_block.config import CHOICES, SWITCHES


def test_every_pair_that_can_stand_together_is_in_some_configuration():
    held = {frozenset(pair) for row in COVERING for pair in combinations(row.items(), 2)}
    assert held == pairs()


def test_every_configuration_is_valid_and_has_a_name_of_its_own():
    assert all(config_of(row) for row in COVERING)
    assert len({name_of(row) for row in COVERING}) == len(COVERING)


@pytest.mark.parametrize("pair", sorted(EXCLUDED, key=repr_of), ids=repr_of)
def test_every_pair_that_is_left_out_is_refused(pair):
    with pytest.raises(ValueError, match=r"deep_norm|rms_norm|parallel"):
        config_of(dict(pair))


def test_every_choice_that_a_block_computes_with_is_varied():
    start = {"initialization", "scaled_initialization"}
    assert {*CHOICES, *SWITCHES} - start <= set(FACTORS)
    for name, known in CHOICES.items():
        assert name in start or FACTORS[name] == known
