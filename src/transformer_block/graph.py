"""A block as a graph: its boxes and what each of them reads.

The graph is not written down beside the block. The block's own join rule is run once
with boxes in the place of arrays, and each part notes what it was called with. So the
diagram of a block can't show an edge that the block doesn't have.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from transformer_block import joins
from transformer_block.config import BlockConfig
from transformer_block.joins import Sublayer

Kind = Literal["input", "norm", "attention", "feed_forward", "add"]
Role = Literal["read", "stream", "update"]


@dataclass(frozen=True)
class Node:
    """A box: the name of a stage, or `x` or `memory`, which come from outside."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Edge:
    """An arrow. An add has two: the `stream` that was there, and the `update` to it."""

    source: str
    target: str
    role: Role


@dataclass(frozen=True)
class Graph:
    """Boxes in the order in which they are computed, and arrows in the same order."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def into(self, name: str) -> tuple[Edge, ...]:
        """The arrows that end in a box."""
        return tuple(edge for edge in self.edges if edge.target == name)

    @property
    def stream(self) -> tuple[str, ...]:
        """The boxes on the residual stream, from x to the last.

        Walked backward: from an add to the stream that it was given, from any other box
        to what it reads. A branch is what this walk leaves out.
        """
        walk = [self.nodes[-1].name]
        while before := self.into(walk[-1]):
            walk.append(before[0].source)
        return tuple(reversed(walk))


def graph(config: BlockConfig) -> Graph:
    """Run a block's join rule on boxes, and keep what each box was called with.

    Nodes are x, then the stages of the block; a decoder block's memory stands before
    the cross-attention that reads it.
    """
    nodes, edges = [Node("x", "input")], []

    def add(name: str, x: str, update: str) -> str:
        nodes.append(Node(name, "add"))
        edges.append(Edge(x, name, "stream"))
        edges.append(Edge(update, name, "update"))
        return name

    def read(name: str, kind: Kind, x: str) -> str:
        if name == "cross_attention":
            nodes.append(Node("memory", "input"))
        nodes.append(Node(name, kind))
        edges.append(Edge(x, name, "read"))
        if name == "cross_attention":
            edges.append(Edge("memory", name, "read"))
        return name

    sublayers = [
        Sublayer(
            name=branch,
            norm=partial(read, f"norm_{number}", "norm"),
            branch=partial(read, branch, _kind(branch)),
            norm_out=partial(read, f"norm_{number}_out", "norm"),
            add=partial(add, f"add_{number}"),
        )
        for number, branch in enumerate(config.branches, start=1)
    ]
    joins.last(joins.JOINS[config.placement]("x", sublayers))
    return Graph(tuple(nodes), tuple(edges))


def depths(graph: Graph) -> dict[str, int]:
    """How many arrows the longest way from an input to each box has."""
    depth: dict[str, int] = {}
    for node in graph.nodes:
        before = (depth[edge.source] for edge in graph.into(node.name))
        depth[node.name] = 1 + max(before, default=-1)
    return depth


def paths(graph: Graph) -> Iterator[tuple[str, ...]]:
    """Every way from x to the last box, as the boxes that it passes."""
    waiting: list[tuple[str, ...]] = [(graph.nodes[-1].name,)]
    while waiting:
        path = waiting.pop()
        if path[0] == "x":
            yield path
        waiting += [(edge.source, *path) for edge in graph.into(path[0])]


def _kind(branch: str) -> Kind:
    return "feed_forward" if branch == "feed_forward" else "attention"
