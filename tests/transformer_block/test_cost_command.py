"""What `transformer-block cost` prints, to the last line: numbers under each other, parts under wholes."""

from typer.testing import CliRunner

from transformer_block import cli

TABLE = """
llama3: 32 blocks, 3 × 2 tokens, bfloat16
┏━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━┓
┃                      ┃     one block ┃       32 blocks ┃
┡━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━┩
│ parameters           │   218,112,000 │   6,979,584,000 │
│   norms              │         8,192 │         262,144 │
│   attention          │    41,943,040 │   1,342,177,280 │
│   feed forward       │   176,160,768 │   5,637,144,576 │
├──────────────────────┼───────────────┼─────────────────┤
│ forward FLOPs        │ 2,617,442,304 │  83,758,153,728 │
│   attention.qkv      │   301,989,888 │   9,663,676,416 │
│   attention.scores   │        98,304 │       3,145,728 │
│   attention.values   │        98,304 │       3,145,728 │
│   attention.out      │   201,326,592 │   6,442,450,944 │
│   feed forward.up    │   704,643,072 │  22,548,578,304 │
│   feed forward.gate  │   704,643,072 │  22,548,578,304 │
│   feed forward.down  │   704,643,072 │  22,548,578,304 │
├──────────────────────┼───────────────┼─────────────────┤
│ backward FLOPs       │ 5,234,884,608 │ 167,516,307,456 │
│   attention.qkv      │   603,979,776 │  19,327,352,832 │
│   attention.scores   │       196,608 │       6,291,456 │
│   attention.values   │       196,608 │       6,291,456 │
│   attention.out      │   402,653,184 │  12,884,901,888 │
│   feed forward.up    │ 1,409,286,144 │  45,097,156,608 │
│   feed forward.gate  │ 1,409,286,144 │  45,097,156,608 │
│   feed forward.down  │ 1,409,286,144 │  45,097,156,608 │
├──────────────────────┼───────────────┼─────────────────┤
│ activation bytes     │     1,009,432 │      32,301,824 │
│   norm 1             │        49,164 │       1,573,248 │
│   attention          │       173,824 │       5,562,368 │
│   norm 2             │        49,164 │       1,573,248 │
│   feed forward       │       737,280 │      23,592,960 │
├──────────────────────┼───────────────┼─────────────────┤
│ checkpoint bytes     │        49,152 │       1,572,864 │
├──────────────────────┼───────────────┼─────────────────┤
│ cache bytes          │        24,576 │         786,432 │
│   keys               │        12,288 │         393,216 │
│   values             │        12,288 │         393,216 │
├──────────────────────┼───────────────┼─────────────────┤
│ model, parameters    │               │   8,030,261,248 │
│   token embedding    │               │     525,336,576 │
│   blocks             │               │   6,979,584,000 │
│   final norm         │               │           4,096 │
│   output             │               │     525,336,576 │
├──────────────────────┼───────────────┼─────────────────┤
│ model, forward FLOPs │               │  90,062,192,640 │
│   blocks             │               │  83,758,153,728 │
│   output             │               │   6,304,038,912 │
└──────────────────────┴───────────────┴─────────────────┘
"""


def printed(monkeypatch, *words):
    monkeypatch.setenv("COLUMNS", "120")
    done = CliRunner().invoke(cli.app, ["cost", *words])
    assert done.exit_code == 0
    return done.stdout


def test_the_table_has_a_section_a_count_and_a_row_for_each_of_its_parts(monkeypatch):
    shown = printed(monkeypatch, "llama3", "--tokens", "2", "--batch", "3", "--dtype", "bfloat16")
    assert [line.rstrip() for line in shown.splitlines()] == TABLE.strip().splitlines()


def test_for_scripts_each_part_has_a_line(monkeypatch):
    shown = printed(monkeypatch, "gpt2", "--json")
    assert shown.startswith('{\n  "preset": "gpt2",\n  "tokens": 1024,\n  "batch": 1,\n')
    assert '\n    "cache_bytes": {\n      "keys": 3145728,\n      "values": 3145728\n    }' in shown
    assert shown.endswith("\n  }\n}\n")
