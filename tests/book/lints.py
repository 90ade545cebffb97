"""What a chapter must not hold: mute figures, long or plotting cells, numbers from nowhere, loose words."""

import ast
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

Notebook = dict[str, Any]
Cell = dict[str, Any]

MOST_LINES = 10
LEVELS = (
    "Intuition",
    "Mechanics",
    "Mathematics and code",
    "Research and systems",
    "Carry forward",
    "Recall",
    "Where this comes from",
)
FEWEST_QUESTIONS = 3
PROMISES = ("**The question.**", "*You need*", "*It takes*")
# words that carry no load, as whole words
LOOSE = (
    *(
        "crucial",
        "essential",
        "essentially",
        "powerful",
        "simply",
        "just",
        "note that",
        "let's",
        "dive",
        "delve",
    ),
    *("it is important to", "unlock", "journey", "under the hood", "magic", "in conclusion", "as we can see"),
)
_DRAWING = {
    *("plot", "scatter", "imshow", "bar", "barh", "hist", "pcolormesh", "subplots", "savefig", "set_title"),
    *(
        "set_xlabel",
        "set_ylabel",
        "annotate",
        "semilogx",
        "semilogy",
        "loglog",
        "axhline",
        "axvline",
        "legend",
    ),
}
_DRAWING_LIBRARIES = {"matplotlib", "pylab", "seaborn", "plotly", "bokeh", "altair"}

# not prose: directives and fences, mathematics, code, HTML tags, the target of a link, roles
_ASIDE = re.compile(
    r"^(?P<fence>(?:`{3,}|:{3,}|~{3,})).*?^(?P=fence)\s*$|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`|<[^>\n]+>|\]\([^)\s]*\)",
    re.DOTALL | re.MULTILINE,
)
_ROLE = re.compile(r"\{[\w:]+\}`[^`]*`")
_CITED = re.compile(r"\{cite:\w+\}`")
# a decimal, or an integer with or without commas, that is no part of a name like GPT-2
_NUMBER = re.compile(r"(?<![\w.,/–-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/])(?!-\w)(?![.,]\d)")
_PRINTED = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+(?:e[+-]?\d+)?|\d+\.", re.IGNORECASE)
_YEAR = range(1900, 2100)


def chapter_faults(notebook: Notebook) -> list[str]:
    """Describe every fault of a chapter, each in a line that begins with the cell's id."""
    return [*page_faults(notebook), *_order_faults(notebook["cells"])]


def page_faults(notebook: Notebook) -> list[str]:
    """Describe the faults that no page may have, whatever its sections are."""
    cells: list[Cell] = notebook["cells"]
    return [
        *(fault for cell in cells if cell["cell_type"] == "code" for fault in _code_faults(cell)),
        *(fault for cell in cells if cell["cell_type"] == "code" for fault in _figure_faults(cell)),
        *_number_faults(cells),
        *_caption_faults(cells),
        *(fault for cell in cells if cell["cell_type"] == "markdown" for fault in word_faults(cell)),
        *_heading_faults(cells),
    ]


def _source(cell: Cell) -> str:
    return "".join(cell["source"])


def _code_faults(cell: Cell) -> Iterator[str]:
    lines = [line for line in _source(cell).splitlines() if line.strip()]
    if len(lines) > MOST_LINES:
        yield f"{cell['id']}: {len(lines)} lines of code, at most {MOST_LINES}"
    for node in ast.walk(ast.parse(_source(cell))):
        for name in _drawing(node):
            yield f"{cell['id']}: draws with {name}; figures belong to the package"


def _drawing(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
        yield from (module for module in modules if module.split(".")[0] in _DRAWING_LIBRARIES)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DRAWING:
        yield node.func.attr


def _figure_faults(cell: Cell) -> Iterator[str]:
    if not any("image/svg+xml" in output.get("data", {}) for output in cell["outputs"]):
        return
    mystnb = cell["metadata"].get("mystnb", {})
    caption = mystnb.get("figure", {}).get("caption", "")
    if "?" not in caption:
        yield f"{cell['id']}: a figure whose caption asks no question: {caption[:60]!r}"
    if not mystnb.get("figure", {}).get("name", "").startswith("fig-"):
        yield f"{cell['id']}: a figure without a name that begins with fig-"
    if len(mystnb.get("image", {}).get("alt", "").split()) < 5:
        yield f"{cell['id']}: a figure without authored alt text"


def _prose(text: str) -> str:
    return _ASIDE.sub(" ", _ROLE.sub(_keep_citation, text))


def _keep_citation(role: re.Match[str]) -> str:
    return "⟨cite⟩" if _CITED.match(role.group()) else " "


def _outputs(cells: list[Cell]) -> str:
    printed = []
    for cell in cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            printed += ["".join(output.get("text", ""))]
            printed += ["".join(data[kind]) for kind in ("text/plain", "text/html") if kind in data]
    return "\n".join(printed)


def printed_numbers(cells: list[Cell]) -> set[Decimal]:
    """Collect every number that the cells print."""
    return {value(number) for number in _PRINTED.findall(_outputs(cells))}


def value(number: str) -> Decimal:
    """Give a number as a text writes it, so that 2.50 and 2.5 are the same."""
    return Decimal(number.replace(",", "")).normalize()


def claims(text: str) -> Iterator[tuple[str, str]]:
    """Give each number that must come from a cell, with its sentence; a cited sentence answers for itself."""
    for sentence in re.split(r"(?<=[.!?:])\s+|\n\n", _prose(text)):
        for number in _NUMBER.findall(sentence) if "⟨cite⟩" not in sentence else ():
            year = int(value(number)) in _YEAR and not {",", "."} & set(number)
            if "." in number or (value(number) > 99 and not year):
                yield number, sentence.strip()


def _number_faults(cells: list[Cell]) -> Iterator[str]:
    printed = printed_numbers(cells)
    for cell in (cell for cell in cells if cell["cell_type"] == "markdown"):
        for number, sentence in claims(_source(cell)):
            if value(number) not in printed:
                yield f"{cell['id']}: no cell prints {number}: {sentence[:70]!r}"


def _caption_faults(cells: list[Cell]) -> Iterator[str]:
    printed = printed_numbers(cells)
    for cell in cells:
        caption = cell["metadata"].get("mystnb", {}).get("figure", {}).get("caption", "")
        drawn = printed | {value(number) for number in _PRINTED.findall(_source(cell))}
        for number, _ in claims(caption):
            if value(number) not in drawn:
                yield f"{cell['id']}: the caption says {number}, which no cell prints or draws"


def word_faults(cell: Cell) -> Iterator[str]:
    """Describe each loose word of a cell of prose."""
    for word in LOOSE:
        if re.search(rf"\b{word}\b", _prose(_source(cell)), re.IGNORECASE):
            yield f"{cell['id']}: says {word!r}"


def _headings(cells: list[Cell]) -> list[tuple[str, int, str]]:
    return [
        (cell["id"], len(marks), title.strip())
        for cell in cells
        if cell["cell_type"] == "markdown"
        for marks, title in re.findall(r"^(#{1,6}) (.+)$", _ASIDE.sub(" ", _source(cell)), re.MULTILINE)
    ]


def _heading_faults(cells: list[Cell]) -> Iterator[str]:
    headings = _headings(cells)
    if [depth for _, depth, _ in headings].count(1) != 1 or headings[0][1] != 1:
        yield f"{cells[0]['id']}: a chapter has one title, and it comes first"
    for (_, above, _), (name, depth, title) in pairwise(headings):
        if depth > above + 1:
            yield f"{name}: the heading {title!r} skips from level {above} to {depth}"


def _order_faults(cells: list[Cell]) -> Iterator[str]:
    opening = _source(cells[0])
    for promise in PROMISES:
        if promise not in opening:
            yield f"{cells[0]['id']}: the opening lacks {promise}"
    titles = [title for _, depth, title in _headings(cells) if depth == len("##")]
    if [title for title in titles if title in LEVELS] != list(LEVELS):
        yield f"{cells[0]['id']}: sections {titles}, which should be {list(LEVELS)}"
    recall = "\n".join(map(_source, cells)).partition("## Recall")[2]
    if recall.count("<summary>") < FEWEST_QUESTIONS:
        yield f"{cells[-1]['id']}: fewer than {FEWEST_QUESTIONS} recall questions"
