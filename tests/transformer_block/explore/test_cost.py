"""The worked examples of cost are the package's counts of known blocks."""

import pytest

from transformer_block import cost
from transformer_block.explore import explore_cost
from transformer_block.explore.cost import cache_bytes
from transformer_block.presets import preset


def count(text: str) -> int:
    return int(text.replace(",", ""))


def test_each_block_has_its_counts() -> None:
    rows = explore_cost(tokens=300, dtype="float32").rows

    for row, name in zip(rows, ("gpt2", "llama", "llama3", "teaching"), strict=True):
        config = preset(name)
        assert count(row[2]) == sum(cost.parameters(config).values())
        assert count(row[3]) == sum(cost.forward_flops(config, 300).values())
        assert count(row[4]) == cache_bytes(config, 300, "float32")


def test_the_head_says_for_which_length_and_dtype() -> None:
    assert explore_cost(2048, "float16").head[3:] == ("Operations, T = 2,048", "Bytes of cache, float16")


@pytest.mark.parametrize("name", ["gpt2", "llama3"])
def test_the_cache_is_the_packages_where_a_block_has_one(name: str) -> None:
    assert cache_bytes(preset(name), 77, "bfloat16") == cost.cache_bytes(preset(name), 77, dtype="bfloat16")


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype"):
        explore_cost(dtype="float8")
