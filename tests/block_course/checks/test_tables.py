from dataclasses import replace

import numpy as np
import pytest

from block_course.calling import observe
from block_course.checks.entries import entries
from block_course.checks.selection import on
from block_course.checks.tables import as_said, changed
from block_course.exercise import Case
from block_course.plain import entry
from block_course.verdict import JudgingError, judge
from tests.block_course.doubling import EXERCISE


def right(T, D):
    return {"stream": (T, D), "ways": T + D, "boxes": {"add_1", "norm_1"}}


TURNED = changed(
    "turned",
    right,
    ("stream", "ways", "boxes"),
    "T = {T}, D = {D}: yours is {mine}.",
    stream=lambda given: (given.D, given.T),
)
SMALL = on(lambda case: case.name == "small", entries("small", "small ways", 1.0, of=("ways",)))
TABLE = replace(
    EXERCISE,
    reference=right,
    cases=lambda rng: [Case(name=name, arguments={"T": 2, "D": D}) for name, D in SIZES.items()],
    properties=(entries("stream", "the stream", 1.0, of=("stream",)), SMALL),
    misconceptions=(TURNED,),
    returns=("stream", "ways", "boxes"),
)
SIZES = {"small": 3, "large": 3072}


def verdict(answer, table=TABLE):
    return judge(table, [(case, observe(answer, case, table.manner)) for case in table.cases(None)])


def test_a_changed_entry_is_told_with_its_value_and_the_cases_arguments() -> None:
    judged = verdict(lambda T, D: right(T, D) | {"stream": [D, T]})

    assert judged.points == 1.0
    assert judged.diagnosis.name == "turned"
    assert judged.diagnosis.message == "T = 2, D = 3: yours is (3, 2)."


def test_another_entry_may_be_shown() -> None:
    told = changed("ways", right, TABLE.returns, "{mine} of {D}", shown="ways", stream=lambda given: (1,))
    outputs = (np.array([1]), np.array(3074), np.array([]))

    assert told.message(TABLE.cases(None)[1], outputs) == "3,074 of 3,072"


def test_a_property_may_look_at_some_cases_alone() -> None:
    judged = verdict(lambda T, D: right(T, D) | {"ways": 5})

    assert (judged.status, judged.points) == ("pass", 2.0)


def test_a_property_without_a_case_is_an_error_of_the_course() -> None:
    nowhere = replace(TABLE, properties=(on(lambda case: False, TABLE.properties[0]),))

    with pytest.raises(JudgingError, match=r"no case of tiny\.double is left for 'stream'"):
        verdict(right, nowhere)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3072, "3,072"),
        (0.5, "0.500"),
        (True, "True"),
        ((2, 3072), "(2, 3072)"),
        ("add_1", "add_1"),
        ({"norm_1", "add_1"}, "add_1, norm_1"),
    ],
)
def test_an_entry_is_said_in_words(value, said) -> None:
    assert as_said(entry(value)[0]) == said
