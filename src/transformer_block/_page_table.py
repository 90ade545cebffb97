"""A table in a page of the book or a notebook: it reads without style or script."""

import html
from collections.abc import Sequence

_LINE = "1px solid var(--jp-border-color2, var(--pst-color-border, currentColor))"
CELL = (
    "text-align:left;vertical-align:top;padding:0.25em 0.75em 0.25em 0;"
    f"border-bottom:{_LINE}"
)
TABLE = "border-collapse:collapse;margin:0.5em 0;font-variant-numeric:tabular-nums"


def page_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table whose rows begin with their name."""
    columns = "".join(
        f'<th scope="col" style="{CELL}">{html.escape(each)}</th>' for each in head
    )
    return (
        f'<table style="{TABLE}">'
        f'<caption style="text-align:left">{html.escape(caption)}</caption>'
        f"<thead><tr>{columns}</tr></thead>"
        f"<tbody>{''.join(map(_row, rows))}</tbody></table>"
    )


def _row(row: Sequence[str]) -> str:
    name, *cells = map(html.escape, row)
    return (
        f'<tr><th scope="row" style="{CELL};font-weight:normal">{name}</th>'
        + "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells)
        + "</tr>"
    )
