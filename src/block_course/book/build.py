"""Build the book's HTML and say where to open it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_TROUBLE = ("WARNING", "ERROR", "error:", "Exception")


def command(course: Path, out: Path) -> list[str]:
    """Say how the book is built: every warning is an error, and every one is shown before it stops."""
    return [
        *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(course)),
        *("--path-output", str(out), "-W", "-n", "--keep-going"),
    ]


def build(course: Path, out: Path | None = None) -> int:
    """Build the book of a course into `out/_build/html`; return the exit status.

    The build's own words go to a log; what was wrong is printed.
    """
    out = out or course
    log = out / "_build" / "book.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as sink:
        done = subprocess.run(
            command(course, out), stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        wrong = [line for line in lines if any(sign in line for sign in _TROUBLE)] or lines[-20:]
        sys.stderr.write("\n".join([*wrong, f"The book was not built; the whole story is in {log}", ""]))
        return 1
    sys.stdout.write(f"The book: {out / '_build' / 'html' / 'index.html'}\n")
    return 0
