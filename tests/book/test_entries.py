"""Faults of a page of wrong sentences are found, each by a page that has it."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from .entries import entries, entry_faults
from .sections import Section, sections

OPENING = "# Wrong\n\n**The question.** Why?\n\n*You need* a pencil. *It takes* 5 minutes.\n\n## Of shapes"
TEMPTING = "### “The shape is right”\n\nIt is easily seen."
RIGHT = "It prints 1.\n\n*Right:* It is not enough. See [there](01_shapes.ipynb#a-guess).\n\n### Side by side"
CLOSING = """## Carry forward
## Recall
<details><summary>Why?</summary></details><details><summary>How?</summary></details><details>
<summary>Where?</summary></details>

## Where this comes from"""
KNOWN = {"01_shapes": {"a-guess": Section("A guess", 3, [])}}


def page(folder: Path, *texts: str, printed: bool = True) -> dict[str, Section]:
    opening, tempting, right, closing = texts
    output = new_output("stream", name="stdout", text="1\n") if printed else new_output("display_data")
    cells = [
        new_markdown_cell(f"{opening}\n\n{tempting}"),
        new_code_cell("print(1)", outputs=[output]),
        new_markdown_cell(f"{right}\n\n{closing}"),
    ]
    nbformat.write(new_notebook(cells=cells), folder / "20_page.ipynb")
    return sections(folder / "20_page.ipynb")


def test_a_sound_page_has_one_entry_and_no_faults(tmp_path: Path) -> None:
    sound = page(tmp_path, OPENING, TEMPTING, RIGHT, CLOSING)

    assert [each.title for each in entries(sound).values()] == ["“The shape is right”"]
    assert entry_faults(sound, KNOWN) == []


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("*It takes*", "It takes", "the opening lacks *It takes*"),
        ("\n\nIt is easily seen.", "", "“The shape is right”: no word before its cell says why"),
        ("*Right:* ", "", "“The shape is right”: no *Right:* behind its cell"),
        ("It is easily seen.", "*Right:* x.", None),
        ("[there](01_shapes.ipynb#a-guess)", "there", "“The shape is right”: no link says where"),
        ("#a-guess", "#guess", "“The shape is right”: there is no section 01_shapes#guess"),
        ("01_shapes.", "02_other.", "“The shape is right”: there is no section 02_other#a-guess"),
        ("## Recall", "## Questions", "it ends in ['Carry forward', 'Questions', 'Where this comes from']"),
        ("<summary>Why?", "Why?", "fewer than 3 recall questions"),
        ("“The shape is right”", "The shape is right", "it has no entry"),
    ],
)
def test_a_fault_is_found(tmp_path: Path, before: str, after: str, fault: str | None) -> None:
    texts = [text.replace(before, after) for text in (OPENING, TEMPTING, RIGHT, CLOSING)]
    assert texts != [OPENING, TEMPTING, RIGHT, CLOSING]

    found = entry_faults(page(tmp_path, *texts), KNOWN)

    assert [each.startswith(fault or "") for each in found[:1]] == ([True] if fault else [])


def test_a_right_sentence_before_the_cell_is_none_behind_it(tmp_path: Path) -> None:
    early = TEMPTING.replace("It is easily seen.", "*Right:* See [there](01_shapes.ipynb#a-guess).")
    late = RIGHT.replace("*Right:* ", "")

    found = entry_faults(page(tmp_path, OPENING, early, late, CLOSING), KNOWN)

    assert "“The shape is right”: no *Right:* behind its cell" in found


def test_a_cell_that_prints_nothing_decides_nothing(tmp_path: Path) -> None:
    found = entry_faults(page(tmp_path, OPENING, TEMPTING, RIGHT, CLOSING, printed=False), KNOWN)

    assert found == ["“The shape is right”: no cell prints what decides"]
