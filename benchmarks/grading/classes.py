"""Classes to be graded: many copies of a solution that differ by a word, loops, and the whole gallery."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.block_course.grading.cheats import CHEATS
from tests.block_course.grading.damage import DAMAGE
from tests.block_course.grading.hand_ins import FORWARD, STATISTICS, edited, last, source
from tests.block_course.grading.hand_ins import STEM as GALLERY_STEM
from tests.block_course.grading.honest import HONEST

COURSE = Path(__file__).parents[2]
STEM = "11_training"
"""A notebook of four exercises, one of them in torch."""

_WRONG = "def {}(x, *more):\n    return np.zeros_like(x)"
_NOTHING_RIGHT = (
    source(STATISTICS, _WRONG.format("statistics")),
    source(FORWARD, _WRONG.format("layer_norm")),
)


def solution(word: str = "") -> bytes:
    """The solution with a cell of the learner's own, so that no two are the same."""
    notebook = json.loads((COURSE / "solutions" / f"{STEM}.ipynb").read_bytes())
    notebook["cells"].append(_code(f"# {word}"))
    return json.dumps(notebook).encode()


def loop(word: str) -> bytes:
    """A notebook whose first cell never ends."""
    notebook = json.loads((COURSE / "exercises" / f"{STEM}.ipynb").read_bytes())
    notebook["cells"].insert(0, _code(f"while True: pass  # {word}"))
    return json.dumps(notebook).encode()


def hand_in(folder: Path, work: Iterable[tuple[str, bytes]], stem: str = STEM) -> Path:
    """A folder with a folder for each learner."""
    for learner, data in work:
        (folder / learner).mkdir(parents=True)
        (folder / learner / f"{stem}.ipynb").write_bytes(data)
    return folder


def class_of(folder: Path, size: int, made: Callable[[str], bytes] = solution) -> Path:
    """So many learners, each with work of their own."""
    names = [f"l{number:05}" for number in range(size)]
    return hand_in(folder, ((name, made(name)) for name in names))


def gallery(folder: Path) -> Path:
    """Cheats, honest work that went through much, and damage with a learner before and after each."""
    wrong = edited(*_NOTHING_RIGHT)
    work: list[tuple[str, bytes]] = [("a-nothing-right", wrong), ("a-solution", edited())]
    for number, text in enumerate(CHEATS.values()):
        work.append((f"b-{number:03}", edited(*_NOTHING_RIGHT, last(text))))
    work += [(f"c-{number:03}", data) for number, data in enumerate(HONEST.values())]
    for number, text in enumerate(DAMAGE.values()):
        work.append((f"d-{number:03}-damage", edited(last(text))))
        work.append((f"d-{number:03}-later", edited(last(f"# after {number}"))))
    return hand_in(folder, work, GALLERY_STEM)


def _code(text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "own",
        "metadata": {},
        "outputs": [],
        "source": text,
    }
