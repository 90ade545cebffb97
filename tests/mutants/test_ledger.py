import json

import pytest

from tests.mutants.judge import KILLED, SURVIVED, Target, Verdict
from tests.mutants.ledger import Equivalent, Everywhere, Memory, fingerprint, read_equivalents, wrong_claims
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


def test_verdicts_are_recalled_from_disk(tmp_path):
    path = tmp_path / "new" / "verdicts.jsonl"
    Memory(path).record("mark", Verdict(mutant(), KILLED, 0.25))
    assert Memory(path).recall("mark", mutant()) == Verdict(mutant(), KILLED, 0.25)


def test_a_verdict_on_other_code_or_another_mutant_is_not_recalled(tmp_path):
    memory = Memory(tmp_path / "verdicts.jsonl")
    memory.record("mark", Verdict(mutant(), KILLED, 0.25))
    assert memory.recall("another mark", mutant()) is None
    assert memory.recall("mark", mutant(number=2)) is None


def test_a_line_that_was_cut_off_is_left_out_and_the_others_are_kept(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    memory = Memory(path)
    memory.record("mark", Verdict(mutant(), KILLED, 0.25))
    memory.record("mark", Verdict(mutant(number=2), SURVIVED, 0.5))
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    again = Memory(path)
    assert again.recall("mark", mutant()) == Verdict(mutant(), KILLED, 0.25)
    assert again.recall("mark", mutant(number=2)) is None


@pytest.mark.parametrize("changed", ["code.py", "test_code.py", "shared.py"])
def test_a_fingerprint_changes_with_all_that_a_verdict_rests_on(tmp_path, changed):
    paths = {name: tmp_path / name for name in ("code.py", "test_code.py", "shared.py")}
    for path in paths.values():
        path.write_text("before")
    target = Target("code.py", paths["code.py"], "package.code", [paths["test_code.py"]])
    before = fingerprint(target, [paths["shared.py"]])
    assert fingerprint(target, [paths["shared.py"]]) == before
    paths[changed].write_text("after")
    assert fingerprint(target, [paths["shared.py"]]) != before
