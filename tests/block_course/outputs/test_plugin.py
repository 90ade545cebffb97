"""End to end: real `pytest --nbval` runs with the course's own conftest.py. A kernel costs about a second."""

import sys
from pathlib import Path

import nbval
import pytest
from coverage import CoverageData
from nbformat import NotebookNode

from tests.block_course.outputs.notebooks import code, printed, raised, result, save

pytestmark = pytest.mark.slow

CONFTEST = Path(__file__).parents[3] / "conftest.py"
SETTINGS = "[pytest]\naddopts = --color=no\nfilterwarnings = error\n"


@pytest.fixture
def course(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder that is set up as the course's root is: its conftest.py, and warnings are errors."""
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makeini(SETTINGS)
    return pytester


def store(course: pytest.Pytester, name: str, *cells: NotebookNode) -> None:
    path = course.path / name
    path.parent.mkdir(exist_ok=True)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    save(path, *cells)


@pytest.fixture
def foreign_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's home: another python3 kernel, a start-up file, seven threads, another plotting backend."""
    kernel, startup = tmp_path / "kernels" / "python3", tmp_path / "profile_default" / "startup"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text('{"argv": ["false"], "display_name": "", "language": "python"}')
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("stranger = True")
    for name in ("JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    for name, value in {"OMP_NUM_THREADS": "7", "PYTHONHASHSEED": "41", "MPLBACKEND": "agg"}.items():
        monkeypatch.setenv(name, value)


FIGURE = """class Figure:
    def _repr_svg_(self): return '<svg><g id="b"><path d="M 1.000001 2.5"/></g></svg>'
    def __repr__(self): return 'figure'
Figure()"""


@pytest.mark.usefixtures("foreign_settings")
def test_a_true_notebook_passes_whoever_runs_it(course: pytest.Pytester) -> None:
    settings = repr(["1", "1", "1", "41", "module://matplotlib_inline.backend_inline"])
    store(
        course,
        "chapters/true.ipynb",
        code("import os, sys\nsys.executable", result(repr(sys.executable))),
        code("threads = [f'{each}_NUM_THREADS' for each in ('OMP', 'OPENBLAS', 'MKL')]"),
        code("[os.environ[each] for each in [*threads, 'PYTHONHASHSEED', 'MPLBACKEND']]", result(settings)),
        code("'stranger' in dir()", result("False")),
        code("open('beside.txt').read()", result("'here'")),
        code("print('a third')\n1 / 3", printed("a third\n"), result("0.3333333333333334")),
        code("2 + 2;"),
        code("1 / 0", raised("ZeroDivisionError", "division by zero"), tags=["raises-exception"]),
        code(FIGURE, result("figure", **{"image/svg+xml": '<svg><g id="a"><path d="M 1 2.5"/></g></svg>'})),
        code("\n", count=None),
    )
    (course.path / "chapters" / "beside.txt").write_text("here")

    outcome = course.runpytest_inprocess("--nbval", "chapters/true.ipynb")

    outcome.assert_outcomes(passed=10)
    outcome.stdout.no_fnmatch_line("*not compared*")


def test_what_is_not_proven_fails_or_is_listed(course: pytest.Pytester) -> None:
    store(
        course,
        "false.ipynb",
        code("x = 0.125\nx", result("0.127")),
        code("x", count=None),
        code("x", result("0.125"), count=None),
        code("x", result("0.125", **{"image/png": "AAAA"})),
        code("x", result("0.125"), nbval={"atol": 1}),
        code("# NBVAL_IGNORE_OUTPUT\nx", result("another")),
        code("x = 1", tags=["nbval-skip"]),
        code("x", result("0.125")),
    )

    outcome = course.runpytest_inprocess("--nbval", "false.ipynb")

    outcome.assert_outcomes(failed=5, passed=2, skipped=1)
    outcome.stdout.fnmatch_lines(
        [
            "output 1 (text/plain) line 1: 0.127 became 0.125 in '0.127'",
            "*Cell 1: The stored cell was never run, so nothing is proven: refresh the notebook",
            "*Cell 2: Unrun reference cell has outputs",
            "image/png cannot be compared: show the figure as SVG",
            "*Cell 4: metadata nbval has the unknown key 'atol'*",
            "*cells whose output was not compared*",
            "false.ipynb: Cell 5 (only run), Cell 6 (not even run)",
        ]
    )


def test_notebooks_are_spread_over_workers_and_their_cells_are_not(course: pytest.Pytester) -> None:
    for name in ("a.ipynb", "b.ipynb"):
        marked = code("# NBVAL_IGNORE_OUTPUT\nx", result("another"))
        store(course, name, code(f"x = '{name}'"), code("x", result(repr(name))), marked)
    store(course, "c.ipynb", code("'c'", result("'d'")))

    outcome = course.runpytest_inprocess("--nbval", "-n", "2", "--dist", "loadfile")

    outcome.assert_outcomes(passed=6, failed=1)
    outcome.stdout.fnmatch_lines(
        ["*'d'* became *'c'*", "a.ipynb: Cell 2 (only run)", "b.ipynb: Cell 2 (only run)"]
    )


@pytest.mark.parametrize("mode", ["--nbval", "--nbval-lax"])
@pytest.mark.parametrize("spread", [(), ("--dist", "worksteal"), ("--dist", "loadgroup")])
def test_workers_that_would_share_a_notebook_are_refused(
    course: pytest.Pytester, mode: str, spread: tuple[str, ...]
) -> None:
    outcome = course.runpytest_inprocess(mode, "-n", "2", *spread)

    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: the cells of a notebook share a kernel: add --dist loadfile"])


def test_another_nbval_is_refused(course: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nbval, "__version__", "0.12.0")

    outcome = course.runpytest_inprocess("--nbval")

    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: the plug-in is written for nbval 0.11.x; got 0.12.0"])


def test_without_nbval_nothing_changes(course: pytest.Pytester) -> None:
    store(course, "a.ipynb", code("1", result("2")))
    course.makepyfile("def test_other(): pass")

    outcome = course.runpytest_inprocess("-n", "0")

    outcome.assert_outcomes(passed=1)


def test_a_cell_that_kills_its_kernel_fails_at_once(course: pytest.Pytester) -> None:
    store(course, "a.ipynb", code("import os\nos._exit(1)"), code("1", result("1")))

    outcome = course.runpytest_inprocess("--nbval")

    outcome.assert_outcomes(failed=2)
    outcome.stdout.fnmatch_lines(["*the kernel died", "*Kernel dead on test start"])


def test_a_kernel_that_is_named_is_used(course: pytest.Pytester) -> None:
    store(course, "a.ipynb", code("1", result("1")))

    outcome = course.runpytest_inprocess("--nbval", "--nbval-kernel-name", "no-such-kernel")

    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(["*NoSuchKernel*no-such-kernel*"])


def test_coverage_is_measured_inside_the_kernel(course: pytest.Pytester) -> None:
    # set as pytest-cov sets them; pytest-cov itself would stop the measurement of the run around this one
    options = "config.option.cov_source, config.option.cov_config = ['measured'], '.coveragerc'"
    course.makeconftest(f"{CONFTEST.read_text()}\ndef pytest_configure(config):\n    {options}\n")
    course.makepyfile(measured="def half(x):\n    return x / 2\n")
    store(course, "a.ipynb", code("from measured import half\nhalf(3)", result("1.5")))

    outcome = course.runpytest_inprocess("--nbval", "-p", "no:pytest_cov")

    outcome.assert_outcomes(passed=1)
    [file] = course.path.glob(".coverage.*")
    data = CoverageData(str(file))
    data.read()
    assert data.lines(str(course.path / "measured.py")) == [1, 2]


def test_a_cell_that_does_not_end_is_stopped(course: pytest.Pytester) -> None:
    store(course, "a.ipynb", code("while True: pass"))

    outcome = course.runpytest_inprocess("--nbval", "--nbval-cell-timeout", "1.5")

    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["*Timeout of 1.5 seconds exceeded executing cell"])


def test_properties_of_other_tests_are_not_listed(course: pytest.Pytester) -> None:
    course.makepyfile("def test_other(record_property): record_property('color', 'red')")

    outcome = course.runpytest_inprocess()

    outcome.assert_outcomes(passed=1)
    outcome.stdout.no_fnmatch_line("*not compared*")
