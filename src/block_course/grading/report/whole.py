"""`results.json`: all that is known, for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.files import written
from block_course.grading.neutral import as_json
from block_course.grading.result import Result

RESULTS = "results.json"
_END = "[]\n}"


def write(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write what is known of the run, then each result as it is."""
    with written(folder / RESULTS) as file:
        file.write(as_json({**about, "results": []}, indent=1).removesuffix(_END) + "[")
        between = "\n"
        for result in results:
            # one after the other: a course of 100,000 does not fit into memory
            file.write(f"{between}  " + as_json(result, indent=1).replace("\n", "\n  "))
            between = ",\n"
        file.write("\n ]\n}\n")
