"""The diagram of a block, drawn from its graph: the stream straight down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from transformer_block.figures.style import (
    ATTENTION,
    FEED_FORWARD,
    INK,
    MUTED,
    NORM,
    PAPER,
    STREAM,
    WIDTH,
    BookFigure,
    figure,
    styled,
)
from transformer_block.graph import Edge, Graph, Node, depths

COLORS = {
    "input": INK,
    "norm": NORM,
    "attention": ATTENTION,
    "feed_forward": FEED_FORWARD,
    "add": STREAM,
}
# All lengths are inches, in the drawings' own coordinates too.
STEP, BOX_HEIGHT, RADIUS, GAP, EDGE = 0.52, 0.34, 0.13, 0.3, 0.1
WIDEST, NARROWEST, LETTER = 1.24, 0.7, 0.074


@dataclass(frozen=True)
class Layout:
    """Where the boxes of one graph stand, and how wide they are."""

    box: float
    centers: Mapping[str, tuple[float, float]]
    stream: tuple[str, ...]

    def half(self, node: Node) -> float:
        """Half of a box's width; inputs are bare words and adds are circles."""
        if node.kind == "add":
            return RADIUS
        if node.kind == "input":
            return (len(node.name) * LETTER + 0.2) / 2
        return self.box / 2


@styled
def diagram(graph: Graph, notes: Mapping[str, str] | None = None) -> BookFigure:
    """One block with the names of its adds, and notes beside boxes, by their names."""
    layout = _layout(graph, WIDEST, room=1.65)
    height = _height([graph], title=0)
    drawing, axes = _sheet(height, [(0.0, 0.0, WIDTH, height)])
    _draw(axes[0], graph, layout)
    for node in graph.nodes:
        _annotate(axes[0], node, layout, (notes or {}).get(node.name, ""))
    return drawing


@styled
def diagrams(graphs: Mapping[str, Graph], columns: int = 2) -> BookFigure:
    """Blocks side by side, each below its title, in rows of so many columns."""
    titles = list(graphs)
    rows = [titles[i : i + columns] for i in range(0, len(titles), columns)]
    heights = [_height([graphs[t] for t in row], title=0.35) for row in rows]
    boxes, layouts, top = [], [], sum(heights)
    for row, height in zip(rows, heights, strict=True):
        fitted = _fitted([graphs[title] for title in row])
        spare = (WIDTH - sum(map(_width, fitted))) / len(row)
        left, top = spare / 2, top - height
        for layout in fitted:
            boxes.append((left, top, _width(layout), height))
            left += _width(layout) + spare
        layouts += fitted
    drawing, axes = _sheet(sum(heights), boxes)
    for each, title, layout in zip(axes, titles, layouts, strict=True):
        _draw(each, graphs[title], layout)
        each.text(EDGE, 0.38, title, va="center", fontsize=10.5)
    return drawing


def _layout(graph: Graph, box: float, room: float = 0.0) -> Layout:
    """Stream boxes in one column; branches by their depth, in the columns beside it.

    Branches of one depth stand side by side in order, a memory beside its reader. room
    is left free on the other side of the stream.
    """
    depth, stream = depths(graph), graph.stream
    wide = any(node.name in stream and node.kind == "norm" for node in graph.nodes)
    half = box / 2 if wide else RADIUS
    margin = max(room, EDGE) + half
    beside = margin + half + GAP + box / 2
    centers, taken = {}, dict.fromkeys(depth.values(), 0)
    # what reads nothing comes last, so that its reader has the nearer column
    for node in sorted(graph.nodes, key=lambda node: not graph.into(node.name)):
        row, x = depth[node.name], margin
        if node.name not in stream:
            readers = [e.target for e in graph.edges if e.source == node.name]
            if not graph.into(node.name):
                row = depth[readers[0]]
            x = beside + taken[row] * (box + GAP / 2)
            taken[row] += 1
        centers[node.name] = x, -STEP * row
    return Layout(box, centers, stream)


def _fitted(graphs: list[Graph]) -> list[Layout]:
    """Lay blocks out side by side with the widest boxes that the page has room for."""
    box = WIDEST
    while sum(_width(_layout(each, box)) for each in graphs) > WIDTH:
        box -= 0.01
        if box < NARROWEST:
            raise ValueError(f"{len(graphs)} blocks are too wide for one row")
    return [_layout(each, box) for each in graphs]


def _width(layout: Layout) -> float:
    return max(x for x, _ in layout.centers.values()) + layout.box / 2 + EDGE


def _height(graphs: list[Graph], title: float) -> float:
    rows = max(max(depths(graph).values()) for graph in graphs)
    return rows * STEP + title + 0.85


def _sheet(
    height: float, boxes: list[tuple[float, float, float, float]]
) -> tuple[BookFigure, list[Axes]]:
    """Make axes whose coordinates are inches; the input of each block is at y = 0."""
    drawing = figure(height)
    drawing.set_layout_engine("none")
    found = []
    for left, bottom, width, tall in boxes:
        axes = drawing.add_axes(
            (left / WIDTH, bottom / height, width / WIDTH, tall / height)
        )
        axes.set_axis_off()
        top = 0.25 if len(boxes) == 1 else 0.6
        axes.set(xlim=(0, width), ylim=(top - tall, top))
        found.append(axes)
    return drawing, found


def _draw(axes: Axes, graph: Graph, layout: Layout) -> None:
    nodes = {node.name: node for node in graph.nodes}
    for edge in graph.edges:
        on_stream = {edge.source, edge.target} <= set(layout.stream)
        _arrow(
            axes, _route(edge, nodes, layout), f"{edge.source}-{edge.target}", on_stream
        )
    last = graph.nodes[-1]
    x, y = layout.centers[last.name]
    down = y - _half_height(last)
    _arrow(axes, [(x, down), (x, down - 0.3)], f"{last.name}-y", on_stream=True)
    axes.text(x, down - 0.4, "y", ha="center", va="center", fontsize=10)
    for node in graph.nodes:
        _box(axes, node, layout)


def _route(
    edge: Edge, nodes: Mapping[str, Node], layout: Layout
) -> list[tuple[float, float]]:
    """The corners of an arrow: reads leave sideways, updates come in sideways."""
    source, target = nodes[edge.source], nodes[edge.target]
    (xs, ys), (xt, yt) = layout.centers[source.name], layout.centers[target.name]
    above = yt + _half_height(target)
    if xs == xt:
        return [(xs, ys - _half_height(source)), (xt, above)]
    if ys == yt:
        return [(xs - layout.half(source), ys), (xt + layout.half(target), yt)]
    if edge.role == "update":
        return [
            (xs, ys - _half_height(source)),
            (xs, yt),
            (xt + layout.half(target), yt),
        ]
    tap = yt + STEP / 2
    return [(xs, tap), (xt, tap), (xt, above)]


def _half_height(node: Node) -> float:
    return {"add": RADIUS, "input": 0.11}.get(node.kind, BOX_HEIGHT / 2)


def _arrow(
    axes: Axes, corners: list[tuple[float, float]], name: str, on_stream: bool
) -> None:
    color, width = (STREAM, 2.4) if on_stream else (MUTED, 1.3)
    arrow = FancyArrowPatch(
        path=Path(corners),
        arrowstyle="-|>,head_width=3,head_length=5",
        color=color,
        lw=width,
        shrinkA=0,
        shrinkB=0,
        joinstyle="miter",
        capstyle="butt",
    )
    arrow.set_gid(name)
    axes.add_patch(arrow)


def _box(axes: Axes, node: Node, layout: Layout) -> None:
    x, y = layout.centers[node.name]
    if node.kind == "add":
        axes.plot(x, y, "o", ms=2 * 72 * RADIUS, mfc=PAPER, mec=STREAM, mew=1.8)
        axes.text(x, y, "+", ha="center", va="center_baseline", fontsize=13)
        return
    label, color = node.name, INK
    if node.kind != "input":
        half, color = layout.half(node), "white"
        axes.add_patch(
            FancyBboxPatch(
                (x - half, y - BOX_HEIGHT / 2),
                2 * half,
                BOX_HEIGHT,
                boxstyle="round,pad=0,rounding_size=0.05",
                color=COLORS[node.kind],
                lw=0,
            )
        )
        if len(label) * LETTER > 2 * half:
            label = "_\n".join(label.rsplit("_", 1))
    axes.text(
        x, y, label, ha="center", va="center", fontsize=9, color=color, linespacing=0.95
    )


def _annotate(axes: Axes, node: Node, layout: Layout, note: str) -> None:
    x, y = layout.centers[node.name]
    if node.name in layout.stream:
        label = f"{node.name}  {note}".strip() if node.kind == "add" else note
        axes.text(x - layout.half(node) - 0.12, y, label, ha="right", va="center")
    else:
        axes.text(x + layout.half(node) + 0.12, y, note, va="center")
