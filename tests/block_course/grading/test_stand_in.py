import builtins
import importlib
import sys
import types
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from block_course.checks import assignments
from block_course.exercise import Assignment
from block_course.grading import stand_in


@pytest.fixture
def furnished(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process as if it were the box, put back in order afterwards."""
    modules = dict(sys.modules)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in [each for each in modules if each.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("input", "get_ipython", "display"):
        monkeypatch.setattr(builtins, name, getattr(builtins, name, None), raising=False)
    stand_in.furnish("00_tiny", ("transformer_block.axes", "transformer_block.in_numpy.masks"), torch=False)
    yield
    sys.modules.clear()
    sys.modules.update(modules)


@pytest.mark.usefixtures("furnished")
class TestTheBox:
    def test_permitted_modules_are_real(self) -> None:
        masks = importlib.import_module("transformer_block.in_numpy.masks")
        namespace: dict[str, object] = {}
        exec("from transformer_block.in_numpy import masks\nimport transformer_block.axes as axes", namespace)

        assert namespace["masks"] is masks
        np.testing.assert_array_equal(masks.causal_mask(2), [[True, False], [True, True]])
        assert sys.modules["transformer_block"].axes is namespace["axes"]

    @pytest.mark.parametrize(
        "name",
        [
            "block_course.checks",
            "block_course.grading.judge",
            "block_course.exercise",
            "transformer_block.config",
            "transformer_block.in_numpy.layer_norm",
            "torch",
            "torch.nn",
        ],
    )
    def test_withheld_modules_can_not_be_imported(self, name: str) -> None:
        with pytest.raises(ImportError, match="can't be used while 00_tiny is graded"):
            importlib.import_module(name)

    def test_a_withheld_module_is_no_attribute_either(self) -> None:
        with pytest.raises(ImportError, match="can't be used"):
            exec("from transformer_block.in_numpy import layer_norm")
        assert not hasattr(sys.modules["transformer_block"], "config")

    def test_check_progress_and_step_do_nothing(self) -> None:
        namespace: dict[str, object] = {}
        exec(
            "from block_course.check import check, progress\n"
            "from transformer_block import step\n"
            "from transformer_block.stepper import step as step_too\n"
            "import block_course\n"
            "results = check('x', 1), progress(), step(), step_too(3), block_course.check.check()",
            namespace,
        )

        assert namespace["results"] == (None,) * 5

    def test_other_modules_are_found_as_ever(self) -> None:
        assert importlib.import_module("colorsys").rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)

    def test_the_cells_get_a_fresh_main_and_a_notebooks_own_names(self) -> None:
        module = stand_in.main_module()
        exec("shown = display(3), get_ipython().run_line_magic('who', ''), get_ipython().a.b()", vars(module))

        assert sys.modules["__main__"] is module
        assert vars(module)["shown"] == (None, None, None)
        assert vars(module)["__name__"] == "__main__"
        with pytest.raises(EOFError, match=r"input\(\) can't ask anyone"):
            exec("input('who? ')", vars(module))

    def test_the_shell_has_no_special_methods_but_python_own(self) -> None:
        with pytest.raises(AttributeError):
            _ = stand_in.Shell().__len__


def test_torch_can_be_imported_where_an_assignment_needs_it() -> None:
    finder = stand_in.Withheld("00_tiny", stand_in.COURSE)

    assert finder.find_spec("torch", None) is None
    with pytest.raises(ImportError, match=r"block_course\.checks can't be used"):
        finder.find_spec("block_course.checks", None)


def test_furnishing_for_torch_withholds_the_course_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = dict(sys.modules)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    try:
        stand_in.furnish("00_tiny", (), torch=True)
        first = sys.meta_path[0]
    finally:
        sys.modules.clear()
        sys.modules.update(modules)

    assert isinstance(first, stand_in.Withheld)
    assert first.roots == {"block_course", "transformer_block"}


def reached(names: Sequence[str]) -> dict[str, types.ModuleType]:
    """The modules that code can get at from these: by what they hold, and what that was made in."""
    found: dict[str, types.ModuleType] = {}
    waiting = [importlib.import_module(each) for each in names]
    while waiting:
        module = waiting.pop()
        if module.__name__ not in found:
            found[module.__name__] = module
            held = [
                getattr(each, "__module__", None) or getattr(each, "__name__", "")
                for each in vars(module).values()
            ]
            near = {each for each in held if isinstance(each, str) and each.startswith("transformer_block.")}
            waiting += [sys.modules[each] for each in near if each in sys.modules]
    return found


@pytest.mark.parametrize("assignment", assignments(), ids=lambda each: each.stem)
def test_no_answer_can_be_reached_from_what_an_assignment_permits(assignment: Assignment) -> None:
    found = reached(assignment.permitted)
    answers = {each.answer for each in assignment.exercises}
    subject = assignment.stem.partition("_")[2]

    held = {f"{name}.{answer}" for name, module in found.items() for answer in answers & vars(module).keys()}

    assert held == set()
    assert f"transformer_block.in_numpy.{subject}" not in found
