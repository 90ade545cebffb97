import contextlib
import os
import sys
import types

import pytest

from tests import needs
from tests.needs import Missing

pytestmark = pytest.mark.slow

CONFTEST = """
from tests import needs

def pytest_configure(config):
    config.pluginmanager.register(needs.NeedsPlugin(), "needs")
"""
TWO_FILES = {
    "test_tide": """
import pytest

@pytest.mark.needs("moon")
def test_ebb(): raise AssertionError

@pytest.mark.needs("sea", "moon")
def test_flood(): raise AssertionError
""",
    "test_sea": """
import pytest

@pytest.mark.needs("sea")
def test_salt(): pass

@pytest.mark.needs("moon")
class TestNight:
    def test_light(self): raise AssertionError
""",
}
SUMMARY = [
    "not run here: test_sea.py::TestNight::test_light: there is no moon, wait for the night",
    "not run here: test_tide.py (2 tests): there is no moon, wait for the night",
]


@pytest.fixture
def beach(pytester, monkeypatch):
    """A suite in which the sea is there and the moon is not; it counts how often each is looked for."""
    monkeypatch.setattr(needs, "PROBES", {})
    monkeypatch.delenv("CI", raising=False)
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(**TWO_FILES)
    pytester.looks = []
    needs.probe("moon")(
        lambda: pytester.looks.append("moon") or Missing("there is no moon", "wait for the night")
    )
    needs.probe("sea")(lambda: pytester.looks.append("sea"))
    return pytester


def test_a_test_whose_need_is_missing_is_not_run_and_the_summary_says_why(beach):
    run = beach.runpytest("--strict-markers")
    run.assert_outcomes(passed=1, skipped=3)
    run.stdout.fnmatch_lines(SUMMARY, consecutive=True)
    assert run.ret == 0


def test_each_probe_runs_once_and_only_if_a_test_asks(beach):
    beach.runpytest("test_tide.py")
    assert sorted(beach.looks) == ["moon", "sea"]


def test_under_ci_a_missing_need_is_a_failure(beach, monkeypatch):
    monkeypatch.setenv("CI", "true")
    run = beach.runpytest()
    run.assert_outcomes(passed=1, errors=3)
    run.stdout.fnmatch_lines(SUMMARY, consecutive=True)
    run.stdout.fnmatch_lines("*not run here: there is no moon, wait for the night")
    assert run.ret == 1


def test_nothing_is_said_when_nothing_is_missing(beach):
    run = beach.runpytest("test_sea.py::test_salt")
    run.assert_outcomes(passed=1)
    run.stdout.no_fnmatch_line("*not run here*")


def test_workers_report_to_the_one_summary(beach):
    beach.makeconftest(
        CONFTEST
        + 'needs.PROBES["sea"] = lambda: None\n'
        + 'needs.PROBES["moon"] = lambda: needs.Missing("there is no moon", "wait for the night")\n'
    )
    run = beach.runpytest("-n1", "-p", "no:nbval")
    run.assert_outcomes(passed=1, skipped=3)
    run.stdout.fnmatch_lines(SUMMARY, consecutive=True)


def test_a_need_without_a_probe_stops_the_run(beach):
    beach.makepyfile(test_void="import pytest\n\n@pytest.mark.needs('ether')\ndef test_light(): pass")
    run = beach.runpytest()
    run.stderr.fnmatch_lines("*test_void.py::test_light needs 'ether', which has no probe; known: moon, sea")
    assert run.ret == pytest.ExitCode.USAGE_ERROR


def test_a_need_has_one_probe():
    with pytest.raises(ValueError, match="the need 'fork' has a probe already"):
        needs.probe("fork")(lambda: None)


def test_forking_asks_for_linux(monkeypatch):
    assert (needs.PROBES["fork"]() is None) == (sys.platform == "linux")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert needs.PROBES["fork"]() == Missing(
        "the grader forks Linux processes and this is darwin", "run the tests on Linux"
    )


def fake_browser(tmp_path, monkeypatch, exit_code):
    """Stand a browser in, beside a driver of Playwright's that starts on any machine."""
    monkeypatch.setattr(needs, "DRIVER", [sys.executable, "-c", ""])
    browser = tmp_path / "chromium"
    browser.write_text(f"#!/bin/sh\nexit {exit_code}\n", encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("CHROME_PATH", os.fspath(browser))
    return browser


def test_a_browser_that_starts_is_there(tmp_path, monkeypatch):
    browser = fake_browser(tmp_path, monkeypatch, exit_code=0)
    assert needs.chromium() == browser
    assert needs.PROBES["chromium"]() is None


def test_a_browser_that_does_not_start_is_missing(tmp_path, monkeypatch):
    browser = fake_browser(tmp_path, monkeypatch, exit_code=3)
    reason, cure = needs.PROBES["chromium"]()
    assert reason.startswith(f"{browser} does not start")
    assert cure == "install a Chromium that runs"


def test_a_driver_that_does_not_start_is_told_from_the_browser(tmp_path, monkeypatch):
    fake_browser(tmp_path, monkeypatch, exit_code=0)
    monkeypatch.setattr(needs, "DRIVER", [sys.executable, "-c", "exit(127)"])
    reason, cure = needs.PROBES["chromium"]()
    assert reason.startswith("Playwright's driver does not start")
    assert "127" in reason
    assert cure == "install libatomic1"


def test_a_machine_without_a_browser_learns_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setattr(needs, "DRIVER", [sys.executable, "-c", ""])
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    monkeypatch.setenv("CHROME_PATH", os.fspath(tmp_path / "gone"))
    monkeypatch.setattr(needs, "_chromium_of_playwright", lambda: tmp_path / "gone too")
    assert needs.chromium() is None
    assert needs.PROBES["chromium"]() == Missing(
        "there is no Chromium", "run `python -m playwright install --with-deps chromium`"
    )


def test_a_machine_without_playwright_learns_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert needs.PROBES["chromium"]() == Missing(
        "Playwright is not installed", "run `pip install -r requirements-dev.txt`"
    )


def test_playwright_is_asked_for_its_own_browser_last(tmp_path, monkeypatch):
    own = tmp_path / "chrome"
    own.touch()
    monkeypatch.setenv("PATH", os.fspath(tmp_path / "nothing here"))
    monkeypatch.delenv("CHROME_PATH", raising=False)
    chromium = types.SimpleNamespace(executable_path=os.fspath(own))
    session = contextlib.nullcontext(types.SimpleNamespace(chromium=chromium))
    module = types.SimpleNamespace(sync_playwright=lambda: session)
    monkeypatch.setitem(sys.modules, "playwright.sync_api", module)
    assert needs.chromium() == own


def test_this_suite_knows_the_marker_and_its_probes(pytestconfig):
    assert any(line.startswith("needs(*names):") for line in pytestconfig.getini("markers"))
    assert {"fork", "chromium"} <= set(needs.PROBES)
