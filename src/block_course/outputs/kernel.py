"""The one kernel that runs notebooks: this interpreter, one thread, nobody's personal settings.

Outputs must not depend on whose machine runs them. So the kernel is `sys.executable` and not a kernelspec
found in a home directory, its IPython profile is empty, and figures go to Jupyter's own backend.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from queue import Empty
from subprocess import DEVNULL
from time import monotonic
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager, RunningKernel, start_new_kernel

THIS_INTERPRETER: str = CURRENT_ENV_KERNEL_NAME
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def kernel_environment(profile: Path) -> dict[str, str]:
    """The environment of a kernel whose IPython keeps its profile in the folder `profile`.

    A caller's PYTHONHASHSEED stays, so that a test can show that no output hangs on it; without one it is 0.
    """
    environment = {"PYTHONHASHSEED": "0"} | dict(os.environ)
    environment.pop("MPLBACKEND", None)
    return environment | dict.fromkeys(_ONE_THREAD, "1") | {"IPYTHONDIR": str(profile)}


def kernel_manager() -> AsyncKernelManager:
    """A manager, for nbclient, of a kernel that is this very interpreter."""
    return AsyncKernelManager(kernel_name=THIS_INTERPRETER, kernel_spec_manager=NbvalKernelspecManager())


class VerifyingKernel(RunningKernel):  # type: ignore[misc]  # nbval has no types
    """nbval's kernel, with an environment of its own choice and without an open file left behind."""

    def __init__(self, name: str, *, folder: Path, profile: Path, startup_timeout: float) -> None:
        self.km, self.kc = start_new_kernel(
            startup_timeout=startup_timeout,
            kernel_name=name,
            stderr=DEVNULL,
            cwd=str(folder),
            env=kernel_environment(profile),
        )
        self._ensure_iopub_up()

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> Any:
        """Run a cell as a reader does, with history: without, IPython ignores a `;` at the end of a cell."""
        return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        """Wait for a message, but not for that of a dead kernel: nbval would wait out the whole timeout."""
        deadline = math.inf if timeout is None else monotonic() + timeout
        while True:
            try:
                return super().get_message(stream, timeout=max(0.0, min(1.0, deadline - monotonic())))
            except Empty:
                if not self.is_alive():
                    raise RuntimeError("the kernel died") from None
                if monotonic() >= deadline:
                    raise
