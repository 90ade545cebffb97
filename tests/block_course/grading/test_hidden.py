from dataclasses import replace

import numpy as np
import pytest

from block_course.exercise import Assignment
from block_course.grading.hidden import Hidden
from block_course.grading.secret import Secret
from tests.block_course.grading.examples import DOUBLE, SECRET, TINY
from tests.block_course.judging import EXERCISE as JUDGING

TESTING = Assignment(stem="00_tests", exercises=(JUDGING,))


def test_every_submission_meets_the_same_cases() -> None:
    hidden = Hidden(SECRET)

    first, second = hidden.cases(TINY, DOUBLE), hidden.cases(TINY, DOUBLE)

    assert all(one is other for one, other in zip(first, second, strict=True))
    drawn = DOUBLE.cases(SECRET.generator(TINY.stem, DOUBLE.id))
    for kept, fresh in zip(first, drawn, strict=True):
        np.testing.assert_array_equal(kept.arguments["x"], fresh.arguments["x"])


def test_an_array_of_a_hidden_case_cannot_be_written_to() -> None:
    [case, *_] = Hidden(SECRET).cases(TINY, DOUBLE)

    with pytest.raises(ValueError, match="read-only"):
        case.arguments["x"] += 1.0


def test_another_secret_or_another_form_of_the_exercise_draws_its_own() -> None:
    hidden = Hidden(SECRET)
    [case, *_] = hidden.cases(TINY, DOUBLE)

    [by_another_secret, *_] = Hidden(Secret(b"another key of enough bytes")).cases(TINY, DOUBLE)
    [of_another_form, *_] = hidden.cases(TINY, replace(DOUBLE, hints=()))

    assert not np.array_equal(case.arguments["x"], by_another_secret.arguments["x"])
    assert of_another_form is not case


def test_a_tests_blocks_are_made_anew_but_what_is_known_of_them_is_kept() -> None:
    hidden = Hidden(SECRET)

    first, second = hidden.cases(TESTING, JUDGING), hidden.cases(TESTING, JUDGING)

    for one, other in zip(first, second, strict=True):
        assert one.name == other.name
        assert one.subject is not other.subject
        assert one.known is other.known
