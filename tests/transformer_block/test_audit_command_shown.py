"""What `transformer-block audit` shows: each row as it comes in, the verdict, or a report for scripts."""

import functools
import json
import sys
import threading

import pytest
from rich.console import Console

from transformer_block import _audit_command
from transformer_block.audit import Fault, Report, Row
from transformer_block.config import BlockConfig
from transformer_block.presets import TEACHING

ROWS = (
    Row("shape", "held", "as it should be", 0.0, 1.0),
    Row("causal", "broken", "IndexError: [red]index[/b] 3 in its own words", 0.25, 1e-6),
    Row("cache", "not applicable", "none"),
)
REPORT = Report(ROWS, (Fault("future", "it sees 2 [more]", ("causal",)),))
SHOWN = """
┏━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┓
┃ contract ┃ measured     ┃ what it means                  ┃
┡━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┩
│ ✓ shape  │ 0 ≤ 1        │ as it should be                │
│ ✗ causal │ 0.25 > 1e-06 │ IndexError: [red]index[/b] 3   │
│          │              │ in its own words               │
│ · cache  │              │ none                           │
└──────────┴──────────────┴────────────────────────────────┘
1 held, 1 broken, 1 not applicable
→ future: it sees 2 [more]
"""


def audited(progress):
    for row in ROWS:
        progress(row)
    return REPORT


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of a given width, with colors or without, or a file of that width."""

    def of(width=60, colors=None, terminal=True):
        made = functools.partial(Console, width=width, force_terminal=terminal, color_system=colors)
        monkeypatch.setattr(_audit_command, "Console", made)

    return of


def test_a_table_and_the_verdict_are_shown_as_they_are_whatever_brackets_an_error_has(terminal, capsys):
    terminal(terminal=False)
    assert _audit_command.show(audited, as_json=False) is REPORT
    out, err = capsys.readouterr()
    assert (out, err) == (SHOWN.lstrip(), "")


def test_on_a_terminal_the_verdict_follows_the_table_and_what_was_drawn_stays(terminal, capsys):
    terminal()
    _audit_command.show(audited, as_json=False)
    out = capsys.readouterr().out
    table, verdict = SHOWN.lstrip().split("1 held")
    assert table in out
    assert out.endswith("┘\n\x1b[?25h1 held" + verdict)


def test_a_row_has_the_color_of_its_state_and_the_verdict_has_none(terminal, capsys):
    terminal(colors="standard")
    _audit_command.show(audited, as_json=False)
    out = capsys.readouterr().out
    for color, word in (("32", "✓ shape "), ("1;31", "✗ causal"), ("2", "· cache ")):
        assert f"\x1b[{color}m{word}\x1b[0m" in out
    assert out.endswith(SHOWN[SHOWN.index("1 held") :])


def test_a_narrow_terminal_breaks_what_a_number_means_and_no_number(terminal, capsys):
    terminal(width=30, terminal=False)
    _audit_command.show(audited, as_json=False)
    assert "│ ✗ causal │ 0.25 > 1e-06 │" in capsys.readouterr().out


def test_a_row_is_shown_when_it_comes_in_and_no_thread_runs_beside_the_audit(terminal, capsys):
    terminal()
    before = threading.enumerate()

    def slowly(progress):
        for row in ROWS:
            progress(row)
            assert row.contract in capsys.readouterr().out
            assert not {*threading.enumerate()} - {*before}  # the audit forks
        return REPORT

    _audit_command.show(slowly, as_json=False)


def test_for_scripts_the_rows_go_beside_the_report_and_are_wiped_out_at_the_end(terminal, capsys):
    terminal()
    _audit_command.show(audited, as_json=True)
    out, err = capsys.readouterr()
    assert json.loads(out)["rows"][1]["sentence"] == ROWS[1].sentence
    assert "✗ causal" in err
    assert err.endswith("\x1b[1A\x1b[2K" * 8)


def test_for_scripts_nothing_goes_beside_the_report_where_nobody_looks(terminal, capsys):
    terminal(terminal=False)
    _audit_command.show(audited, as_json=True)
    assert capsys.readouterr() == (REPORT.to_json() + "\n", "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("shaded", "here"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_the_folder_one_works_in_is_searched_before_all_others(folder):
    (folder / "elsewhere").mkdir()
    for place, number in (("elsewhere", 1), (".", 2)):
        (folder / place / "shaded.py").write_text(f"def make():\n    return {number}\n")
    sys.path.insert(0, str(folder / "elsewhere"))
    assert _audit_command.factory_of("shaded:make")() == 2


def test_a_factory_may_stand_in_a_class(folder):
    (folder / "here.py").write_text("class Blocks:\n    class Mine:\n        pass\n")
    assert _audit_command.factory_of("here:Blocks.Mine").__name__ == "Mine"


def test_a_module_ends_at_the_first_colon(folder):
    (folder / "here.py").write_text("")
    with pytest.raises(ValueError, match=r"^here:a:b: module 'here' has no attribute 'a:b'$"):
        _audit_command.factory_of("here:a:b")


def test_a_configuration_may_begin_with_a_space():
    config = _audit_command.config_of(' {"d_model": 24, "n_heads": 3, "d_ff": 40} ')
    assert config == BlockConfig(d_model=24, n_heads=3, d_ff=40)


def test_an_audit_is_told_what_was_said_and_how_its_block_is_made_anew(folder, monkeypatch):
    (folder / "here.py").write_text("def make():\n    return print\n")
    asked = []

    def audit(block, facts, **rest):
        asked.append((block, facts, rest))
        return REPORT

    monkeypatch.setattr(_audit_command, "audit", audit)
    said = {"d_model": 8, "causal": None}
    assert _audit_command.run("here:make", said, "teaching", 7.5)(print) is REPORT
    ((block, facts, rest),) = asked
    assert block is print
    assert (facts.d_model, facts.causal, facts.fresh) == (8, None, sys.modules["here"].make)
    assert rest == {"like": TEACHING, "seconds": 7.5, "progress": print}
