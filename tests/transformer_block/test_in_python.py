import ast
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from transformer_block import in_python
from transformer_block.config import BlockConfig
from transformer_block.in_numpy import block as numpy_block
from transformer_block.in_python import (
    EMBEDDINGS,
    TOKENS,
    attention,
    attention_weights,
    feed_forward,
    layer_norm,
    position,
    softmax,
    stages,
    walk,
)
from transformer_block.in_torch import block as torch_block
from transformer_block.parameters import initialize

# Lesson 11's table for "it", to the three decimals it prints.
TABLE = {
    "embedding": [1.400, 0.300],
    "add_position": [1.597, 0.526],
    "attention": [0.452, -0.396],
    "add_1": [2.049, 0.130],
    "norm_1": [1.000, -1.000],
    "feed_forward": [0.830, -0.470],
    "add_2": [1.830, -1.470],
    "norm_2": [1.000, -1.000],
}
SETTINGS = [
    {"causal": causal, "positions_in_attention": positions}
    for causal in (False, True)
    for positions in (False, True)
]
FROM_NORM_1 = ["norm_1", "feed_forward", "add_2", "norm_2"]


def rounded(walked):
    return {name: [round(feature, 3) for feature in vector] for name, vector in walked}


def test_the_walk_of_it_is_the_lessons_table():
    walked = walk("it")
    assert [name for name, _ in walked] == list(TABLE)
    assert rounded(walked) == TABLE


def test_it_is_walked_unless_another_token_is_asked_for():
    assert walk() == walk("it") != walk("mat")


@pytest.mark.parametrize(
    ("setting", "gathered"),
    [
        ({"causal": True}, [0.539, -0.335]),
        ({"positions_in_attention": True}, [0.686, -0.456]),
        ({"causal": True, "positions_in_attention": True}, [0.797, -0.391]),
    ],
)
def test_a_mask_and_positions_change_what_it_gathers(setting, gathered):
    assert rounded(walk(**setting))["attention"] == gathered


@pytest.mark.parametrize("setting", SETTINGS)
def test_from_the_first_norm_on_nothing_that_came_before_can_be_told(setting):
    walked = rounded(walk(**setting))
    assert {name: walked[name] for name in FROM_NORM_1} == {name: TABLE[name] for name in FROM_NORM_1}


@pytest.mark.parametrize(("causal", "left"), [(False, {(1.0, -1.0)}), (True, {(1.0, -1.0), (-1.0, 1.0)})])
def test_the_first_norm_leaves_at_most_two_different_tokens_of_ten(causal, left):
    normalized = dict(stages(causal=causal))["norm_1"]
    assert {tuple(round(feature, 1) for feature in vector) for vector in normalized} == left


def test_every_stage_holds_all_ten_tokens():
    assert {name: len(vectors) for name, vectors in stages()} == dict.fromkeys(TABLE, len(TOKENS))


def test_each_token_has_a_walk_of_its_own():
    embeddings = [dict(walk(token))["embedding"] for token in TOKENS]
    assert embeddings == EMBEDDINGS


def test_a_token_that_the_sentence_does_not_have_is_refused():
    with pytest.raises(ValueError, match="it has no 'dog'") as refusal:
        walk("dog")
    assert str(refusal.value) == (
        "the sentence is 'The cat sat on the mat because it was tired'; it has no 'dog'"
    )


def test_without_a_mask_it_looks_at_what_comes_later():
    weights = attention_weights(EMBEDDINGS)[TOKENS.index("it")]
    assert round(sum(weights[TOKENS.index("it") + 1 :]), 3) == 0.178


def test_a_causal_token_gives_nothing_to_later_ones():
    weights = np.array(attention_weights(EMBEDDINGS, causal=True))
    assert (weights[np.triu_indices(10, k=1)] == 0).all()
    assert (weights[np.tril_indices(10)] > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-15)


def test_the_first_token_of_a_causal_sentence_gathers_its_own_value():
    np.testing.assert_allclose(attention(EMBEDDINGS, causal=True)[0], [0.1, 0.0], atol=1e-15)


def test_attention_is_the_softmax_of_the_scaled_scores():
    x = np.array(EMBEDDINGS)
    q, k, v = (x @ np.array(matrix).T for matrix in (in_python.QUERY, in_python.KEY, in_python.VALUE))
    exponentials = np.exp(q @ k.T / np.sqrt(2))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(attention_weights(EMBEDDINGS), weights, atol=1e-14)
    np.testing.assert_allclose(attention(EMBEDDINGS), weights @ v, atol=1e-14)


def test_scores_are_divided_by_the_root_of_their_width():
    wide = [[3.0, 1.0], [0.0, 2.0]]
    [first, _] = attention_weights(wide)
    q, k_0, k_1 = (3.2, 1.6), (2.8, 0.4), (-0.4, 2.0)
    odds = math.exp((q[0] * (k_0[0] - k_1[0]) + q[1] * (k_0[1] - k_1[1])) / math.sqrt(2))
    assert first[0] / first[1] == pytest.approx(odds)


def test_softmax_survives_scores_that_exp_does_not():
    assert softmax([1000.0, 1000.0, -1000.0]) == [0.5, 0.5, 0.0]


def test_layer_norm_divides_by_the_number_of_features():
    expected = np.array([-3.0, -1.0, 0.0, 4.0]) / math.sqrt(6.5 + 1e-5)
    np.testing.assert_allclose(layer_norm([2.0, 4.0, 5.0, 9.0]), expected, atol=1e-15)


def test_eps_stands_inside_the_root():
    assert layer_norm([3.0, 1.0], eps=3.0) == [0.5, -0.5]
    assert layer_norm([1.0, 1.0]) == [0.0, 0.0]


def test_feed_forward_cuts_off_what_is_negative():
    assert feed_forward([0.0, 0.0]) == pytest.approx([0.5 * 0.1 + 0.2 * 0.05, -0.2 * 0.1 + 0.1 * 0.05 + 0.1])
    assert feed_forward([-10.0, 0.0]) == pytest.approx([0.2 * 5.05, 0.1 * 5.05 + 0.1])


def test_a_position_is_a_point_on_a_circle():
    assert position(0) == [0.0, 0.3]
    assert position(7) == pytest.approx([0.3 * math.sin(7), 0.3 * math.cos(7)])


@pytest.mark.parametrize("twin", [numpy_block, torch_block])
@pytest.mark.parametrize("causal", [False, True])
def test_with_positions_in_attention_it_is_a_post_norm_block_of_either_twin(causal, twin):
    config = BlockConfig(d_model=2, n_heads=1, d_ff=4, placement="post", causal=causal)
    parameters = initialize(config, seed=0) | {
        "attention.qkv.weight": np.array(in_python.QUERY + in_python.KEY + in_python.VALUE),
        "attention.out.weight": np.eye(2),
        "feed_forward.up.weight": np.array(in_python.UP),
        "feed_forward.up.bias": np.array(in_python.UP_BIAS),
        "feed_forward.down.weight": np.array(in_python.DOWN),
        "feed_forward.down.bias": np.array(in_python.DOWN_BIAS),
    }
    ours = dict(stages(causal=causal, positions_in_attention=True))
    placed = np.array(ours["add_position"])
    x = torch.tensor(placed) if twin is torch_block else placed
    theirs = dict(twin.Block(config, parameters).stages(x))
    assert list(ours) == ["embedding", "add_position", *theirs]
    for name, value in theirs.items():
        actual = value.detach().numpy() if twin is torch_block else value
        np.testing.assert_allclose(ours[name], actual, atol=1e-12, err_msg=name)


def test_it_needs_nothing_but_the_standard_library():
    tree = ast.parse(Path(in_python.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_the_file_runs_where_nothing_is_installed():
    show = f"import runpy; print(runpy.run_path({in_python.__file__!r})['walk']()[-1][0])"
    command = [sys.executable, "-I", "-S", "-c", show]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "norm_2\n"
