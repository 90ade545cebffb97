"""python -m benchmarks [--rounds N] [--row TEXT]: a table of ratios beside their bounds, stored as JSON.

It ends with 1 if a bound does not hold. The results lie in benchmarks/results.json, which git ignores.
"""

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.rows import ROWS
from benchmarks.timing import Result, measure

RESULTS = Path(__file__).with_name("results.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and store; 1 if a bound does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=31, help="samples of each contender (31)")
    parser.add_argument("--row", default="", metavar="TEXT", help="only the rows whose name has this text")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    say(f"{'what':64} {'ours':>9} {'reference':>9} {'ratio':>7} {'at most':>7}")
    results = []
    for row in ROWS:
        if options.row in row.name:
            results.append(measure(row, options.rounds))
            say(line_of(results[-1]))
    RESULTS.write_text(json.dumps(report_of(results, options.rounds), indent=2) + "\n", encoding="utf-8")
    say(f"stored in {RESULTS}")
    return 0 if all(result.holds for result in results) else 1


def line_of(result: Result) -> str:
    """One row of the table, in milliseconds and digits that mean something."""
    verdict = "" if result.holds else "  too slow"
    return (
        f"{result.name:64} {result.ours_ms:6.2f} ms {result.reference_ms:6.2f} ms "
        f"{result.ratio:7.4g} {result.at_most:7.4g}{verdict}"
    )


def report_of(results: Sequence[Result], rounds: int) -> dict[str, object]:
    """What was measured, and on what."""
    return {
        "setting": "one thread, float32, B 8, T 128, D 256, H 8, F 1024, ReLU, causal",
        "rounds": rounds,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        "rows": [result._asdict() | {"holds": result.holds} for result in results],
    }


def say(line: str) -> None:
    """Print a line now."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
