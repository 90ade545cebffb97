"""The block that the README brings along is audited as it says there, and ends as it shows."""

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from transformer_block.cli import app

pytestmark = pytest.mark.slow

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("## Audit a block that you bring along")[2].partition("\n## ")[0]
BLOCK, CALL = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
(CONSOLE,) = re.findall(r"```console\n\$ transformer-block (.*?)```", SECTION, re.DOTALL)


def test_the_command_shows_what_the_readme_shows(tmp_path, monkeypatch):
    (tmp_path / "my_block.py").write_text(BLOCK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_block", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    command, *shown = CONSOLE.splitlines()
    # where many tests share a CPU, a contract may take longer than a minute
    result = CliRunner().invoke(app, [*command.split(), "--seconds", "600"])
    assert result.exit_code == 1
    printed = result.stdout.splitlines()
    assert [line for line in shown if line != "…" and line not in printed] == []
    assert "→ first_norm_reused" in result.stdout


def test_the_call_finds_what_the_readme_says(capsys):
    names = {}
    exec(BLOCK + CALL, names)
    report = names["report"]
    assert capsys.readouterr().out == f"{report}\n"
    assert f"report.holds  # {report.holds}\n" in CALL
    assert f"# {[fault.name for fault in report.faults]}\n" in CALL
