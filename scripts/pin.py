"""Resolve requirements.in and requirements-dev.in into pinned lists, with pip itself as the resolver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "# Resolved from {source} by `make pins`. Edit that file, not this one.\n"


def resolve(*inputs: str, constraint: Path | None = None) -> dict[str, str]:
    """Ask pip which releases it would install into an empty environment: {name: version}."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--report", "-"]
    for name in inputs:
        command += ["-r", str(ROOT / name)]
    if constraint is not None:
        command += ["-c", str(constraint)]
    report = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    metadata = [each["metadata"] for each in json.loads(report)["install"]]
    # a local version such as 2.13.0+cpu names one index's build, not the release
    return {each["name"]: each["version"].split("+")[0] for each in metadata}


def write(path: Path, source: str, pins: dict[str, str], first: str = "") -> None:
    """Write one pin a line, sorted as people look names up."""
    lines = [f"{name}=={pins[name]}\n" for name in sorted(pins, key=str.lower)]
    path.write_text(HEAD.format(source=source) + first + "".join(lines), encoding="utf-8")
    print(f"{path.name}: {len(pins)} packages")


def main() -> None:
    """Write requirements.txt, then what requirements-dev.in adds. An argument names a constraint file."""
    constraint = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    course = resolve("requirements.in", constraint=constraint)
    write(ROOT / "requirements.txt", "requirements.in", course)
    everything = resolve("requirements.txt", "requirements-dev.in", constraint=constraint)
    dev = {name: version for name, version in everything.items() if name not in course}
    write(ROOT / "requirements-dev.txt", "requirements-dev.in", dev, first="-r requirements.txt\n")


if __name__ == "__main__":
    main()
