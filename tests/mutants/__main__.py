"""Break the package on purpose, one small fault at a time, and see whether its tests notice.

    python -m tests.mutants [FILE …] [--workers N]

A file is named as below src/transformer_block, such as in_numpy/masks.py; without one, all are run. It fails
on a fault that no test notices and that equivalent.toml does not explain. Verdicts are kept in _build/: a
run that was cut off goes on where it stopped. A fault is tried anew when its file changes, or the file of the
test that noticed it; one that none noticed, when any of its tests change.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mutants.judge import Target
from tests.mutants.ledger import Memory, read_equivalents
from tests.mutants.run import Run

ROOT = Path(__file__).parents[2]
PACKAGE, TESTS = ROOT / "src/transformer_block", ROOT / "tests/transformer_block"
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
VERDICTS = ROOT / "_build/mutants.jsonl"
SHARED = [*(TESTS / name for name in ("numerics.py", "parts.py", "choices.py")), ROOT / "tests/conftest.py"]
ALONE = (
    *("config.py", "presets.py", "models.py", "parameters.py", "initialization.py", "joins.py"),
    *("cost.py", "_activation_cost.py", "_cost_invariants.py", "_cost_command.py"),
    *("manifest.py", "_manifest_form.py", "_whole_files.py", "_audit_command.py"),
)
BROKEN = [*ALONE, "in_numpy/*.py", "in_torch/*.py", "minilm/*.py", "audit/*.py"]
# By a file's stem, or by its place where others have that stem. What a block is made of has no tests but the
# block's; a stack is tested beside the block, and how attention uses a cache beside the cache.
TESTED_AS = {
    "_call": ["block"],
    "_sublayers": ["block"],
    "_activation_cost": ["cost_activations"],
    "stack": ["block", "stack"],
    "attention": ["attention", "cache"],
    "_cost_invariants": ["cost"],
    "_cost_command": ["cost_command", "cli"],
    "_manifest_form": ["manifest"],
    "_whole_files": ["whole_files", "manifest"],
    "_audit_command": ["audit_command"],
    "minilm/_invariants": ["encoders"],
    "minilm/in_numpy": ["encoders"],
    "minilm/in_torch": ["encoders"],
    "layers": ["ours", "peers/audit"],
} | {  # a contract shows what it is worth on blocks that break it
    contract: [contract, "contracts", "diagnosis", "odd_blocks"]
    for contract in (
        *("caching", "calling", "learning", "likeness", "masking", "mixing", "modes", "norms"),
        *("discovery", "known_faults", "measures", "precision", "structure"),
        *("subject", "torch_subject", "variants"),
    )
}


def files_to_break() -> list[str]:
    """Every file whose faults are tried, as below the package."""
    found = [path for pattern in BROKEN for path in sorted(PACKAGE.glob(pattern))]
    return [path.relative_to(PACKAGE).as_posix() for path in found if path.name != "__init__.py"]


def target_of(file: str) -> Target:
    """A file and its own tests: test_<stem>.py and test_<stem>_….py.

    They stand at the same place below tests, or where the twins meet.

    Raises: FileNotFoundError for a file that does not exist, or that has no tests of its own.
    """
    path, places = PACKAGE / file, (TESTS / Path(file).parent, TESTS)
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}")
    whole = Path(file).with_suffix("")
    stems = TESTED_AS.get(whole.as_posix(), TESTED_AS.get(path.stem, [path.stem]))
    names = [
        (Path(stem).parent / f"test_{Path(stem).name}{end}.py").as_posix()
        for stem in stems
        for end in ("", "_*")
    ]
    tests = sorted({found for place in places for name in names for found in place.glob(name)})
    if not tests:
        raise FileNotFoundError(f"{file} has no tests of its own: there is no {places[0] / names[0]}")
    return Target(file, path, ".".join(("transformer_block", *whole.parts)), tests)


class Preload:
    """Loads, before any fork, what forks would each load on their own: seconds, against tenths for a test."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        import numpy
        import scipy.special
        import torch
        from hypothesis import given
        from hypothesis import strategies as st

        # The first call of each loads what importing it does not: sympy, and the engine of hypothesis.
        torch.testing.assert_close(torch.ones(1), torch.ones(1))
        given(st.permutations([1, 2]), st.floats(0, 1))(lambda order, number: None)()
        numpy.testing.assert_allclose(scipy.special.erf(0.0), 0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print a table and what went unnoticed, and return 1 if anything did."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="such as in_numpy/masks.py; all without one")
    parser.add_argument("--workers", type=int, default=2, help="forks side by side (2)")
    options = parser.parse_args(arguments)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ["MUTANT_UNDER_TEST"] = "all"  # no shape checks between a fault and the tests
    targets = [target_of(file) for file in options.files or files_to_break()]
    run = Run(targets, read_equivalents(EQUIVALENT), Memory(VERDICTS), SHARED, options.workers)
    quiet = [f"-pno:{name}" for name in ("terminal", "cacheprovider", "cov", "xdist")]
    code = pytest.main(["--capture=no", *quiet, str(ROOT / "tests")], plugins=[run, Preload()])
    sys.stdout.writelines(fault + "\n" for fault in run.faults)
    finished = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return 0 if finished and not run.faults else 1


if __name__ == "__main__":
    sys.exit(main())
