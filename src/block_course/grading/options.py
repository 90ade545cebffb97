"""The options of `block-course grade`, and what its help says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Submissions = Annotated[list[Path], typer.Argument(help="Notebooks, folders by learner, downloaded zips.")]
Out = Annotated[Path, typer.Option(help="Where results.json, grades.csv and the store go.")]
SecretFile = Annotated[Path | None, typer.Option(help="Hidden inputs come from it; default: OUT/secret.")]
CellSeconds = Annotated[float, typer.Option(help="For each cell and each call.")]
SubmissionSeconds = Annotated[float, typer.Option(help="For all of one notebook.")]
TimeBudget = Annotated[
    float | None,
    typer.Option(help="Seconds for the whole run; what it doesn't suffice for is put off: exit status 4."),
]
MemoryMb = Annotated[int, typer.Option(help="For one notebook, beyond what is loaded at start.")]
Workers = Annotated[int, typer.Option(help="Notebooks graded side by side.")]
Regrade = Annotated[bool, typer.Option("--regrade", help="Grade again what was graded before.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress and no table.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print results.json instead of a table.")]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Grade even where nothing keeps learners' code in.")]
StoreUrl = Annotated[
    str | None,
    typer.Option(help="Any SQLAlchemy URL; default: OUT/store.db. A password is best kept elsewhere."),
]
Formats = Annotated[
    list[str] | None, typer.Option(help="Also write: gradescope, junit, markdown, classroom. Repeatable.")
]
MoreFormats = Annotated[
    list[str] | None, typer.Option("--format", help="gradescope, junit, markdown or classroom. Repeatable.")
]
Roster = Annotated[
    Path | None, typer.Option(help="A CSV file of the class: tells who is missing or unknown.")
]
Times = Annotated[
    Path | None, typer.Option(help="A CSV file of when learners handed in, passed through to the results.")
]
Gradebook = Annotated[
    Path | None,
    typer.Option(help="A folder of nbgrader's: also write its gradebook.db and autograded notebooks."),
]
GradebookUrl = Annotated[
    str | None, typer.Option(help="Any SQLAlchemy URL of nbgrader's gradebook, if it lies elsewhere.")
]
ClusterAddress = Annotated[
    str | None, typer.Option(help="A Dask scheduler that grades: tls://HOST:PORT, or tcp:// on this machine.")
]
ClusterSecret = Annotated[
    Path | None, typer.Option(help="Where each machine of the cluster has the secret; default: as here.")
]
PassMark = Annotated[float | None, typer.Option(help="In percent; below it the exit status is 3.")]
Graded = Annotated[Path, typer.Argument(help="The folder that was graded into.")]
Learner = Annotated[str, typer.Argument(help="As results.json names them.")]
Assignment = Annotated[str, typer.Argument(help="As results.json names it: 03_layer_norm.")]
ExerciseId = Annotated[str, typer.Option(help="As results.json names it; a comment may do without.")]
Points = Annotated[float | None, typer.Option(help="In place of the grader's, for one exercise.")]
Comment = Annotated[str | None, typer.Option(help="Words for the learner.")]
