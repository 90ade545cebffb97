"""What a page owes to each wrong sentence: words before its cell, a printed result, the right one, a link.

An entry is a section whose title is a sentence in quotation marks. Such a page has entries where a
chapter has its four levels of depth; all other rules of chapters hold for it too.
"""

from collections.abc import Iterator, Mapping

from .lints import FEWEST_QUESTIONS, PROMISES
from .sections import Section, links

CLOSING = ["Carry forward", "Recall", "Where this comes from"]
RIGHT = "*Right:* "


def entries(page: Mapping[str, Section]) -> dict[str, Section]:
    """The sections whose titles are sentences in quotation marks."""
    return {name: each for name, each in page.items() if each.title[0] + each.title[-1] == "“”"}


def entry_faults(page: Mapping[str, Section], known: Mapping[str, Mapping[str, Section]]) -> list[str]:
    """Describe every fault of the entries and of their order; known has the chapters to be linked to."""
    return [
        *_order_faults(page),
        *(
            f"{each.title}: {fault}"
            for each in entries(page).values()
            for fault in _entry_faults(each, known)
        ),
    ]


def _order_faults(page: Mapping[str, Section]) -> Iterator[str]:
    opening = next(iter(page.values())).prose
    for promise in PROMISES:
        if promise not in opening:
            yield f"the opening lacks {promise}"
    titles = [each.title for each in page.values() if each.depth == len("##")]
    if titles[-len(CLOSING) :] != CLOSING:
        yield f"it ends in {titles[-len(CLOSING) :]}, which should be {CLOSING}"
    recall = "".join(each.prose for each in page.values() if each.title == "Recall")
    if recall.count("<summary>") < FEWEST_QUESTIONS:
        yield f"fewer than {FEWEST_QUESTIONS} recall questions"
    if not entries(page):
        yield "it has no entry"


def _entry_faults(entry: Section, known: Mapping[str, Mapping[str, Section]]) -> Iterator[str]:
    if not entry.parts or not isinstance(entry.parts[0], str):
        yield "no word before its cell says why one might believe it"
    if not any(_prints(cell) for cell in entry.cells):
        yield "no cell prints what decides"
    after = next((part for part in reversed(entry.parts) if isinstance(part, str) and RIGHT in part), None)
    if after is None or after is entry.parts[0]:
        yield f"no {RIGHT.strip()} behind its cell"
    linked = links(after or "")
    if not linked:
        yield "no link says where it is shown in full"
    for page, section in linked:
        if section not in known.get(page, {}):
            yield f"there is no section {page}#{section}"


def _prints(cell: Mapping[str, object]) -> bool:
    outputs = cell["outputs"]
    assert isinstance(outputs, list)
    return any(each["output_type"] == "stream" for each in outputs)
