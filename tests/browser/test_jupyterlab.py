"""A learner in a real JupyterLab and a real browser: open, run, answer wrong, answer right, see points."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from block_course import lab

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

COURSE = Path(__file__).parents[2]
PATIENCE = 120_000  # milliseconds: a busy machine takes its time, and a test that fails says so at once
TOKEN = "a-token-of-this-test"
SAMPLE = """def statistics(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, x.var(axis=-1, ddof=1, keepdims=True)
"""
RIGHT = SAMPLE.replace("ddof=1, ", "")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A JupyterLab on working copies, as `make lab` lays them out and starts it, with settings of its own."""
    work = tmp_path_factory.mktemp("work")
    lab.lay_out(COURSE / "exercises", work)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    own = {
        f"JUPYTER{name}": str(tmp_path_factory.mktemp(name.strip("_").lower()))
        for name in ("_CONFIG_DIR", "_DATA_DIR", "_RUNTIME_DIR", "LAB_SETTINGS_DIR", "LAB_WORKSPACES_DIR")
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.root_dir={work}", "--ServerApp.ip=127.0.0.1"]
    log = (tmp_path_factory.mktemp("log") / "lab.log").open("w")
    server = subprocess.Popen(command, env=lab.environment(work) | own, stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api?token={TOKEN}", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=60)
        log.close()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "JupyterLab ended"
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
        else:
            return
    raise AssertionError("JupyterLab did not answer")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def opened(page: Page, address: str, name: str) -> Locator:
    """Open a notebook and run all of its cells; returns the notebook."""
    page.goto(f"{address}/lab/tree/{name}?token={TOKEN}&reset")
    notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
    notebook.wait_for()
    # before the kernel is connected the notebook calls itself idle, and drops what it is asked to run
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    prompt = cell_with(notebook, "progress()").locator(".jp-InputPrompt")
    for _ in range(8):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
        settled(page)
        if re.search(r"\d", prompt.inner_text()):
            break
    return notebook


def settled(page: Page) -> None:
    """Wait until nothing runs: behind a run the notebook scrolls and moves the focus, whoever is typing."""
    page.wait_for_timeout(1500)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(state="attached")


def cell_with(notebook: Locator, text: str) -> Locator:
    return notebook.locator(".jp-CodeCell").filter(has_text=text).first


def write(page: Page, cell: Locator, text: str) -> None:
    """Put a text in the place of a cell's, and run it."""
    editor, line = cell.locator(".cm-content"), text.splitlines()[2].strip()
    for _ in range(20):
        editor.click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(text)
        page.wait_for_timeout(200)
        if line in editor.inner_text():
            break
    page.keyboard.press("Shift+Enter")
    settled(page)


def run(page: Page, cell: Locator, text: str) -> None:
    """Run a cell until it shows a text: a key that comes while the notebook scrolls runs another cell."""
    for _ in range(8):
        cell.locator(".cm-content").click()
        page.wait_for_timeout(300)
        page.keyboard.press("Shift+Enter")
        settled(page)
        if text in cell.locator(".jp-OutputArea-output").last.inner_text():
            return


def shows(cell: Locator, text: str | re.Pattern[str]) -> None:
    from playwright.sync_api import expect

    expect(cell.locator(".jp-OutputArea-output").last).to_contain_text(text, timeout=PATIENCE)


def test_a_wrong_answer_is_told_its_misconception_a_right_one_earns_all(page: Page, address: str) -> None:
    notebook = opened(page, address, "03_layer_norm.ipynb")
    answer = cell_with(notebook, "def statistics(")
    check = cell_with(notebook, 'check("layer_norm.statistics"')
    shows(check, "not attempted, 0 of 3 points")

    write(page, answer, SAMPLE)
    run(page, check, "Sample variance.")
    shows(check, "Sample variance.")
    shows(check, "1.25 of 3 points")

    write(page, answer, RIGHT)
    run(page, check, "3 of 3 points")
    shows(check, "3 of 3 points")

    progress = cell_with(notebook, "progress()")
    run(page, progress, "3 of 3")
    shows(progress, "3 of 3")


def test_progress_counts_what_was_done_in_the_other_notebook(page: Page, address: str) -> None:
    notebook = opened(page, address, "04_feed_forward.ipynb")

    progress = cell_with(notebook, "progress()")
    shows(progress, re.compile(r"03_layer_norm.*3 of \d+", re.DOTALL))
    shows(progress, "All notebooks")
