import json
from pathlib import Path

import pytest

from tests.mutants.judge import KILLED, SURVIVED, Target, Verdict
from tests.mutants.ledger import (
    Equivalent,
    Everywhere,
    Marks,
    Memory,
    marks_of,
    read_equivalents,
    wrong_claims,
)
from tests.mutants.mutate import Mutant

pytestmark = pytest.mark.slow

CLAIM = Equivalent("a.py", "f", "x + 1", "x - 1", "x is always 0 and 1 is added to no effect")


def mutant(after="x - 1", number=1):
    return Mutant("f", range(2, 3), range(2, 4), "x + 1", after, number, "source")


def write(path, entry):
    path.write_text("[[equivalent]]\n" + "\n".join(f"{key} = {json.dumps(entry[key])}" for key in entry))
    return path


def test_an_entry_may_list_several_faults_with_one_reason(tmp_path):
    entry = CLAIM._asdict() | {"after": ["x - 1", "x + 2"]}
    first, second = read_equivalents(write(tmp_path / "list.toml", entry))
    assert first == CLAIM
    assert second == CLAIM._replace(after="x + 2")


@pytest.mark.parametrize("change", [{"reason": " "}, {"line": "3"}])
def test_an_entry_without_a_reason_or_with_an_unknown_field_is_refused(tmp_path, change):
    path = write(tmp_path / "list.toml", CLAIM._asdict() | change)
    with pytest.raises(
        ValueError, match="an equivalent mutant has file, function, before, after, reason; got"
    ):
        read_equivalents(path)


def test_a_claim_covers_every_fault_that_reads_so_in_its_file():
    assert CLAIM.covers("a.py", mutant())
    assert CLAIM.covers("a.py", mutant(number=2))
    assert not CLAIM.covers("b.py", mutant())
    assert not CLAIM.covers("a.py", mutant(after="x + 2"))


def test_a_piece_may_become_another_at_one_place_of_a_line(tmp_path):
    path = tmp_path / "list.toml"
    path.write_text("""
        [[everywhere]]
        files = "in_numpy/*.py"
        piece = "copy=False"
        becomes = ["copy=True", ""]
        reason = "a copy more changes no value"
    """)
    copied, left_out = read_equivalents(path)
    assert copied == Everywhere("in_numpy/*.py", "copy=False", "copy=True", "a copy more changes no value")
    line = "x = f(copy=False) + g(copy=False)"

    def fault(after):
        return Mutant("f", range(2, 3), None, line, after, 1, "")

    assert copied.covers("in_numpy/a.py", fault("x = f(copy=True) + g(copy=False)"))
    assert copied.covers("in_numpy/a.py", fault("x = f(copy=False) + g(copy=True)"))
    assert left_out.covers("in_numpy/a.py", fault("x = f() + g(copy=False)"))
    assert not copied.covers("in_numpy/a.py", fault("x = f(copy=True) + g(copy=True)"))
    assert not copied.covers("in_numpy/a.py", fault("x = f(copy=True) - g(copy=False)"))
    assert not copied.covers("in_torch/a.py", fault("x = f(copy=True) + g(copy=False)"))
    assert list(wrong_claims([copied], "in_numpy/a.py", [])) == []


def test_a_true_claim_is_not_called_wrong():
    assert list(wrong_claims([CLAIM], "a.py", [Verdict(mutant(), SURVIVED, 0.1)])) == []
    assert list(wrong_claims([CLAIM], "b.py", [])) == []


@pytest.mark.parametrize(
    ("verdicts", "wrong"),
    [
        ([], "there is no such mutant: a.py: f: x + 1 → x - 1"),
        ([Verdict(mutant(), KILLED, 0.1)], "a test notices it: a.py: f: x + 1 → x - 1"),
    ],
)
def test_a_claim_that_is_no_longer_true_is_named(verdicts, wrong):
    assert list(wrong_claims([CLAIM], "a.py", verdicts)) == [f"listed as equivalent, but {wrong}"]


TEST = Path("test_code.py")
MARKS = Marks("all", {TEST: "one", Path("test_more.py"): "two"})
NOTICED = Verdict(mutant(), KILLED, 0.25, TEST)


@pytest.mark.parametrize("verdict", [NOTICED, NOTICED._replace(by=None), Verdict(mutant(), SURVIVED, 0.5)])
def test_verdicts_are_recalled_from_disk(tmp_path, verdict):
    path = tmp_path / "new" / "verdicts.jsonl"
    Memory(path).record(MARKS, verdict)
    assert Memory(path).recall(MARKS, mutant()) == verdict


def test_a_fault_stays_noticed_while_the_file_of_the_test_that_noticed_it_is_the_same(tmp_path):
    memory = Memory(tmp_path / "verdicts.jsonl")
    memory.record(MARKS, NOTICED)
    assert memory.recall(Marks("else", {TEST: "one"}), mutant()) == NOTICED
    assert memory.recall(Marks("all", {TEST: "else"}), mutant()) is None
    assert memory.recall(MARKS, mutant(number=2)) is None


def test_a_fault_that_survived_is_judged_anew_when_any_test_changes(tmp_path):
    memory = Memory(tmp_path / "verdicts.jsonl")
    memory.record(MARKS, Verdict(mutant(), SURVIVED, 0.5))
    assert memory.recall(MARKS._replace(of_all="else"), mutant()) is None


def test_a_line_that_was_cut_off_is_left_out_and_the_others_are_kept(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    memory = Memory(path)
    memory.record(MARKS, NOTICED)
    memory.record(MARKS, Verdict(mutant(number=2), SURVIVED, 0.5))
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    again = Memory(path)
    assert again.recall(MARKS, mutant()) == NOTICED
    assert again.recall(MARKS, mutant(number=2)) is None


@pytest.fixture
def written(tmp_path):
    names = ("code.py", "test_code.py", "test_more.py", "shared.py")
    for name in names:
        (tmp_path / name).write_text("before")
    code, *tests, shared = (tmp_path / name for name in names)
    return lambda: marks_of(Target("code.py", code, "package.code", tests), [shared])


@pytest.mark.parametrize("changed", ["code.py", "test_code.py", "shared.py"])
def test_marks_change_with_all_that_a_verdict_rests_on(tmp_path, written, changed):
    before = written()
    assert written() == before
    (tmp_path / changed).write_text("after")
    assert written().of_all != before.of_all
    assert written().of_tests[tmp_path / "test_code.py"] != before.of_tests[tmp_path / "test_code.py"]


def test_a_mark_of_one_test_does_not_change_with_another(tmp_path, written):
    before = written()
    (tmp_path / "test_more.py").write_text("after")
    assert written().of_tests[tmp_path / "test_code.py"] == before.of_tests[tmp_path / "test_code.py"]
