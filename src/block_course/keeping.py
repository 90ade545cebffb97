"""What checks have found, kept from one session to the next, in a folder that the environment names.

Each notebook has a kernel of its own; the folder is where `progress()` finds the points of the others. A
file holds one exercise, so that two kernels never write to the same one at once. Without the variable
nothing is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from block_course.verdict import Verdict

VARIABLE = "BLOCK_COURSE_PROGRESS"


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The last verdict on an exercise in short; `fault` names what did not hold first, if anything."""

    status: str
    points: float
    of: float
    fault: str = ""


def keep(verdict: Verdict) -> None:
    """Keep a verdict where the environment says. A folder that can't be written to keeps nothing."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    content = json.dumps(asdict(in_short(verdict)))
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        temporary = Path(folder, f".{verdict.id}.{os.getpid()}")
        temporary.write_text(content, encoding="utf-8")
        os.replace(temporary, Path(folder, f"{verdict.id}.json"))


def kept() -> dict[str, Kept]:
    """What the folder of the environment holds, by exercise; a file that can't be read counts as none."""
    folder = os.environ.get(VARIABLE)
    return held_in(Path(folder)) if folder else {}


def held_in(folder: Path) -> dict[str, Kept]:
    """What a folder holds, by exercise."""
    found = {}
    for path in sorted(folder.glob("[!.]*.json")):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            found[path.stem] = _read(path)
    return found


def in_short(verdict: Verdict) -> Kept:
    """A verdict as it is kept."""
    failed = next((each.title for each in verdict.findings if each.outcome == "fails"), "")
    named = verdict.diagnosis.name if verdict.diagnosis else ""
    fault = f"{failed} ({named})" if failed and named else failed or named
    tried = verdict.status not in ("pass", "not attempted")
    return Kept(status=verdict.status, points=verdict.points, of=verdict.of, fault=fault if tried else "")


def _read(path: Path) -> Kept:
    given = json.loads(path.read_text(encoding="utf-8"))
    return Kept(
        status=str(given["status"]),
        points=float(given["points"]),
        of=float(given["of"]),
        fault=str(given["fault"]),
    )
