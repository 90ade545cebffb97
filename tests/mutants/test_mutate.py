import ast
import textwrap

import pytest

from tests.mutants.mutate import mutants_of

pytestmark = pytest.mark.slow


def mutants(tmp_path, source):
    path = tmp_path / "module.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return list(mutants_of(path))


def faults(tmp_path, source):
    return {(each.function, each.before, each.after) for each in mutants(tmp_path, source)}


def test_an_operator_is_replaced_and_so_is_a_number(tmp_path):
    assert faults(tmp_path, "def f(x):\n    return x + 1\n") == {
        ("f", "return x + 1", "return x - 1"),
        ("f", "return x + 1", "return x + 2"),
    }


def test_a_condition_is_turned_over(tmp_path):
    source = "def f(x):\n    if x:\n        return x\n"
    assert faults(tmp_path, source) == {("f", "if x:", "if not (x):")}


def test_a_call_whose_result_nobody_uses_is_left_out(tmp_path):
    assert ("f", "check(x)", "pass") in faults(tmp_path, "def f(x):\n    check(x)\n")


def test_properties_and_constants_are_broken_too(tmp_path):
    source = """
    LIMIT = 3

    class Block:
        @property
        def width(self):
            return self.d // self.h
    """
    assert faults(tmp_path, source) == {
        ("", "LIMIT = 3", "LIMIT = 4"),
        ("", "LIMIT = 3", "LIMIT = None"),
        ("Block.width", "return self.d // self.h", "return self.d / self.h"),
    }


@pytest.mark.parametrize(
    "source",
    [
        'def f(x: "a + b", y: int = None) -> 1 + 2:\n    """1 + 1."""\n    return x\n',
        "@overload\ndef f(x=1): ...\n",
        'X = TypeVar("X", bound=int)\n',
        "import a\nfrom b import c\n",
    ],
)
def test_types_docstrings_and_imports_hold_no_fault_that_a_test_could_see(tmp_path, source):
    assert {before for _, before, _ in faults(tmp_path, source)} <= {'X = TypeVar("X", bound=int)'}


def test_a_name_for_a_type_is_left_as_it_is_but_not_the_words_of_a_choice(tmp_path):
    source = """
    Rows = list[tuple[int, "T S"]]
    Kind = Literal["pre"]
    FIRST = ORDER["pre"]
    """
    assert {before for _, before, _ in faults(tmp_path, source)} == {
        'Kind = Literal["pre"]',
        'FIRST = ORDER["pre"]',
    }


def test_what_only_types_need_is_left_as_it_is(tmp_path):
    assert faults(tmp_path, 'X = TypeVar("X", bound=int)\n') == {
        ("", 'X = TypeVar("X", bound=int)', "X = None")
    }


def test_each_mutant_is_the_whole_file_with_one_line_changed(tmp_path):
    source = "# head\n\ndef f(x):\n    y = x * 2  # twice\n    return y\n\n\ndef g(): return 5\n# foot\n"
    for mutant in mutants(tmp_path, source):
        ast.parse(mutant.source)
        lines, kept = mutant.source.splitlines(), source.splitlines()
        assert len(lines) == len(kept)
        assert sum(mine != theirs for mine, theirs in zip(lines, kept, strict=True)) == 1
        assert (lines[0], lines[-1]) == ("# head", "# foot")


def test_faults_that_read_the_same_have_different_keys(tmp_path):
    found = mutants(tmp_path, "def f(x):\n    x = x + 1\n    x = x + 1\n    return x\n")
    assert len({each.key for each in found}) == len(found) == 6


def test_the_scope_is_the_body_of_the_outermost_function(tmp_path):
    source = "A = 1\n\ndef f(x=2):\n    def g():\n        return 3\n    return g\n"
    scopes = {each.before.strip(): each.scope for each in mutants(tmp_path, source)}
    assert scopes == {"A = 1": None, "def f(x=2):": None, "return 3": range(4, 7)}


def test_those_of_one_function_are_the_same_as_among_all(tmp_path):
    source = """
    def f(x):
        return x + 1

    def g(x):
        def f():
            return x * 2
        return f() + 1
    """
    every = mutants(tmp_path, source)

    only = list(mutants_of(tmp_path / "module.py", "f"))

    assert only == [each for each in every if each.function == "f"] != []
