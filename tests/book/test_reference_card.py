"""What the reference card says is what the package has."""

import re
from math import prod

import numpy as np
import pytest

from transformer_block.config import BlockConfig
from transformer_block.in_numpy.activations import silu, silu_backward
from transformer_block.in_numpy.feed_forward import feed_forward_backward
from transformer_block.in_numpy.rms_norm import rms_norm_backward
from transformer_block.in_numpy.scaled_dot_product import (
    attention_weights,
    scaled_dot_product_attention_backward,
)
from transformer_block.parameters import shapes
from transformer_block.presets import preset

from .conftest import COURSE

CARD = (COURSE / "chapters" / "reference_card.md").read_text(encoding="utf-8")
COLUMNS = {
    "teaching": "teaching",
    "GPT-2 small": "gpt2",
    "GPT-3": "gpt3",
    "BERT base": "bert",
    "Llama 7B": "llama",
}
WORDS = {
    "layer_norm": "layer",
    "rms_norm": "RMS",
    "relu": "ReLU",
    "gelu": "GELU",
    "gelu_tanh": "GELU (tanh)",
    "swiglu": "SwiGLU",
    True: "yes",
    False: "no",
}


def rows_of(first_cell: str) -> dict[str, list[str]]:
    """The rows of the table whose head has this cell, by their own first cells."""
    table = next(block for block in CARD.split("\n\n") if re.search(rf"\A\|.*\| {first_cell} \|", block))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:] for row in cells}


def count(config: BlockConfig, part: str = "") -> int:
    return sum(prod(shape) for name, shape in shapes(config).items() if name.startswith(part))


def formula(text: str, config: BlockConfig) -> int:
    """Evaluate a count as the card writes it."""
    python = re.sub(r"(?<=[\dA-Z])(?=[A-Z])", "*", text.replace("$", "")).replace("^", "**")
    return int(eval(python, {"D": config.d_model, "F": config.d_ff}))


@pytest.mark.parametrize("column", COLUMNS)
def test_each_column_of_the_models_is_its_preset(column: str) -> None:
    table, config = rows_of("teaching"), preset(COLUMNS[column])
    place = table["choice"].index(column)
    said = {name: row[place].replace(",", "") for name, row in table.items()}

    assert said["$D$, $H$, $K$"] == f"{config.d_model} {config.n_heads} {config.head_width}"
    assert said["$F$"] == str(config.d_ff)
    assert said["$L$"] == str(config.n_layers)
    assert said["placement"] == config.placement
    norm, eps = said["norm, $\\varepsilon$"].split()
    assert (norm, float(eps)) == (WORDS[config.norm], config.eps)
    assert said["activation"] == WORDS[config.activation]
    assert said["positions"] in ({"rotary"} if config.positions == "rotary" else {"none", "learned"})
    assert said["causal"] == WORDS[config.causal]
    assert said["biases"] == WORDS[config.attention_bias] == WORDS[config.feed_forward_bias]
    assert said["one block"] == str(count(config))
    assert said["all blocks"] == str(config.n_layers * count(config))


def test_the_formulas_of_the_counts_hold() -> None:
    gpt2, llama = preset("gpt2"), preset("llama")
    with_biases, four_times, without = re.findall(r"\$(\d+D\^2\+[^$]*)\$", CARD.partition("**Parameters")[2])

    assert formula(with_biases, gpt2) == formula(four_times, gpt2) == count(gpt2)
    assert formula(without, llama) == count(llama)


@pytest.mark.parametrize(
    ("part", "name", "tensors"),
    [
        ("layer norm", "gpt2", "norm_1"),
        ("RMS norm", "llama", "norm_1"),
        ("attention", "gpt2", "attention"),
        ("feed-forward", "gpt2", "feed_forward"),
        ("SwiGLU", "llama", "feed_forward"),
    ],
)
def test_each_part_has_the_parameters_that_the_card_counts(part: str, name: str, tensors: str) -> None:
    config = preset(name)

    assert formula(rows_of("forward")[part][-1], config) == count(config, tensors)


def test_every_large_integer_stands_in_a_table_that_is_recomputed() -> None:
    outside = "\n".join(line for line in CARD.splitlines() if not line.startswith("|"))

    assert re.findall(r"\d{3,}|\d,\d{3}", outside) == []


def test_the_backward_rule_of_attention_is_the_packages() -> None:
    rng = np.random.default_rng(0)
    q, do = rng.normal(size=(2, 2, 5, 4))
    k, v = rng.normal(size=(2, 2, 3, 4))
    a = attention_weights(q, k)

    dv, da = a.mT @ do, do @ v.mT
    dz = a * (da - (a * da).sum(-1, keepdims=True)) / 4**0.5

    expected = scaled_dot_product_attention_backward(do, q, k, v)
    for mine, theirs in zip((dz @ k, dz.mT @ q, dv), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_the_backward_rule_of_swiglu_is_the_packages() -> None:
    rng = np.random.default_rng(1)
    x, dy = rng.normal(size=(2, 3, 4))
    w1, w3, w2 = rng.normal(size=(5, 4)), rng.normal(size=(5, 4)), rng.normal(size=(4, 5))
    u, v = x @ w1.T, x @ w3.T

    dm = dy @ w2
    du, dv = silu_backward(np.ones_like(u), u) * v * dm, silu(u) * dm

    theirs = feed_forward_backward(dy, x, w3, None, w2, None, gate=w1, activation="swiglu")
    np.testing.assert_allclose(du @ w1 + dv @ w3, theirs[0], rtol=1e-12, atol=1e-12)


def test_the_backward_rule_of_rms_norm_is_the_packages() -> None:
    rng = np.random.default_rng(2)
    x, dy, gamma = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=4)
    r = np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    n, g = x / r, gamma * dy

    dx = (g - n * (g * n).mean(-1, keepdims=True)) / r

    np.testing.assert_allclose(dx, rms_norm_backward(dy, x, gamma, eps=1e-6)[0], rtol=1e-12, atol=1e-12)
