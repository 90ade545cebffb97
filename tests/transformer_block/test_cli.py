"""`transformer-block` prints what it is asked for, and refuses in words what it does not know."""

import json
import runpy
import sys

import pytest
from typer.testing import CliRunner

from transformer_block import cli, cost
from transformer_block.models import model


def run(*words):
    return CliRunner().invoke(cli.app, words)


def numbers_of(output, row):
    """The numbers of the first row of the table that begins so."""
    line = next(line for line in output.splitlines() if line.strip("│ ").startswith(row))
    return [int(cell.replace(",", "")) for cell in line.strip("│ ").split("│")[1:] if cell.strip()]


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("wide")
def test_the_table_of_gpt2_shows_a_block_all_blocks_and_the_model():
    result = run("cost", "gpt2")
    assert result.exit_code == 0
    assert "gpt2: 12 blocks, 1 × 1,024 tokens, float32" in result.stdout
    assert numbers_of(result.stdout, "parameters") == [7_087_872, 85_054_464]
    assert numbers_of(result.stdout, "model, parameters") == [124_439_808]
    forward = sum(cost.forward_flops(model("gpt2").block, 1024).values())
    assert numbers_of(result.stdout, "forward FLOPs") == [forward, 12 * forward]
    assert numbers_of(result.stdout, "cache bytes") == [2 * 1024 * 768 * 4, 12 * 2 * 1024 * 768 * 4]


@pytest.mark.usefixtures("wide")
def test_a_row_of_zeros_and_a_part_that_is_the_whole_are_left_out():
    shown = run("cost", "llama").stdout
    assert "residual scales" not in shown
    assert "input" not in shown
    assert shown.count("norms") == 1


def test_a_block_that_is_not_causal_has_no_cache_to_show():
    assert "cache bytes" not in run("cost", "bert").stdout
    assert "cache_bytes" not in json.loads(run("cost", "bert", "--json").stdout)["block"]


def test_for_scripts_there_are_whole_numbers():
    result = run("cost", "llama3", "--json", "--tokens", "7", "--batch", "3", "--dtype", "bfloat16")
    found = json.loads(result.stdout)
    block = model("llama3").block
    size = (block, 7, 3)
    assert {name: found[name] for name in ("preset", "tokens", "batch", "dtype", "n_layers")} == {
        "preset": "llama3",
        "tokens": 7,
        "batch": 3,
        "dtype": "bfloat16",
        "n_layers": 32,
    }
    assert found["block"] == {
        "parameters": cost.parameters(block),
        "forward_flops": cost.forward_flops(*size),
        "backward_flops": cost.backward_flops(*size),
        "activation_bytes": cost.activation_bytes(*size, "bfloat16"),
        "checkpoint_bytes": {"input": cost.checkpoint_bytes(*size, "bfloat16")},
        "cache_bytes": {"keys": 3 * 7 * 1024 * 2, "values": 3 * 7 * 1024 * 2},
    }
    assert found["model"] == {
        "parameters": cost.model_parameters(model("llama3")),
        "forward_flops": cost.model_flops(model("llama3"), 7, 3),
    }
    assert found["totals"]["model"]["parameters"] == 8_030_261_248
    assert found["totals"]["block"]["cache_bytes"] == 2 * 3 * 7 * 1024 * 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gpt5"], "model must be one of gpt2, gpt3, llama, llama3, bert, minilm; got 'gpt5'"),
        (["gpt2", "--tokens", "0"], "tokens must be at least 1; got 0"),
        (["gpt2", "--tokens", "1025"], "the model reads 1024 positions; got 1025"),
        (["gpt2", "--batch", "0"], "batch must be at least 1; got 0"),
        (["gpt2", "--dtype", "int4"], "dtype must be one of float64, float32, float16, bfloat16; got 'int4'"),
    ],
)
def test_what_it_cannot_count_it_refuses_in_words(words, sentence):
    result = run("cost", *words)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_without_a_command_it_says_what_there_is():
    assert "cost" in run("--help").stdout


def test_the_script_runs_the_app(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["transformer-block", "cost", "minilm", "--json"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["totals"]["model"]["parameters"] == 22_713_216


@pytest.mark.filterwarnings("ignore:.*found in sys.modules.*:RuntimeWarning")
def test_the_module_runs_as_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["transformer-block", "cost", "gpt2", "--json"])

    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("transformer_block.cli", run_name="__main__")
    assert json.loads(capsys.readouterr().out)
