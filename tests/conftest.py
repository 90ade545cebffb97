import os
from collections.abc import Iterator

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
    # xdist names its marker itself, but make mutants runs without xdist
    config.addinivalue_line("markers", "xdist_group(name): what runs in one process")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a file run in one process, since they share what it sets up; those of an exercise do."""
    for item in items:
        exercise = getattr(item, "callspec", None) and item.callspec.params.get("exercise")
        group = f"{item.path.name}-{exercise.id}" if hasattr(exercise, "id") else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Turn the shape checks off, as they are for users: the package itself must refuse what is wrong."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
