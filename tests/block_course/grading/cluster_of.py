"""A Dask cluster of real processes on this machine: a scheduler, and workers that come and are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

START_SECONDS = 60.0


class DaskCluster:
    """A scheduler on loopback. Workers have no nanny: one that is killed stays away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._told = folder / "scheduler.json"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("dask_scheduler", "--no-dashboard", "--no-show", "--scheduler-file", str(self._told))
        self.address: str = self._wait_for_address()

    def __enter__(self) -> "DaskCluster":
        return self

    def __exit__(self, *error: object) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def add_worker(self) -> subprocess.Popen[bytes]:
        """A worker that joins when it has started; whoever needs it waits for it."""
        options = ["--no-nanny", "--no-dashboard", "--nthreads", "1", "--memory-limit", "0"]
        return self._start("dask_worker", self.address, *options)

    def kill_scheduler(self) -> None:
        """End what all workers and clients hang on."""
        self.kill(self._processes[0])

    @staticmethod
    def kill(worker: subprocess.Popen[bytes]) -> None:
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        host = ["--host", "127.0.0.1"] if program == "dask_worker" else ["--host", "127.0.0.1", "--port", "0"]
        command = [sys.executable, "-m", f"distributed.cli.{program}", *options, *host]
        with open(self._folder / f"{program}-{len(self._processes)}.log", "wb") as log:
            process = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)
        self._processes.append(process)
        return process

    def _wait_for_address(self) -> str:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self._told.exists() and (text := self._told.read_text()):
                address: str = json.loads(text)["address"]
                return address
            assert self._processes[0].poll() is None
            time.sleep(0.05)
        raise AssertionError("the scheduler did not start")
