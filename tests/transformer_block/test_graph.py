"""The graph of a block is the block's: its boxes are stages, its arrows what each one reads."""

import numpy as np
import pytest

from transformer_block.config import BlockConfig, Placement
from transformer_block.graph import Edge, depths, graph, paths
from transformer_block.in_numpy.block import Block
from transformer_block.parameters import initialize, perturb

PRE = {
    ("x", "norm_1", "read"),
    ("norm_1", "attention", "read"),
    ("x", "add_1", "stream"),
    ("attention", "add_1", "update"),
    ("add_1", "norm_2", "read"),
    ("norm_2", "feed_forward", "read"),
    ("add_1", "add_2", "stream"),
    ("feed_forward", "add_2", "update"),
}
POST = {
    ("x", "attention", "read"),
    ("x", "add_1", "stream"),
    ("attention", "add_1", "update"),
    ("add_1", "norm_1", "read"),
    ("norm_1", "feed_forward", "read"),
    ("norm_1", "add_2", "stream"),
    ("feed_forward", "add_2", "update"),
    ("add_2", "norm_2", "read"),
}
SANDWICH = {
    ("x", "norm_1", "read"),
    ("norm_1", "attention", "read"),
    ("attention", "norm_1_out", "read"),
    ("x", "add_1", "stream"),
    ("norm_1_out", "add_1", "update"),
    ("add_1", "norm_2", "read"),
    ("norm_2", "feed_forward", "read"),
    ("feed_forward", "norm_2_out", "read"),
    ("add_1", "add_2", "stream"),
    ("norm_2_out", "add_2", "update"),
}
PARALLEL = {
    ("x", "norm_1", "read"),
    ("norm_1", "attention", "read"),
    ("norm_1", "feed_forward", "read"),
    ("x", "add_1", "stream"),
    ("attention", "add_1", "update"),
    ("add_1", "add_2", "stream"),
    ("feed_forward", "add_2", "update"),
}
ALL: dict[Placement, set[tuple[str, str, str]]] = {
    "pre": PRE,
    "post": POST,
    "sandwich": SANDWICH,
    "parallel": PARALLEL,
}
RNG = np.random.default_rng(5)


def config(placement: Placement = "pre", *, cross_attention: bool = False) -> BlockConfig:
    return BlockConfig(d_model=6, n_heads=3, d_ff=10, placement=placement, cross_attention=cross_attention)


def triples(edges: tuple[Edge, ...]) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.role) for edge in edges]


@pytest.mark.parametrize(("placement", "expected"), ALL.items())
def test_the_arrows_are_those_of_the_placement(
    placement: Placement, expected: set[tuple[str, str, str]]
) -> None:
    found = triples(graph(config(placement)).edges)

    assert len(found) == len(expected)
    assert set(found) == expected


@pytest.mark.parametrize("placement", ALL)
def test_the_boxes_are_x_and_then_the_stages_that_the_block_yields(placement: Placement) -> None:
    chosen = config(placement)
    block = Block(chosen, initialize(chosen, 0))
    stages = [name for name, _ in block.stages(RNG.normal(size=(4, 6)))]

    assert [node.name for node in graph(chosen).nodes] == ["x", *stages]


def test_a_decoder_block_reads_its_memory_in_cross_attention_alone() -> None:
    boxes = graph(config(cross_attention=True))

    assert triples(boxes.into("cross_attention")) == [
        ("norm_2", "cross_attention", "read"),
        ("memory", "cross_attention", "read"),
    ]
    assert [edge.target for edge in boxes.edges if edge.source == "memory"] == ["cross_attention"]
    assert boxes.stream == ("x", "add_1", "add_2", "add_3")


@pytest.mark.parametrize(
    ("placement", "stream"),
    [
        ("pre", ("x", "add_1", "add_2")),
        ("post", ("x", "add_1", "norm_1", "add_2", "norm_2")),
        ("sandwich", ("x", "add_1", "add_2")),
        ("parallel", ("x", "add_1", "add_2")),
    ],
)
def test_only_post_norm_has_norms_on_the_stream(placement: Placement, stream: tuple[str, ...]) -> None:
    assert graph(config(placement)).stream == stream


@pytest.mark.parametrize("placement", ALL)
def test_values_along_the_arrows_give_the_block_again(placement: Placement) -> None:
    chosen = config(placement)
    block = Block(chosen, perturb(initialize(chosen, 1), 2))
    x = RNG.normal(size=(4, 6))
    value = {"x": x} | dict(block.stages(x))

    for node in graph(chosen).nodes:
        if node.kind == "add":
            stream, update = graph(chosen).into(node.name)
            np.testing.assert_array_equal(value[node.name], value[stream.source] + value[update.source])


def test_each_box_says_what_kind_it_is() -> None:
    kinds = {node.name: node.kind for node in graph(config(cross_attention=True)).nodes}

    assert kinds == {
        "x": "input",
        "norm_1": "norm",
        "attention": "attention",
        "add_1": "add",
        "norm_2": "norm",
        "memory": "input",
        "cross_attention": "attention",
        "add_2": "add",
        "norm_3": "norm",
        "feed_forward": "feed_forward",
        "add_3": "add",
    }


def test_depth_is_the_longest_way_from_an_input() -> None:
    assert depths(graph(config("parallel"))) == {
        "x": 0,
        "norm_1": 1,
        "attention": 2,
        "feed_forward": 2,
        "add_1": 3,
        "add_2": 4,
    }


def test_a_pre_norm_block_has_four_ways_through_and_one_is_only_adds() -> None:
    ways = sorted(paths(graph(config())), key=len)

    assert ways[0] == ("x", "add_1", "add_2")
    assert set(ways[1:]) == {
        ("x", "norm_1", "attention", "add_1", "add_2"),
        ("x", "add_1", "norm_2", "feed_forward", "add_2"),
        ("x", "norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2"),
    }
    assert len(ways) == 4


def test_no_way_through_a_post_norm_block_avoids_its_norms() -> None:
    ways = list(paths(graph(config("post"))))

    assert len(ways) == 4
    assert all({"norm_1", "norm_2"} <= set(way) for way in ways)


def test_ways_from_a_memory_are_not_ways_from_x() -> None:
    assert all(way[0] == "x" and "memory" not in way for way in paths(graph(config(cross_attention=True))))
