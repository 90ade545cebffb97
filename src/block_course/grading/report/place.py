"""Where a file of one submission lies: a name of a learner's own choosing leads nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO

from block_course.grading.files import written
from block_course.grading.neutral import file_name
from block_course.grading.result import Result


def place(result: Result, ending: str) -> PurePath:
    """The path of a submission's file below a format's folder: no two submissions share one."""
    return PurePath(file_name(result["learner"]), f"{file_name(result['assignment'])}{ending}")


@contextmanager
def written_for(folder: Path, result: Result, ending: str) -> Iterator[IO[str]]:
    """The file of a submission below a format's folder, written in one step."""
    path = folder / place(result, ending)
    path.parent.mkdir(parents=True, exist_ok=True)
    with written(path) as file:
        yield file
