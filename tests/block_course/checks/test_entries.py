from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from block_course.calling import observe
from block_course.checks.entries import entries
from block_course.exercise import Case
from block_course.verdict import judge
from tests.block_course.doubling import EXERCISE

RIGHT = {
    "width": 768,
    "shape": (8, 64, 512),
    "share": 2 / 3,
    "first": "norm_1",
    "kept": {"weights", "eps"},
}
TABLE = replace(
    EXERCISE,
    reference=lambda: RIGHT,
    cases=lambda rng: [Case(name="the table")],
    properties=tuple(entries(name, name, 1.0, of=(name,)) for name in RIGHT),
    misconceptions=(),
    returns=tuple(RIGHT),
)


def verdict(answer):
    return judge(TABLE, [(case, observe(lambda: answer, case, TABLE.manner)) for case in TABLE.cases(None)])


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"width": 768.0},
        {"width": np.int32(768), "shape": np.array([8, 64, 512])},
        {"shape": [8, 64, 512]},
        {"kept": ["eps", "weights"]},
        {"kept": ("weights", "eps"), "share": 0.6666666666666667},
        {"width": Fraction(768), "share": Fraction(2, 3)},
        {"width": Decimal(768), "share": np.longdouble(2) / 3},
    ],
)
def test_a_right_table_earns_all_however_it_is_written(other) -> None:
    judged = verdict(RIGHT | other)

    assert (judged.status, judged.points) == ("pass", 5.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 3072}, "your `width` is 3,072"),
        ({"width": None}, "your `width` is None where a number belongs"),
        ({"width": "768"}, "your `width` is '768' where a number belongs"),
        ({"shape": (8, 512, 64)}, "your `shape` is [8 512 64]"),
        ({"shape": (8, 64)}, "your `shape` is [8 64]"),
        ({"width": (768,)}, "your `width` is [768]"),
        ({"share": 0.5}, "your `share` is 0.500"),
        ({"share": 0.67}, "your `share` is 0.670, rounded to two decimals"),
        ({"share": 0.66668}, "your `share` is 0.66668"),
        ({"share": 1.0}, "your `share` is 1.000, rounded to a whole number"),
        ({"width": 768.25}, "your `width` is 768.250"),
        ({"first": True}, "your `first` is True where a word belongs"),
        ({"first": None}, "your `first` is None where a word belongs"),
        ({"kept": set()}, "your `kept` lacks 2 of 2"),
        ({"kept": {"eps", "loss", "host"}}, "your `kept` holds host, loss, which do not belong there"),
        ({"first": "attention"}, "your `first` is 'attention'"),
        ({"first": 1}, "your `first` is 1 where a word belongs"),
        ({"kept": {"weights"}}, "your `kept` lacks 1 of 2"),
        ({"kept": {"weights", "eps", "loss"}}, "your `kept` holds loss, which does not belong there"),
    ],
)
def test_a_wrong_entry_costs_its_own_points_and_is_said_without_the_right_one(wrong, message) -> None:
    judged = verdict(RIGHT | wrong)

    assert judged.points == 4.0
    assert judged.first_failure.message == message


def test_an_entry_that_is_left_out_is_missing() -> None:
    judged = verdict({name: value for name, value in RIGHT.items() if name != "shape"})

    assert judged.points == 4.0
    assert judged.first_failure.message == "your dict has no entry 'shape'"


def test_an_entry_that_is_not_filled_in_costs_its_points_alone() -> None:
    judged = verdict(RIGHT | {"shape": None, "first": ...})

    assert judged.points == 3.0
    assert judged.first_failure.message == "your `shape` is None where an array belongs"


def test_what_is_no_dict_is_named() -> None:
    message = "your function returned no dict; return one with the keys width, shape, share, first, kept"
    assert verdict([768]).first_failure.message == message
    in_order = (768, np.array([8, 64, 512]), 2 / 3, "norm_1", {"eps"})
    assert verdict(in_order).first_failure.message == message
