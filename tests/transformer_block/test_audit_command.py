import functools
import json
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

from transformer_block import _audit_command
from transformer_block.audit import Report, Row
from transformer_block.cli import app
from transformer_block.presets import TEACHING

pytestmark = pytest.mark.slow

PLACE = "transformer_block.audit.broken"
MINE = """
import numpy as np

def make():
    return lambda tokens: tokens * 2

def plain():
    return 3

def fails():
    raise OSError("no disk")

def brackets():
    def block(tokens):
        raise IndexError("bad [/b] [red]\\ud800\\x1b[2J")
    return block

number = 5
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "my_blocks.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_blocks", raising=False)


def run(*arguments):
    return CliRunner().invoke(app, ["audit", *arguments])


def test_a_right_block_ends_with_status_0_and_a_table():
    result = run(f"{PLACE}:Block")
    assert result.exit_code == 0
    assert "✓ causal" in result.stdout
    assert "20 held, 0 broken, 1 not applicable" in result.stdout


def test_a_broken_block_ends_with_status_1_and_the_name_of_its_fault():
    result = run(f"{PLACE}.norms:SampleVariance")
    assert result.exit_code == 1
    assert "✗ norms" in result.stdout
    assert "→ sample_variance: a norm's variance divides by D − 1" in result.stdout


def test_json_is_the_report_and_nothing_else():
    like = json.dumps({"d_model": 24, "n_heads": 3, "d_ff": 40, "causal": True})
    result = run(f"{PLACE}.streams:PostNorm", "--like", like, "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert [fault["name"] for fault in report["faults"]] == ["post_norm"]
    assert report["rows"][-1]["contract"] == "like the package"


def test_facts_are_said_by_options(mine):
    result = run("my_blocks:make", "--d-model", "8", "--causal", "--positions", "none", "--placement", "pre")
    assert result.exit_code == 0
    assert "· zeroed branches" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["my_blocks"], "'my_blocks' is not of the form module:factory"),
        (["my_blocks:"], "'my_blocks:' is not of the form module:factory"),
        ([":make"], "':make' is not of the form module:factory"),
        (["no_such_blocks:make"], "no_such_blocks:make: No module named 'no_such_blocks'"),
        (["my_blocks:none"], "has no attribute 'none'"),
        (["my_blocks:number"], "my_blocks:number is 5, which can't be called"),
        (["my_blocks:plain"], "the factory made 3, which can't be called"),
        (["my_blocks:fails"], "the factory raised OSError: no disk"),
        (["my_blocks:make"], "nothing tells the width of the block's stream"),
        (["my_blocks:make", "--like", "gpt9"], "'gpt9' is neither a preset (teaching, gpt2"),
        (["my_blocks:make", "--like", '{"width": 3}'], "no configuration"),
        (["my_blocks:make", "--like", "{"], "Expecting property name"),
        (["my_blocks:make", "--mask-means", "seen"], "mask_means must be one of"),
    ],
)
def test_bad_usage_ends_with_status_2_and_says_why(arguments, words, mine, unchecked):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_error_in_no_matter_which_words_is_a_row(form, mine):
    result = run("my_blocks:brackets", "--d-model", "8", *form)
    assert result.exit_code == 1
    assert "IndexError: bad [/b] [red]" in " ".join(result.stdout.split())
    assert "\x1b[2J" not in result.stdout


def test_a_preset_is_a_configuration_to_be_like():
    assert _audit_command.config_of("teaching") is TEACHING


def test_on_a_terminal_the_verdict_follows_the_table(monkeypatch, capsys):
    terminal = functools.partial(Console, force_terminal=True, color_system=None, width=80)
    monkeypatch.setattr(_audit_command, "Console", terminal)
    report = Report((Row("shape", "held", "as it should be"),), ())

    def audited(progress):
        progress(report["shape"])
        return report

    assert _audit_command.show(audited, as_json=False) is report
    assert capsys.readouterr().out.rstrip().endswith(report.verdict.splitlines()[-1])
