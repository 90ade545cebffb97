"""`block-course`: build the book, work the exercises, release them, grade notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, help=__doc__)
COURSE = Path(__file__).resolve().parents[2]


def _in_course(folder: str) -> Path:
    path = COURSE / folder
    if not path.is_dir():
        raise typer.BadParameter(f"no folder {folder}/ in {COURSE}: run this from a clone of the course")
    return path


@app.command()
def book() -> None:
    """Build the book, warnings being errors, and say where to open it."""
    from block_course.book.build import build

    raise typer.Exit(build(_in_course("chapters").parent))


@app.command()
def lab(
    work: Annotated[Path, typer.Option(help="Where your copies lie.")] = Path("work"),
    prepare_only: Annotated[bool, typer.Option("--prepare-only", help="Lay them out, no more.")] = False,
) -> None:
    """Lay out working copies of the exercises and open them in JupyterLab."""
    from block_course.lab import lay_out, open_lab

    for sentence in lay_out(_in_course("exercises"), work.resolve()):
        Console().print(sentence, markup=False, highlight=False)
    if not prepare_only:
        raise typer.Exit(open_lab(work.resolve()))


@app.command()
def release(
    paths: Annotated[list[Path] | None, typer.Argument(help="Solution notebooks; default: all.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if one is stale.")] = False,
) -> None:
    """Make exercises/ from solutions/: answers cut out, points written in, executed."""
    from block_course.release import main as run

    raise typer.Exit(run(paths or sorted(_in_course("solutions").glob("*.ipynb")), check))


@app.command()
def refresh(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, or folders of them.")],
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if one differs.")] = False,
) -> None:
    """Run notebooks again and keep each stored output that still agrees."""
    from block_course.refresh import main as run

    found = [each for path in paths for each in (sorted(path.glob("*.ipynb")) if path.is_dir() else [path])]
    raise typer.Exit(run(found, check))


@app.command()
def grade(
    submissions: Annotated[list[Path], typer.Argument(help="Notebooks, or folders of them by learner.")],
    out: Annotated[Path, typer.Option(help="Where results.json and grades.csv go.")],
    secret: Annotated[
        Path | None, typer.Option(help="Hidden inputs come from it; default: OUT/secret.")
    ] = None,
    cell_seconds: Annotated[float, typer.Option(help="For each cell and each call.")] = 10.0,
    submission_seconds: Annotated[float, typer.Option(help="For all of one notebook.")] = 60.0,
    memory_mb: Annotated[int, typer.Option(help="For one notebook, beyond what is loaded at start.")] = 1024,
    workers: Annotated[int, typer.Option(help="Notebooks graded side by side.")] = 1,
    regrade: Annotated[bool, typer.Option("--regrade", help="Grade again what was graded before.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress and no table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json instead of a table.")] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Grade even where nothing keeps the notebooks' code in.")
    ] = False,
) -> None:
    """Grade notebooks on inputs that nobody has seen.

    Exit status: 0 all graded, 1 the grader failed on one, 2 bad usage, 130 interrupted.
    """
    from block_course.grading.grade import run

    status = run(
        submissions,
        out,
        secret=secret,
        cell_seconds=cell_seconds,
        submission_seconds=submission_seconds,
        memory_mb=memory_mb,
        workers=workers,
        regrade=regrade,
        quiet=quiet,
        as_json=as_json,
        unsafe=unsafe,
    )
    raise typer.Exit(status)


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
