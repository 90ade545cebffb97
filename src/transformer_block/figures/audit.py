"""What an audit found in several blocks, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transformer_block.figures.style import (
    ATTENTION,
    MASKED,
    BookFigure,
    figure,
    styled,
)


@styled
def findings(
    broken: Mapping[str, Sequence[str]], contracts: Sequence[str]
) -> BookFigure:
    """Draw a row for each block: a square where it breaks a contract, else a dot."""
    drawing = figure(0.27 * len(broken) + 1.5)
    axes = drawing.subplots()
    places = {contract: x for x, contract in enumerate(contracts)}
    marked = [
        (places[contract], y)
        for y, names in enumerate(broken.values())
        for contract in names
    ]
    dots = [(x, y) for y in range(len(broken)) for x in places.values()]
    quiet = [place for place in dots if place not in marked]
    for kind, spots, marker, size, color in (
        ("broken", marked, "s", 7.0, ATTENTION),
        ("not broken", quiet, ".", 2.5, MASKED),
    ):
        across, down = zip(*spots, strict=True) if spots else ((), ())
        axes.plot(across, down, marker, color=color, ms=size, label=kind)
    axes.set_xticks(range(len(contracts)), contracts, rotation=90)
    axes.set_yticks(range(len(broken)), [name.replace("_", " ") for name in broken])
    axes.xaxis.tick_top()
    axes.set(xlim=(-0.6, len(contracts) - 0.4), ylim=(len(broken) - 0.4, -0.6))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing
