"""The package reference: its examples run, and it leaves out no public module."""

import doctest
import re
from pathlib import Path

import pytest

from .conftest import COURSE

PAGES = sorted((COURSE / "chapters").glob("reference*.md"))
EXAMPLES = [page for page in PAGES if page.stem != "reference_card"]
# Each with its reason: what nobody imports for use
NOT_SHOWN = {
    "transformer_block": "an empty root",
    "transformer_block.axes": "the table of letters, which the first page has",
    "transformer_block.cli": "commands, which print their own help",
    "transformer_block.minilm": "its three files are shown",
    "transformer_block.explore": "its four files are shown",
    "transformer_block.audit": "its files are shown as far as a user calls them",
}
INSIDE = ("transformer_block.audit.", "transformer_block.figures")


def modules() -> set[str]:
    source = COURSE / "src"
    names = set()
    for path in (source / "transformer_block").rglob("*.py"):
        parts = path.relative_to(source).with_suffix("").parts
        if not any(part.startswith("_") and part != "__init__" for part in parts):
            names.add(".".join(part for part in parts if part != "__init__"))
    return names


def shown() -> list[str]:
    return re.findall(r"```\{api\} (\S+)", "\n".join(page.read_text(encoding="utf-8") for page in EXAMPLES))


@pytest.mark.slow  # one of them is a whole audit
@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_print_what_stands_there(page: Path) -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.stem, str(page), 0)
    said: list[str] = []

    found = doctest.DocTestRunner().run(test, out=said.append)

    assert found.attempted > 8
    assert not found.failed, "".join(said)


def test_every_public_module_is_shown_or_left_out_for_a_reason() -> None:
    left_out = {name for name in modules() if name in NOT_SHOWN or name.startswith(INSIDE)}

    assert modules() - left_out - set(shown()) == set()
    assert set(NOT_SHOWN) <= modules()


def test_no_module_is_shown_twice() -> None:
    assert len(shown()) == len(set(shown()))
