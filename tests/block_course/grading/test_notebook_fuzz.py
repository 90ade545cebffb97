"""Whatever becomes of a notebook's file: it is read, or a sentence says what is wrong with it."""

import json
import random
import resource
from collections import Counter
from typing import Any

import pytest

from block_course.grading.neutral import one_line
from block_course.grading.notebook import MAX_CELLS, MAX_FILE_BYTES, Notebook, Unreadable, read
from block_course.grading.plan import MAX_CODE_CHARACTERS, Plan, plan
from tests.block_course.grading.damaged import RELEASED, STEMS, damaged

FILES = 1000
_LONGEST_SENTENCE = 200
_RELEASES = {stem: read(data) for stem, data in RELEASED.items()}


def look_at(found: Notebook, todo: Plan) -> None:
    """Everything that later steps rely on: of texts, that they can be sent and stored."""
    assert len(found.cells) <= MAX_CELLS
    assert [each.number for each in found.cells] == sorted({each.number for each in found.cells})
    for cell in found.cells:
        assert cell.source.encode("utf-8").count(b"\x00") == 0
        assert cell.grade_id is None or isinstance(cell.grade_id, str)
    assert all(one_line(note) for note in (*found.notes, *todo.notes))
    assert sum(len(step.source) for step in todo.steps) < 2 * MAX_CODE_CHARACTERS
    assert all(step.name.encode() and step.source.encode().count(b"\x00") == 0 for step in todo.steps)


def test_of_1000_damaged_files_each_is_read_or_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = random.Random(7)
    ends: Counter[str] = Counter()
    sentences: set[str] = set()
    parsed = 0
    parse = json.loads

    def counted(*given: Any, **named: Any) -> Any:
        nonlocal parsed
        parsed += 1
        return parse(*given, **named)

    monkeypatch.setattr(json, "loads", counted)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(FILES):
        stem = STEMS[number % len(STEMS)]
        try:
            found = read(damaged(stem, chance))
        except Unreadable as error:
            ends["refused"] += 1
            sentences.add(str(error))
        else:
            ends["noted" if found.notes else "read"] += 1
            look_at(found, plan(found, _RELEASES[stem]))

    assert all(10 < len(each.encode("utf-8")) <= _LONGEST_SENTENCE for each in sentences)
    assert parsed <= FILES  # a file is gone through once, whatever it holds
    assert min(ends["refused"], ends["noted"], ends["read"]) > FILES / 10
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < 4 * MAX_FILE_BYTES
