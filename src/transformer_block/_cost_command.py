"""The table of `transformer-block cost`, and the same numbers for scripts."""

import json
import sys
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from transformer_block import cost
from transformer_block.models import model


@dataclass(frozen=True)
class CostOf:
    """What a model's blocks cost, by part, at one size of input."""

    preset: str
    tokens: int
    batch: int
    dtype: str
    n_layers: int
    block: dict[str, dict[str, int]]
    model: dict[str, dict[str, int]]


def count(preset: str, tokens: int | None, batch: int, dtype: str) -> CostOf:
    """Count all that the command shows.

    Raises: ValueError for a name, size or dtype that is not known, or for more tokens
    than the model reads.
    """
    known = model(preset)
    config, length = known.block, known.context if tokens is None else tokens
    size = (config, length, batch)
    block = {
        "parameters": cost.parameters(config),
        "forward_flops": cost.forward_flops(*size),
        "backward_flops": cost.backward_flops(*size),
        "activation_bytes": cost.activation_bytes(*size, dtype),
        "checkpoint_bytes": {"input": cost.checkpoint_bytes(*size, dtype)},
    }
    if config.causal:
        cached = cost.cache_bytes(*size, dtype)
        block["cache_bytes"] = {"keys": cached // 2, "values": cached // 2}
    whole = {
        "parameters": cost.model_parameters(known),
        "forward_flops": cost.model_flops(known, length, batch),
    }
    return CostOf(preset, length, batch, dtype, config.n_layers, block, whole)


def show(counts: CostOf, *, as_json: bool) -> None:
    """Print the counts as a table, or as one JSON object."""
    if as_json:
        json.dump(_as_object(counts), sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    title = (
        f"{counts.preset}: {counts.n_layers} blocks, {counts.batch} × "
        f"{counts.tokens:,} tokens, {counts.dtype}"
    )
    table = Table(title=title, title_justify="left")
    table.add_column("")
    table.add_column("one block", justify="right")
    table.add_column(f"{counts.n_layers} blocks", justify="right")
    for what, parts in counts.block.items():
        _add(table, what, parts, counts.n_layers)
    for what, parts in counts.model.items():
        table.add_section()
        table.add_row(f"model, {_words(what)}", "", f"{sum(parts.values()):,}")
        for part, number in parts.items():
            if number:
                table.add_row(f"  {_words(part)}", "", f"{number:,}")
    Console().print(table, markup=False, highlight=False)


def _add(table: Table, what: str, parts: dict[str, int], n_layers: int) -> None:
    table.add_section()
    total = sum(parts.values())
    table.add_row(_words(what), f"{total:,}", f"{n_layers * total:,}")
    for part, number in parts.items():
        if number:
            table.add_row(f"  {_words(part)}", f"{number:,}", f"{n_layers * number:,}")


def _words(name: str) -> str:
    return name.replace("_", " ").replace("flops", "FLOPs")


def _as_object(counts: CostOf) -> dict[str, object]:
    totals = {
        "block": {what: sum(parts.values()) for what, parts in counts.block.items()},
        "model": {what: sum(parts.values()) for what, parts in counts.model.items()},
    }
    return {**vars(counts), "totals": totals}
