"""Working copies of the exercises: learners edit those, so that an update never conflicts with their work."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from block_course.keeping import VARIABLE

RECORD = ".released.json"
CONFIG = ".jupyter"
PROGRESS = ".progress"

_SETTINGS: dict[str, dict[str, dict[str, str | bool]]] = {
    "default_setting_overrides": {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
    },
    "page_config": {"disabledExtensions": {"@jupyter/nbgrader": True}},
}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_record(work: Path) -> dict[str, str]:
    try:
        record = json.loads((work / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # without a record every existing copy counts as the learner's own work
    return {str(name): str(digest) for name, digest in record.items()} if isinstance(record, dict) else {}


def _unused(copy: Path) -> Path:
    names = (
        copy.with_suffix(f".new{'' if count == 1 else f'-{count}'}.ipynb") for count in itertools.count(1)
    )
    return next(name for name in names if not name.exists())


def lay_out(exercises: Path, work: Path) -> list[str]:
    """Bring `work` up to date with `exercises`; return a sentence for each notebook that changed or was kept.

    A copy that was never edited is replaced by a newer release. An edited one stays as it is, and the newer
    release is laid beside it as `NAME.new.ipynb`, `NAME.new-2.ipynb` and so on. Nothing in `work` that a
    learner wrote is ever overwritten.
    """
    work.mkdir(parents=True, exist_ok=True)
    record, said = _read_record(work), []
    for source in sorted(exercises.glob("*.ipynb")):
        released, copy = _digest(source), work / source.name
        if record.get(source.name) == released and copy.exists():
            continue
        if not copy.exists() or _digest(copy) == record.get(source.name):
            shutil.copyfile(source, copy)
            said.append(f"{source.name}: laid out")
        elif _digest(copy) != released:
            newer = _unused(copy)
            shutil.copyfile(source, newer)
            said.append(f"{source.name}: your copy is kept; the newer release is {newer.name}")
        record[source.name] = released
    temporary = work / f"{RECORD}.tmp"
    temporary.write_text(json.dumps(record, indent=1), encoding="utf-8")
    os.replace(temporary, work / RECORD)
    return said


def open_lab(work: Path) -> int:
    """Start JupyterLab in the working copies, on loopback, and wait until it ends.

    It asks for no news and shows none of nbgrader's menus, which are for those who hand out and grade. What
    checks find is kept in the folder, so that `progress()` counts all notebooks.
    """
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={work}"]
    command.append("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return subprocess.run(command, check=False, env=environment(work)).returncode


def environment(work: Path) -> dict[str, str]:
    """The environment, with our settings before the learner's own; those are only read, and stay."""
    folder = work / CONFIG / "labconfig"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _SETTINGS.items():
        (folder / f"{name}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    given = os.environ.get("JUPYTER_CONFIG_PATH")
    paths = os.pathsep.join([str(work / CONFIG), *([given] if given else [])])
    return os.environ | {"JUPYTER_CONFIG_PATH": paths, VARIABLE: str(work / PROGRESS)}
