"""python -m tests.fuzz.wire [--seconds N] [CORPUS]: frames searched by coverage, from real ones on.

It ends with 1 at the first bytes that a reader neither takes nor refuses by its name, and names the file in
which they are stored; `python -m tests.fuzz.wire FILE` takes them once more. Inputs that reach new code are
kept in the corpus, by default in _build/fuzz/, so that the next run goes on from there.
"""

import argparse
import importlib.util
import random
import sys
from collections.abc import Sequence
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "_build" / "fuzz" / "wire"
NEEDED = """make fuzz needs atheris, whose wheels are for Linux on x86-64 and for macOS:
.venv/bin/python -m pip install -r requirements-fuzz.txt"""
LONGEST_BYTES = 4096
MEMORY_MB = 1024
LONGEST_SECONDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Search until the time is up, or take one input again."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.wire", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60, help="how long to search (60)")
    parser.add_argument("corpus", type=Path, nargs="?", default=CORPUS, help="a folder, or one input")
    options = parser.parse_args(arguments)
    if options.corpus.is_file():
        from tests.block_course.grading.frames import taken

        sys.stdout.write(taken(options.corpus.read_bytes()) + "\n")
        return 0
    if importlib.util.find_spec("atheris") is None:
        sys.stderr.write(NEEDED + "\n")
        return 2
    search(options.corpus, options.seconds)
    return 0


def search(corpus: Path, seconds: int) -> None:
    """Hand over to libFuzzer, which ends the process."""
    import atheris

    with atheris.instrument_imports(include=["block_course.grading.wire", "block_course.grading.reply"]):
        from tests.block_course.grading.frames import REAL, mutated, taken

    def changed(data: bytes, most: int, seed: int) -> bytes:
        """Now and then a change that knows how frames are made; otherwise libFuzzer's own."""
        chance = random.Random(seed)
        return mutated(chance)[:most] if chance.random() < 0.2 else atheris.Mutate(data, most)

    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(REAL):
        (corpus / f"real-{number}").write_bytes(data)
    limits = [f"-max_len={LONGEST_BYTES}", f"-rss_limit_mb={MEMORY_MB}", f"-timeout={LONGEST_SECONDS}"]
    found = f"-artifact_prefix={corpus.parent}/"
    command = [sys.argv[0], *limits, f"-max_total_time={seconds}", found, str(corpus)]
    atheris.Setup(command, lambda data: taken(data) and None, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
