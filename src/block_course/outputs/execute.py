"""Run a notebook's cells, all of them, in a fresh kernel of this interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from block_course.outputs.compare import coalesce
from block_course.outputs.kernel import kernel_environment, kernel_manager

_NO_TAG = ""
_SHOWN = 50


class CellFailed(RuntimeError):
    """A cell raised, took too long or killed the kernel; the message names it."""


def execute(
    notebook: NotebookNode,
    folder: Path,
    *,
    timeout: int = 600,
    keep_going: bool = False,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Run every code cell in order, with `folder` as working directory, and put the new outputs in place.

    A cell that is tagged `raises-exception` may raise, and with `keep_going` any may; `timeout` is in seconds
    for each cell; `environment` is added to the kernel's.
    Raises CellFailed at the first cell that fails; the notebook is then left half run.
    """
    started = [0]
    client = _client(notebook, folder, timeout, lambda cell, cell_index: started.append(cell_index))
    client.allow_errors = keep_going
    with TemporaryDirectory(prefix="ipython-") as profile:
        try:
            client.execute(cleanup_kc=True, env=kernel_environment(Path(profile)) | dict(environment))
        except CellExecutionError as error:
            reason = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
        except CellTimeoutError:
            reason = f"no end after {timeout} s"
        except DeadKernelError:
            reason = "the kernel died"
        else:
            reason = ""
    if reason:
        raise CellFailed(f"{cell_name(notebook, started[-1])}: {reason}")
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.source.strip():
            cell.outputs, cell.execution_count = [], None  # nbclient passes it over
        elif cell.cell_type == "code":
            cell.outputs = nbformat.from_dict(coalesce(cell.outputs))  # type: ignore[no-untyped-call]


def _client(
    notebook: NotebookNode, folder: Path, timeout: int, on_cell_execute: Callable[..., None]
) -> NotebookClient:
    return NotebookClient(
        notebook,
        km=kernel_manager(),
        timeout=timeout,
        record_timing=False,
        raise_on_iopub_timeout=True,
        shutdown_kernel="immediate",
        extra_arguments=["--log-level=ERROR"],  # a warning about TCP is none of an author's business
        skip_cells_with_tag=_NO_TAG,
        on_cell_execute=on_cell_execute,
        resources={"metadata": {"path": str(folder)}},
    )


def cell_name(notebook: NotebookNode, index: int) -> str:
    """Name a cell as nbval does, by its number among the code cells from 0, and by its first line."""
    number = sum(cell.cell_type == "code" for cell in notebook.cells[:index])
    line = next(iter(notebook.cells[index].source.strip().splitlines()), "")
    return f"Cell {number} ({line if len(line) <= _SHOWN else line[:_SHOWN] + '…'})"
