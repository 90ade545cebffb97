import os
import re
from collections.abc import Iterator
from typing import Any

import jaxtyping
import pytest
from hypothesis import settings

from tests import needs, type_checks

# Read when NumPy and torch are loaded: one thread, so that sums are added in the same order on every machine.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

type_checks.install()

settings.register_profile("course", deadline=None, derandomize=True, database=None, max_examples=40)
settings.load_profile("course")


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.import_plugin("pytester")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(needs.NeedsPlugin(), "needs")


@pytest.hookimpl(optionalhook=True)  # make mutants runs without xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file run in one process, since they share what it sets up; those of an exercise do."""
    from xdist.scheduler import LoadScopeScheduling

    class ByExercise(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid)

    return ByExercise(config, log)


def together(nodeid: str) -> str:
    """What a test shares a process with: its file, or in it what is about the same exercise."""
    file = nodeid.partition("::")[0]
    exercise = re.search(r"\[([a-z_]+\.[a-z_]+)[-\]]", nodeid)
    return f"{file} {exercise[1]}" if exercise else file


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Turn the shape checks off, as they are for users: the package itself must refuse what is wrong."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
