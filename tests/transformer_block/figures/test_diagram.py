"""A drawn block has the boxes and the arrows of its graph, each arrow from box to box."""

import itertools

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from transformer_block.config import CHOICES, BlockConfig
from transformer_block.figures.diagram import diagram, diagrams
from transformer_block.figures.style import WIDTH, BookFigure
from transformer_block.graph import Graph, graph


def block(placement: str = "pre", *, cross_attention: bool = False) -> Graph:
    return graph(
        BlockConfig(
            d_model=6,
            n_heads=3,
            d_ff=10,
            placement=placement,  # type: ignore[arg-type]
            cross_attention=cross_attention,
        )
    )


def words(axes: Axes) -> dict[str, tuple[float, float]]:
    """Where each text stands, a broken name made whole."""
    return {text.get_text().replace("\n", ""): text.get_position() for text in axes.texts}


def arrows(axes: Axes) -> dict[str, np.ndarray]:
    """The corners of each arrow by its name, source-target."""
    found = {}
    for patch in axes.patches:
        if isinstance(patch, FancyArrowPatch):
            found[patch.get_gid() or ""] = np.asarray(patch._path_original.vertices)  # type: ignore[attr-defined]
    return found


def adds(axes: Axes) -> list[tuple[float, float]]:
    marks = [np.asarray(line.get_xydata()) for line in axes.lines]
    return [(float(mark[0, 0]), float(mark[0, 1])) for mark in marks]


@pytest.mark.parametrize("placement", CHOICES["placement"])
def test_each_edge_of_the_graph_is_one_arrow(placement: str) -> None:
    boxes = block(placement)

    (axes,) = diagram(boxes).axes

    expected = {f"{edge.source}-{edge.target}" for edge in boxes.edges}
    assert set(arrows(axes)) == expected | {f"{boxes.nodes[-1].name}-y"}


def test_the_second_residual_starts_after_the_first_add() -> None:
    (axes,) = diagram(block()).axes

    first, second = adds(axes)
    skip = arrows(axes)["add_1-add_2"]

    assert skip[0, 0] == skip[-1, 0] == first[0] == second[0]
    assert first[1] > skip[0, 1] > skip[-1, 1] > second[1]
    assert (arrows(axes)["add_1-norm_2"][:, 1] < first[1]).all()


@pytest.mark.parametrize("placement", CHOICES["placement"])
def test_the_stream_runs_straight_down(placement: str) -> None:
    boxes = block(placement)
    (axes,) = diagram(boxes).axes

    for above, below in itertools.pairwise(boxes.stream):
        (x_start, y_start), (x_end, y_end) = arrows(axes)[f"{above}-{below}"]

        assert x_start == x_end == words(axes)["x"][0]
        assert y_start > y_end


def test_boxes_carry_the_names_of_stages_and_adds_stand_on_the_stream() -> None:
    (axes,) = diagram(block()).axes

    assert {"x", "norm_1", "attention", "norm_2", "feed_forward", "+", "y", "add_1", "add_2"} == {
        word for word in words(axes) if word
    }
    assert {x for x, _ in adds(axes)} == {words(axes)["x"][0]}


def test_a_note_stands_beside_its_box() -> None:
    (axes,) = diagram(block(), {"attention": "(4, 6)", "add_2": "(4, 7)", "x": "(4, 8)"}).axes

    found = words(axes)
    assert found["(4, 6)"][1] == found["attention"][1]
    assert found["(4, 6)"][0] > found["attention"][0]
    assert found["(4, 8)"][0] < found["x"][0]
    assert "add_2  (4, 7)" in found


def test_a_memory_stands_beside_the_cross_attention_that_reads_it() -> None:
    (axes,) = diagram(block(cross_attention=True)).axes

    start, end = arrows(axes)["memory-cross_attention"]

    assert start[1] == end[1] == words(axes)["cross_attention"][1]
    assert words(axes)["memory"][0] > start[0] > end[0] > words(axes)["cross_attention"][0]


def test_parallel_branches_stand_side_by_side() -> None:
    found = words(diagram(block("parallel")).axes[0])

    assert found["attention"][1] == found["feed_forward"][1]
    assert found["attention"][0] < found["feed_forward"][0]


def four() -> BookFigure:
    return diagrams({title: block(title) for title in CHOICES["placement"]})


def test_each_block_of_several_stands_under_its_title() -> None:
    assert [each.texts[-1].get_text() for each in four().axes] == list(CHOICES["placement"])


def test_blocks_side_by_side_stay_on_the_page_and_apart() -> None:
    pre, post, sandwich, parallel = (each.get_position() for each in four().axes)

    for box in (pre, post, sandwich, parallel):
        assert min(box.x0, box.y0) >= 0
        assert max(box.x1, box.y1) <= 1 + 1e-9
    assert pre.x1 <= post.x0
    assert sandwich.x1 <= parallel.x0
    assert sandwich.y1 <= pre.y0 + 1e-9


@pytest.mark.parametrize("columns", [2, 3])
def test_names_fit_into_their_boxes(columns: int) -> None:
    drawing = diagrams({title: block(title) for title in ("pre", "post", "sandwich")}, columns)
    drawing.canvas.draw()

    for axes in drawing.axes:
        boxes = [p.get_window_extent() for p in axes.patches if isinstance(p, FancyBboxPatch)]
        named = [t.get_window_extent() for t in axes.texts if t.get_color() == "white"]
        assert len(boxes) == len(named) > 0
        for box, name in zip(boxes, named, strict=True):
            assert box.x0 <= name.x0
            assert name.x1 <= box.x1


def test_more_blocks_than_a_page_is_wide_are_refused() -> None:
    with pytest.raises(ValueError, match="5 blocks are too wide for one row"):
        diagrams({str(i): block() for i in range(5)}, columns=5)


def test_a_figure_is_as_wide_as_a_page() -> None:
    assert four().get_figwidth() == WIDTH
