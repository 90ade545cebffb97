"""The table of `transformer-block cost`, and the same numbers for scripts."""

import json
import sys
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from transformer_block import cost
from transformer_block.models import model


class CostOf(NamedTuple):
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
    Console().print(_table(counts))


def _table(counts: CostOf) -> Table:
    blocks = counts.n_layers
    title = (
        f"{counts.preset}: {blocks} blocks, {counts.batch} × "
        f"{counts.tokens:,} tokens, {counts.dtype}"
    )
    table = Table("", title=title, title_justify="left")
    table.add_column("one block", justify="right")
    table.add_column(f"{blocks} blocks", justify="right")
    for what, parts in counts.block.items():
        _add(table, _words(what), parts, (1, blocks))
    for what, parts in counts.model.items():
        _add(table, f"model, {_words(what)}", parts, (0, 1))
    return table


def _add(
    table: Table, what: str, parts: dict[str, int], times: tuple[int, int]
) -> None:
    table.add_section()
    table.add_row(what, *_multiples(sum(parts.values()), times))
    for part, number in parts.items():
        if number and len(parts) > 1:
            table.add_row(f"  {_words(part)}", *_multiples(number, times))


def _multiples(number: int, times: tuple[int, int]) -> list[str]:
    return [f"{each * number:,}" if each else "" for each in times]


def _words(name: str) -> str:
    return name.replace("_", " ").replace("flops", "FLOPs")


def _as_object(counts: CostOf) -> dict[str, object]:
    totals = {
        "block": {what: sum(parts.values()) for what, parts in counts.block.items()},
        "model": {what: sum(parts.values()) for what, parts in counts.model.items()},
    }
    return {**counts._asdict(), "totals": totals}
