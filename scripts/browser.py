"""See to it that the browser tests find a browser: as root on Debian, install it; otherwise say how.

What is there already is left alone. It never fails: without a browser its tests say what they need.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PACKAGES = {"chromium": "a browser", "libatomic1": "a library that Playwright's driver loads"}
QUIET = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}


def missing() -> list[str]:
    """Name the packages without which the browser tests can't run here."""
    has_browser = os.environ.get("CHROME_PATH") or any(map(shutil.which, BROWSERS))
    packages = [] if has_browser else ["chromium"]
    try:
        ctypes.CDLL("libatomic.so.1")
    except OSError:
        packages.append("libatomic1")
    return packages


def commands(packages: list[str]) -> list[list[str]]:
    """Give the commands that install packages."""
    return [["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]]


def main() -> None:
    """Install what is missing, or print what to run."""
    packages = missing() if sys.platform == "linux" else []
    if not packages:
        return
    what = " and ".join(f"{name} ({PACKAGES[name]})" for name in packages)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        asked = " && ".join(" ".join(command) for command in commands(packages))
        print(f"The browser tests need {what}. On Debian: sudo sh -c '{asked}'", file=sys.stderr)
        return
    print(f"Installing {what} for the browser tests.", flush=True)
    for command in commands(packages):
        done = subprocess.run(command, env=QUIET, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            print(f"{' '.join(command)} failed: {' '.join(last)}", file=sys.stderr)
            return


if __name__ == "__main__":
    main()
