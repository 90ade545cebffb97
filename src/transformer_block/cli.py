"""`transformer-block`: what a block costs, and which contracts it keeps."""

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


Place = Annotated[
    str, typer.Argument(metavar="MODULE:FACTORY", help="What makes the block.")
]
Like = Annotated[
    str | None, typer.Option(help="What it should compute: a preset, or JSON.")
]
Width = Annotated[int | None, typer.Option(help="Width of its stream.")]
Causal = Annotated[
    bool | None, typer.Option("--causal/--not-causal", help="Should hide the future.")
]
Placement = Annotated[str | None, typer.Option(help="pre or post.")]
Positions = Annotated[str | None, typer.Option(help="Inside: none, relative or added.")]
Mask = Annotated[str | None, typer.Option(help="The mask's argument.")]
MaskMeans = Annotated[
    str | None, typer.Option(help="What True is: visible, hidden; or additive.")
]
MaskAxes = Annotated[str | None, typer.Option(help="BTS, B1TS, TS or BS.")]
Seconds = Annotated[float, typer.Option(help="Most for one contract.")]
AsJson = Annotated[bool, typer.Option("--json", help="The whole report, for scripts.")]


@app.command()
def audit(
    place: Place,
    like: Like = None,
    d_model: Width = None,
    causal: Causal = None,
    placement: Placement = None,
    positions: Positions = None,
    mask: Mask = None,
    mask_means: MaskMeans = None,
    mask_axes: MaskAxes = None,
    seconds: Seconds = 60.0,
    as_json: AsJson = False,
) -> None:
    """Run every contract on any block, and name its faults; what isn't said is found.

    Exit status: 0 all contracts hold, 1 one is broken, 2 bad usage.
    """
    from transformer_block import _audit_command

    said = {
        "d_model": d_model,
        "causal": causal,
        "placement": placement,
        "positions": positions,
        "mask": mask,
        "mask_means": mask_means,
        "mask_axes": mask_axes,
    }
    try:
        report = _audit_command.show(
            _audit_command.run(place, said, like, seconds), as_json=as_json
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    raise typer.Exit(0 if report.holds else 1)


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
