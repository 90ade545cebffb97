"""`block-course`: build the book, work the exercises and check them, release them, grade notebooks."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from block_course.grading import options

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
def check(
    paths: Annotated[list[Path], typer.Argument(help="Your notebooks.")],
    cell_seconds: Annotated[int, typer.Option(help="Time for each cell.", min=1)] = 60,
) -> None:
    """Run your own notebooks, and say what their checks find.

    Exit status: 0 all holds, 1 something fails, 2 one could not be checked.
    """
    from block_course.working import main as run

    raise typer.Exit(run(paths, cell_seconds))


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
    submissions: options.Submissions,
    out: options.Out,
    secret: options.SecretFile = None,
    cell_seconds: options.CellSeconds = 10.0,
    submission_seconds: options.SubmissionSeconds = 60.0,
    memory_mb: options.MemoryMb = 1024,
    time_budget: options.TimeBudget = None,
    workers: options.Workers = 1,
    regrade: options.Regrade = False,
    store: options.StoreUrl = None,
    report: options.Formats = None,
    roster: options.Roster = None,
    times: options.Times = None,
    pass_mark: options.PassMark = None,
    gradebook: options.Gradebook = None,
    gradebook_url: options.GradebookUrl = None,
    cluster: options.ClusterAddress = None,
    cluster_secret: options.ClusterSecret = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
    unsafe: options.Unsafe = False,
) -> None:
    """Grade notebooks on inputs that nobody has seen.

    Exit status: 0 all graded, 1 the grader failed on one, 2 bad usage, 3 one is below the pass mark,
    4 the time budget was used up, 130 interrupted.
    """
    from block_course.grading.cluster import Cluster
    from block_course.grading.grade import run
    from block_course.grading.gradebook import place_of
    from block_course.grading.wishes import Wishes

    formats, book = tuple(report or ()), place_of(gradebook, gradebook_url, out)
    spread = None if cluster is None else Cluster(cluster, cluster_secret)
    wishes = Wishes(workers, regrade, store, formats, roster, times, pass_mark, time_budget, book, spread)
    limits = (cell_seconds, submission_seconds, memory_mb)
    given = functools.partial(run, secret=secret, limits=limits, wishes=wishes, unsafe=unsafe)
    raise typer.Exit(given(submissions, out, quiet=quiet, as_json=as_json))


@app.command()
def report(out: options.Graded, formats: options.MoreFormats = None, store: options.StoreUrl = None) -> None:
    """Write results.json and grades.csv of what was graded, and other formats: nothing is graded.

    Exit status: 0 written, 1 it can't be written, 2 bad usage.
    """
    from block_course.grading import handing_back

    raise typer.Exit(handing_back.report(out, store, tuple(formats or ())))


@app.command()
def mark(
    out: options.Graded,
    learner: options.Learner,
    assignment: options.Assignment,
    exercise: options.ExerciseId = "",
    points: options.Points = None,
    comment: options.Comment = None,
    store: options.StoreUrl = None,
) -> None:
    """Set points or words of your own, which stay when the work is graded again; neither: take them away.

    Exit status: 0 set, 1 it can't be written, 2 bad usage.
    """
    from block_course.grading import handing_back

    raise typer.Exit(handing_back.mark(out, store, learner, assignment, exercise, points, comment))


@app.command()
def feedback(out: options.Graded, store: options.StoreUrl = None) -> None:
    """Write a page for each learner, to be handed back when you think fit.

    Exit status: 0 written, 1 it can't be written, 2 bad usage.
    """
    from block_course.grading import handing_back

    raise typer.Exit(handing_back.feedback(out, store))


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
