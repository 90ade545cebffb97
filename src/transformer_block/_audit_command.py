"""The table of `transformer-block audit`, as rows come in, and the same for scripts."""

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from transformer_block.audit import Facts, Report, Row, audit
from transformer_block.config import BlockConfig
from transformer_block.presets import PRESETS, preset

_STYLES = {"held": "green", "broken": "bold red", "not applicable": "dim"}


def factory_of(place: str) -> Callable[[], Any]:
    """What stands at module:name, the folder one works in being searched first.

    Raises: ValueError that says what is not there.
    """
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise ValueError(f"{place!r} is not of the form module:factory")
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{place}: {error}") from error
    if not callable(found):
        raise ValueError(f"{place} is {found!r}, which can't be called")
    return found


def config_of(text: str) -> BlockConfig:
    """A preset by its name, or the choices of a configuration as one JSON object.

    Raises: ValueError that says what does not fit.
    """
    if not text.lstrip().startswith("{"):
        if text not in PRESETS:
            known = ", ".join(PRESETS)
            raise ValueError(f"{text!r} is neither a preset ({known}) nor JSON")
        return preset(text)
    try:
        return BlockConfig(**json.loads(text))
    except TypeError as error:
        raise ValueError(f"no configuration: {error}") from error


def run(
    place: str, said: dict[str, Any], like: str | None, seconds: float
) -> Callable[[Callable[[Row], None]], Report]:
    """Make the block at module:factory; return what audits it and tells of each row.

    Raises: ValueError for facts that do not fit, and a factory that raises, or makes
    nothing that can be called.
    """
    facts, config = Facts(**said), None if like is None else config_of(like)
    factory = factory_of(place)
    try:
        block = factory()
    except Exception as error:
        raise ValueError(
            f"the factory raised {type(error).__name__}: {error}"
        ) from error
    if not callable(block):
        raise ValueError(f"the factory made {block!r}, which can't be called")
    told = Facts(fresh=factory).over(facts)

    def audited(progress: Callable[[Row], None]) -> Report:
        return audit(block, told, like=config, seconds=seconds, progress=progress)

    return audited


def show(
    audited: Callable[[Callable[[Row], None]], Report], *, as_json: bool
) -> Report:
    """Run the audit; print each row as it comes in, or the report as one object."""
    console = Console(stderr=as_json)
    table = _table()
    with Live(table, console=console, transient=as_json, auto_refresh=False) as live:

        def told(row: Row) -> None:
            # the words may be those of an error that the block raised: no markup
            words = (f"{row.sign} {row.contract}", row.measured, row.sentence)
            table.add_row(*map(Text, words), style=_STYLES[row.state])
            live.refresh()

        report = audited(told)
    if as_json:
        sys.stdout.write(report.to_json() + "\n")
    else:
        if not console.is_terminal:  # a terminal's table has ended its last line
            console.line()
        console.print(Text(report.verdict))
    return report


def _table() -> Table:
    table = Table("contract", "measured", "what it means")
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    return table
