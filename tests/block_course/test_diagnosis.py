from dataclasses import replace

import numpy as np
import pytest

from block_course.calling import observe
from block_course.diagnosis import NO_RETURN, JudgingError, diagnose
from block_course.exercise import Misconception
from tests.block_course.doubling import EXERCISE, cases, run_of


def name_for(answer, exercise=EXERCISE):
    diagnosis = diagnose(exercise, run_of(answer, exercise.cases(np.random.default_rng(0))))
    return diagnosis and diagnosis.name


def test_an_answer_that_equals_a_misconception_is_named_with_its_own_numbers():
    run = run_of(lambda x: x * x)

    diagnosis = diagnose(EXERCISE, run)

    assert diagnosis.name == "squared"
    assert diagnosis.message == f"on regular you give {run[0][1].outputs[0].flat[0]:.2f}"


def test_an_answer_that_equals_it_on_some_cases_only_is_not_named():
    assert name_for(lambda x: x * x if x.ndim == 2 else x * x + 1) is None
    assert name_for(lambda x: x + 1) is None


def test_a_case_on_which_the_misconception_is_not_defined_does_not_count():
    def flipped(x):
        return np.flip(2 * x, axis=1)

    assert name_for(flipped) == "doubled along axis 1"
    assert name_for(lambda x: flipped(x) if x.ndim == 2 else 2 * x) == "doubled along axis 1"


def test_a_right_answer_has_no_misconception():
    assert name_for(lambda x: 2 * x) is None


def test_a_misconception_that_shows_in_extremes_alone_is_named_when_those_fail_and_no_others():
    def overflowing(x):
        return 2 * (x * x) ** 0.5

    assert name_for(overflowing) == "through squares"
    assert name_for(lambda x: overflowing(x) + (x.ndim == 2)) is None
    assert name_for(lambda x: 2 * x if x.max() < 1e100 else (2 * x)[:1]) is None


def wrong_table(name, **entries):
    return Misconception(
        name=name,
        answer=lambda x: {"twice": 2 * x, "count": x.size, **{key: made(x) for key, made in entries.items()}},
        message=lambda case, outputs: f"{name}: {outputs[1]}",
    )


TABLE = replace(
    EXERCISE,
    reference=lambda x: {"twice": 2 * x, "count": x.size},
    returns=("twice", "count"),
    misconceptions=(
        wrong_table("squared", twice=np.square),
        wrong_table("rows counted", count=len),
        wrong_table("both", twice=np.abs, count=lambda x: x.ndim),
    ),
)


def table_run(twice, count):
    def answer(x):
        return {"twice": twice(x), "count": count(x)}

    drawn = TABLE.cases(np.random.default_rng(0))
    return [(case, observe(answer, case, TABLE.manner)) for case in drawn]


def table_name(twice, count):
    diagnosis = diagnose(TABLE, table_run(twice, count))
    return diagnosis and diagnosis.message.split(":")[0]


def test_of_two_mistakes_in_one_table_the_first_is_named():
    assert table_name(np.square, lambda x: x.size) == "squared"
    assert table_name(np.square, lambda x: 0) == "squared"
    assert table_name(lambda x: 2 * x, len) == "rows counted"
    assert table_name(lambda x: x + 1, len) == "rows counted"
    assert table_name(np.square, len) == "squared"


def test_a_mistake_that_changes_several_entries_is_named_where_all_follow_it():
    assert table_name(np.abs, lambda x: x.ndim) == "both"
    assert table_name(np.abs, lambda x: 0) is None
    assert table_name(lambda x: np.square(x) if x.ndim == 2 else 2 * x, lambda x: x.ndim) is None


def test_of_an_entry_that_the_message_speaks_of_the_others_may_follow_in_their_own_way():
    both = replace(TABLE.misconceptions[2], shows="twice")

    assert diagnose(replace(TABLE, misconceptions=(both,)), table_run(np.abs, lambda x: 0)).name == "both"
    assert diagnose(replace(TABLE, misconceptions=(both,)), table_run(np.square, lambda x: x.ndim)) is None


@pytest.mark.parametrize("count", [lambda x: None, lambda x: np.ones(3), lambda x: "six"])
def test_a_message_that_speaks_of_the_whole_table_is_spared_what_is_no_entry_of_one(count):
    whole = replace(TABLE.misconceptions[0], message=lambda case, outputs: f"squared: {outputs[1].item()}")
    exercise = replace(TABLE, misconceptions=(whole,))

    assert diagnose(exercise, table_run(np.square, lambda x: 0)).message == "squared: 0"
    assert diagnose(exercise, table_run(np.square, count)) is None
    shown = replace(whole, shows="twice", message=lambda case, outputs: "squared")
    assert diagnose(replace(TABLE, misconceptions=(shown,)), table_run(np.square, count)).name == "squared"


def test_a_mistake_on_some_cases_is_named_whatever_happens_on_others():
    about_sequences = Misconception(
        name="squared sequences",
        answer=lambda x: np.square(x) if x.ndim == 2 else 2 * x,
        message=lambda case, outputs: case.name,
        about=lambda case: case.arguments["x"].ndim == 2,
    )
    exercise = replace(EXERCISE, misconceptions=(about_sequences,))

    def unfinished(x):
        return np.square(x) if x.ndim == 2 else None

    assert diagnose(exercise, run_of(unfinished)).message == "regular"
    assert name_for(lambda x: x + 1 if x.ndim == 2 else None, exercise) is None
    assert name_for(lambda x: 2 * x if x.ndim == 2 else None, exercise) is None


def test_the_case_that_is_shown_differs_in_a_leading_digit_if_one_does():
    almost = Misconception(
        name="a little more, and much more on one axis",
        answer=lambda x: 2 * x + (1e-6 if x.ndim == 2 else 1.0),
        message=lambda case, outputs: case.name,
    )
    exercise = replace(EXERCISE, misconceptions=(almost,))

    assert diagnose(exercise, run_of(almost.answer)).message == "lone"


def test_without_such_a_case_the_first_that_differs_is_shown():
    slightly = Misconception(
        name="a little more",
        answer=lambda x: 2 * x + (0.0 if x.ndim == 2 else 1e-6),
        message=lambda case, outputs: case.name,
    )
    exercise = replace(EXERCISE, misconceptions=(slightly,))

    assert diagnose(exercise, run_of(slightly.answer)).message == "lone"


def test_a_misconception_that_equals_the_reference_wherever_defined_is_never_named():
    same = Misconception(name="same", answer=lambda x: 2 * x, message=lambda case, outputs: "same")
    exercise = replace(EXERCISE, misconceptions=(same,))

    assert name_for(lambda x: 3 * x, exercise) is None
    assert name_for(lambda x: 2 * x, exercise) is None


def test_another_number_of_outputs_or_another_shape_is_another_answer():
    pair = Misconception(
        name="twice", answer=lambda x: (2 * x, 2 * x), message=lambda case, outputs: str(len(outputs))
    )
    exercise = replace(EXERCISE, misconceptions=(pair,))

    assert name_for(lambda x: (2 * x, 2 * x), exercise) == "twice"
    assert name_for(lambda x: (2 * x, 2 * x, 2 * x), exercise) is None


def test_an_answer_that_always_returns_none_is_asked_for_its_return():
    diagnosis = diagnose(EXERCISE, run_of(lambda x: x.sort()))

    assert diagnosis.name == NO_RETURN
    assert diagnosis.message == "`double` returned None: is the `return` missing?"
    assert name_for(lambda x: None if x.ndim == 2 else 2 * x) is None
    assert name_for(lambda x: (None, None)) is None


def refuses_axes(x):
    """Raises on the first case, is right on the others."""
    return 2 * x + np.ones(7) if x.ndim == 2 else 2 * x


REFUSED = Misconception(
    name="refused",
    answer=refuses_axes,
    message=lambda case, outputs: f"{case.name}, {len(outputs)} outputs",
    tells=lambda case: case.arguments["x"].ndim == 2,
)


def test_an_answer_is_also_known_by_what_it_raises():
    exercise = replace(EXERCISE, misconceptions=(REFUSED,))

    assert diagnose(exercise, run_of(refuses_axes)).message == "regular, 0 outputs"
    assert name_for(lambda x: np.ones(7) + 2 * x if x.ndim == 2 else 2 * x, exercise) == "refused"


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: 2 * x + np.ones(8) if x.ndim == 2 else 2 * x,
        lambda x: x.mean(axis=7) if x.ndim == 2 else 2 * x,
        lambda x: 2 * x + np.ones(7) if x.ndim == 2 else x,
        lambda x: 2 * x if x.ndim == 2 else x[9:] + np.ones((2, 7)),
    ],
)
def test_an_answer_that_raises_otherwise_is_another_answer(answer):
    assert name_for(answer, replace(EXERCISE, misconceptions=(REFUSED,))) is None


def refusing(message):
    def answer(x):
        if x.ndim == 2:
            raise ValueError(message)
        return 2 * x

    return answer


def test_exceptions_that_name_no_shape_are_alike_in_words_and_sizes():
    shrunk = replace(REFUSED, answer=refusing("size 3 is different from 5"))
    exercise = replace(EXERCISE, misconceptions=(shrunk,))

    assert name_for(refusing("size 5 is different from 3"), exercise) == "refused"
    assert name_for(refusing("size 3 is different from 4"), exercise) is None
    assert name_for(refusing("x must be finite"), exercise) is None


def test_an_answer_that_shows_in_extremes_alone_is_not_known_by_what_it_raises():
    def refuses_the_large(x):
        return 2 * x + np.ones(7) if x.max() > 1e100 else 2 * x

    of_extremes = replace(REFUSED, answer=refuses_the_large, tells=lambda case: case.extreme)

    assert name_for(refuses_the_large, replace(EXERCISE, misconceptions=(of_extremes,))) is None


def test_what_both_raise_tells_nothing_unless_the_misconception_says_that_it_does():
    exercise = replace(EXERCISE, misconceptions=(replace(REFUSED, tells=None),))

    assert name_for(refuses_axes, exercise) is None


def test_a_case_that_a_misconception_prefers_is_shown_before_an_earlier_one():
    squared = replace(EXERCISE.misconceptions[0], message=lambda case, outputs: case.name)
    on_the_lone = replace(squared, tells=lambda case: case.arguments["x"].ndim == 1)
    nowhere = replace(squared, tells=lambda case: False)

    for misconception, shown in ((squared, "regular"), (on_the_lone, "lone"), (nowhere, "regular")):
        exercise = replace(EXERCISE, misconceptions=(misconception,))
        assert diagnose(exercise, run_of(np.square)).message == shown


def test_an_answer_in_float32_is_compared_as_one():
    assert name_for(lambda x: np.square(x).astype(np.float32)) == "squared"
    assert name_for(lambda x: np.square(x).astype(np.float16)) is None


def fails(*given):
    raise TypeError("ours")


@pytest.mark.parametrize(
    ("exercise", "message"),
    [
        (replace(EXERCISE, reference=fails), r"tiny\.double, reference on 'regular': TypeError"),
        (
            replace(EXERCISE, misconceptions=(replace(EXERCISE.misconceptions[0], answer=fails),)),
            r"tiny\.double, 'squared': TypeError",
        ),
        (
            replace(EXERCISE, misconceptions=(replace(EXERCISE.misconceptions[0], message=fails),)),
            r"tiny\.double, message of 'squared': TypeError",
        ),
    ],
)
def test_a_fault_of_the_course_is_never_the_learners(exercise, message):
    with pytest.raises(JudgingError, match=message):
        diagnose(exercise, run_of(np.square, cases(np.random.default_rng(0))))
