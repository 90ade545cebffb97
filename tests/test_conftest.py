"""Which tests run beside each other."""

import pytest

from tests.conftest import together


@pytest.mark.parametrize(
    ("nodeid", "scope"),
    [
        ("tests/test_needs.py::test_one", "tests/test_needs.py"),
        ("tests/test_x.py::test_one[0.5-a]", "tests/test_x.py"),
        ("tests/test_x.py::test_one[in_numpy/masks.py]", "tests/test_x.py"),
        ("tests/gallery/test_x.py::test_one[masks.causal-no-return]", "tests/gallery/test_x.py masks.causal"),
        ("tests/gallery/test_x.py::test_one[masks.causal]", "tests/gallery/test_x.py masks.causal"),
    ],
)
def test_tests_of_a_file_or_of_an_exercise_in_it_run_in_one_process(nodeid: str, scope: str) -> None:
    assert together(nodeid) == scope
