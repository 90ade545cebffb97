"""`transformer-block`: what a block costs."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def _about() -> None:
    """Look at transformer blocks from the command line."""


@app.command()
def cost(
    preset: Annotated[str, typer.Argument(help="A model's name, such as gpt2.")],
    tokens: Annotated[
        int | None, typer.Option(help="Positions; default: all that the model reads.")
    ] = None,
    batch: Annotated[int, typer.Option(help="Sequences side by side.")] = 1,
    dtype: Annotated[str, typer.Option(help="Of every entry.")] = "float32",
    as_json: Annotated[
        bool, typer.Option("--json", help="Whole numbers, for scripts.")
    ] = False,
) -> None:
    """Print parameters, FLOPs and bytes of a model's blocks, counted exactly.

    A multiply and an add are 2 FLOPs, of matrix products alone.
    Exit status: 0 printed, 2 bad usage.
    """
    from transformer_block import _cost_command

    try:
        counts = _cost_command.count(preset, tokens, batch, dtype)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    _cost_command.show(counts, as_json=as_json)


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
