"""What is known of mutants: verdicts of earlier runs, and the mutants that no test could notice."""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.judge import SURVIVED, Target, Verdict
from tests.mutants.mutate import Mutant


class Equivalent(NamedTuple):
    """A fault that changes nothing that can be seen, and why."""

    file: str
    function: str
    before: str
    after: str
    reason: str

    def covers(self, file: str, mutant: Mutant) -> bool:
        """Whether the mutant is this fault."""
        reads = (mutant.function, mutant.before, mutant.after)
        return self.file == file and (self.function, self.before, self.after) == reads


class Everywhere(NamedTuple):
    """A piece of code that may become another wherever it stands in some files, and why."""

    files: str
    piece: str
    becomes: str
    reason: str

    def covers(self, file: str, mutant: Mutant) -> bool:
        """Whether the mutant differs by this piece alone, at one place."""
        parts = mutant.before.split(self.piece)
        faults = (
            self.piece.join(parts[:i]) + self.becomes + self.piece.join(parts[i:])
            for i in range(1, len(parts))
        )
        return fnmatch(file, self.files) and mutant.after in faults


Claim = Equivalent | Everywhere


def read_equivalents(path: Path) -> list[Claim]:
    """The list of equivalents: what a line becomes may be a list of several that have one reason.

    Raises: ValueError for an entry with a field missing or unknown, or without a reason.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        *_read(tables.get("equivalent", []), Equivalent, several="after"),
        *_read(tables.get("everywhere", []), Everywhere, several="becomes"),
    ]


def _read(entries: list[dict[str, Any]], kind: type[Claim], several: str) -> Iterator[Claim]:
    for entry in entries:
        if entry.keys() != set(kind._fields) or not entry["reason"].strip():
            raise ValueError(f"an equivalent mutant has {', '.join(kind._fields)}; got {entry}")
        given = entry[several]
        for each in given if isinstance(given, list) else [given]:
            yield kind(**entry | {several: each})


def wrong_claims(equivalents: Iterable[Claim], file: str, verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Entries for this file that no mutant matches any more, or whose mutant a test noticed after all."""
    verdicts = list(verdicts)
    for claim in equivalents:
        if not isinstance(claim, Equivalent) or claim.file != file:
            continue
        covered = [each for each in verdicts if claim.covers(file, each.mutant)]
        where = f"{file}: {claim.function}: {claim.before} → {claim.after}"
        if not covered:
            yield f"listed as equivalent, but there is no such mutant: {where}"
        elif all(each.verdict != SURVIVED for each in covered):
            yield f"listed as equivalent, but a test notices it: {where}"


class Memory:
    """Verdicts on disk, one line each, written as they come in: a run that is cut off loses none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        records = [json.loads(line) for line in lines if line.endswith("}")]
        self._verdicts = {
            (each["fingerprint"], each["mutant"]): (each["verdict"], each["seconds"]) for each in records
        }

    def recall(self, marks: "Marks", mutant: Mutant) -> Verdict | None:
        for by, mark in marks.of_tests.items():
            known = self._verdicts.get((mark, mutant.key))
            if known is not None:
                return Verdict(mutant, *known, by)
        known = self._verdicts.get((marks.of_all, mutant.key))
        return None if known is None else Verdict(mutant, *known)

    def record(self, marks: "Marks", verdict: Verdict) -> None:
        mark = marks.of_tests[verdict.by] if verdict.by else marks.of_all
        self._verdicts[mark, verdict.mutant.key] = (verdict.verdict, verdict.seconds)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "fingerprint": mark,
            "mutant": verdict.mutant.key,
            "verdict": verdict.verdict,
            "seconds": round(verdict.seconds, 3),
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


class Marks(NamedTuple):
    """What verdicts on a file rest on: that a test noticed a fault, on the file of that test alone."""

    of_all: str
    of_tests: dict[Path, str]


def marks_of(target: Target, beside: Sequence[Path]) -> Marks:
    """The marks of a target, whose tests share the files beside."""
    of_tests = {test.absolute(): _fingerprint(target, [test, *beside], "one") for test in target.tests}
    return Marks(_fingerprint(target, [*target.tests, *beside], "all"), of_tests)


def _fingerprint(target: Target, paths: Iterable[Path], tests: str) -> str:
    digest = hashlib.sha256(f"{target.module}, {tests}".encode())  # one test may be all that there are
    for path in (target.path, *paths):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
