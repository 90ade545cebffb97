"""A browser for the tests: installed where it can be, asked for elsewhere, left alone if it is there."""

import ctypes
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

BROWSER = Path(__file__).resolve().parents[2] / "scripts" / "browser.py"


@pytest.fixture
def browser() -> ModuleType:
    spec = importlib.util.spec_from_file_location("browser", BROWSER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were run on a bare Debian, as root, each with success."""
    commands: list[list[str]] = []

    def run(command: list[str], **how: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    def load(name: str) -> None:
        raise OSError(name)

    monkeypatch.delenv("CHROME_PATH", raising=False)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(ctypes, "CDLL", load)
    return commands


def test_root_gets_what_is_missing(browser: ModuleType, ran: list[list[str]]) -> None:
    browser.main()

    assert ran == [
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", "chromium", "libatomic1"],
    ]


def test_what_is_there_is_left_alone(
    browser: ModuleType, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)
    monkeypatch.setenv("CHROME_PATH", "/opt/chrome")

    browser.main()

    assert ran == []


@pytest.mark.parametrize("lacks", ["root", "apt-get"])
def test_who_cannot_install_is_told_the_command(
    browser: ModuleType,
    ran: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lacks: str,
) -> None:
    if lacks == "root":
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    else:
        monkeypatch.setattr(shutil, "which", lambda name: None)

    browser.main()

    assert ran == []
    said = capsys.readouterr().err
    assert "need chromium (a browser) and libatomic1" in said
    assert (
        "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends chromium libatomic1'"
        in said
    )


def test_a_failed_installation_is_said_and_stops_nothing(
    browser: ModuleType,
    ran: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(command: list[str], **how: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 100, "", "E: no network\n")

    monkeypatch.setattr(subprocess, "run", fail)

    browser.main()

    assert "apt-get update failed: E: no network" in capsys.readouterr().err
