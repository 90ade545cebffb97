"""The pytest plug-in that makes `pytest --nbval` a proof: nbval runs the cells, `compare` judges the outputs.

It adds to nbval's classes by inheritance and replaces nothing inside nbval. It relies on how nbval 0.11
collects (`IPyNbFile`, `IPyNbCell`), on `IPyNbCell.compare_outputs` and `comparison_traceback`; another
version is refused until this file has been read against it. Without `--nbval` it does nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbval
import pytest
from nbval.cover import setup_coverage
from nbval.plugin import IPyNbCell, IPyNbFile

from block_course.outputs.compare import Output, Tolerance, compare, never_run
from block_course.outputs.kernel import THIS_INTERPRETER, VerifyingKernel

_WRITTEN_FOR = "0.11."
_NOT_COMPARED = "block_course_not_compared"
_SPLITTING = ("load", "worksteal", "loadgroup")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what would empty the proof: an unknown nbval, cells of one notebook on different workers."""
    if not _verifying(config):
        return
    if not nbval.__version__.startswith(_WRITTEN_FOR):
        raise pytest.UsageError(f"the plug-in is written for nbval {_WRITTEN_FOR}x; got {nbval.__version__}")
    if getattr(config.option, "dist", "no") in _SPLITTING:
        raise pytest.UsageError("the cells of a notebook share a kernel: add --dist loadfile")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect a notebook as one whose outputs are verified, where nbval would collect it."""
    collectors = yield
    return [
        VerifiedNotebook.from_parent(parent, path=file_path) if type(each) is IPyNbFile else each
        for each in collectors
    ]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List every cell whose output was not compared, so that no mark hides one."""
    cells: dict[str, dict[str, str]] = defaultdict(dict)
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        for name, how in getattr(report, "user_properties", ()):
            if name == _NOT_COMPARED:
                notebook, _, cell = report.nodeid.partition("::")
                cells[notebook][cell] = how
    if cells:
        terminalreporter.section("cells whose output was not compared")
    for notebook in sorted(cells):
        listing = sorted(cells[notebook].items(), key=lambda item: int(re.sub(r"\D", "", item[0])))
        terminalreporter.line(f"{notebook}: {', '.join(f'{cell} ({how})' for cell, how in listing)}")


def _verifying(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "nbval", False) or getattr(config.option, "nbval_lax", False))


class VerifiedNotebook(IPyNbFile):  # type: ignore[misc]  # nbval has no types
    """A notebook that runs in this interpreter, in its own folder."""

    def setup(self) -> None:
        """Start the kernel."""
        options = self.config.option
        self._profile = TemporaryDirectory(prefix="ipython-")
        self.kernel = VerifyingKernel(
            options.nbval_kernel_name or THIS_INTERPRETER,
            folder=self.path.parent,
            profile=Path(self._profile.name),
            startup_timeout=options.nbval_kernel_startup_timeout,
        )
        self.setup_sanitize_files()
        if getattr(options, "cov_source", None):
            setup_coverage(self.config, self.kernel, self.path)

    def teardown(self) -> None:
        """Stop the kernel."""
        super().teardown()
        if hasattr(self.kernel, "km"):  # nbval leaves the channels of a dead kernel open
            self.kernel.stop()
        self._profile.cleanup()

    def collect(self) -> Iterator[VerifiedCell]:
        """Yield the code cells, numbered from 0."""
        for item in super().collect():
            yield VerifiedCell.from_parent(
                self, name=item.name, cell_num=item.cell_num, cell=item.cell, options=item.options
            )


class VerifiedCell(IPyNbCell):  # type: ignore[misc]  # nbval has no types
    """A code cell that passes if it ran before, runs now, and both outputs agree."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        if self.options["skip"]:
            self.user_properties.append((_NOT_COMPARED, "not even run"))
        elif not self.options["check"]:
            self.user_properties.append((_NOT_COMPARED, "only run"))

    def runtest(self) -> None:
        """Run and compare; a cell that was never run still runs, because later cells stand on it."""
        try:
            self._tolerance = Tolerance.of_cell(self.cell)
        except ValueError as error:
            self.raise_cell_error(str(error))
        super().runtest()
        if never_run(self.cell):
            self.raise_cell_error("The stored cell was never run, so nothing is proven: refresh the notebook")

    def compare_outputs(self, test: list[Output], ref: list[Output], skip_compare: object = None) -> bool:
        """Whether outputs agree; what does not is left where nbval looks for it."""
        stored, computed = self.sanitize_outputs(ref), self.sanitize_outputs(test)
        self.comparison_traceback: list[str] = compare(stored, computed, self._tolerance)
        return not self.comparison_traceback
