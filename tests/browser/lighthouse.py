"""What three pages of the built book get from a phone's view of them. `make lighthouse` prints it.

First the largest contentful paint, by Chromium with a slowed network and processor; then, where Node.js is
there, Lighthouse's four categories. Both depend on the machine, so nothing here is a test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.serving import served
from tests.needs import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ("chapters/index", "chapters/05_attention", "chapters/reference_card")
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
# Lighthouse's phone: a slow 4G network and a processor of a quarter of the speed
NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 204_800, "uploadThroughput": 96_000}
SLOWER = 4

_LARGEST = """
() => new Promise(done => new PerformanceObserver(list => done(list.getEntries().at(-1).startTime))
  .observe({type: "largest-contentful-paint", buffered: true}))
"""


def largest_paint(browser: Browser, url: str) -> float:
    """Seconds until the largest piece of a page's first view stands, on a slow phone with nothing stored."""
    with browser.new_context(viewport={"width": 390, "height": 844}, device_scale_factor=2) as context:
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", NETWORK)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(url, timeout=120_000)
        page.wait_for_timeout(1000)
        return float(page.evaluate(_LARGEST)) / 1000


def scores(url: str) -> dict[str, float]:
    """Lighthouse's categories, from 0 to 100."""
    command = [
        *("npx", "--yes", "lighthouse@12", url, "--quiet", "--output=json", "--output-path=stdout"),
        "--chrome-flags=--headless --no-sandbox --disable-dev-shm-usage",
    ]
    environment = {**os.environ, "CHROME_PATH": str(chromium())}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)["categories"]
    return {name: 100 * found[name]["score"] for name in CATEGORIES}


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(book: Path) -> None:
    """Print a line for each page."""
    from playwright.sync_api import sync_playwright

    with served(book) as site:
        with sync_playwright() as playwright:
            flags = ["--no-sandbox", "--disable-dev-shm-usage"]
            browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
            for name in PAGES:
                seconds = largest_paint(browser, f"{site.address}/{name}.html")
                _say(f"{name}: largest contentful paint after {seconds:.2f} s on a slow phone")
            browser.close()
        if shutil.which("npx") is None:
            _say("Lighthouse needs Node.js 18 or later: apt-get install nodejs npm")
            return
        for name in PAGES:
            found = scores(f"{site.address}/{name}.html")
            _say(f"{name}: " + ", ".join(f"{each} {score:.0f}" for each, score in found.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
