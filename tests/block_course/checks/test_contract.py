"""What every exercise promises, whoever writes it."""

import re

import numpy as np
import pytest

from block_course.check import open_cases
from block_course.checks import assignments
from block_course.checks.catching import LETS_THROUGH
from block_course.exercise import Observation
from block_course.expected import expected
from block_course.verdict import judge

EXERCISES = [exercise for assignment in assignments() for exercise in assignment.exercises]
JUDGES_DTYPES = [each for each in EXERCISES if "dtype" in {one.name for one in each.properties}]
each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
each_that_judges_dtypes = pytest.mark.parametrize("exercise", JUDGES_DTYPES, ids=lambda exercise: exercise.id)


def drawn(exercise, seed=0):
    return exercise.cases(np.random.default_rng(seed))


def arrays_of(case):
    return [value for value in case.arguments.values() if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("assignment", assignments(), ids=lambda assignment: assignment.stem)
def test_an_assignments_exercises_carry_its_stem_and_distinct_names(assignment):
    stem = assignment.stem.partition("_")[2]

    assert re.fullmatch(r"\d\d_[a-z_]+", assignment.stem)
    assert all(re.fullmatch(rf"{stem}\.[a-z_]+", each.id) for each in assignment.exercises)
    assert len({each.id for each in assignment.exercises}) == len(assignment.exercises)
    assert len({each.answer for each in assignment.exercises}) == len(assignment.exercises)
    assert assignment.points == sum(each.points for each in assignment.exercises)


@each_exercise
def test_points_are_quarters_and_add_up(exercise):
    assert exercise.points > 0
    for each in exercise.properties:
        assert (4 * each.points).is_integer()
        assert each.points > 0 or (exercise.calls == "test" and each.name == LETS_THROUGH)


@each_exercise
def test_a_property_requires_only_earlier_ones(exercise):
    names = [each.name for each in exercise.properties]

    assert len(set(names)) == len(names)
    for index, each in enumerate(exercise.properties):
        assert set(each.requires) <= set(names[:index])


@each_exercise
def test_a_seed_names_a_run_and_another_seed_another(exercise):
    first, again, other = drawn(exercise), drawn(exercise), drawn(exercise, seed=1)

    assert [case.name for case in first] == [case.name for case in again]
    for one, two in zip(first, again, strict=True):
        for name, value in one.arguments.items():
            np.testing.assert_array_equal(value, two.arguments[name])
    assert any(
        not np.array_equal(value, two.arguments[name])
        for one, two in zip(first, other, strict=True)
        for name, value in one.arguments.items()
    )


@each_exercise
def test_cases_have_distinct_names_and_tokens_of_distinct_sizes(exercise):
    for seed in range(20):
        cases = drawn(exercise, seed)

        assert len({case.name for case in cases}) == len(cases)
        assert all(np.isfinite(case.condition) and case.condition >= 0.0 for case in cases)
        for case in cases:
            for tokens in arrays_of(case)[:1]:
                if tokens.dtype == bool:  # a mask of as many queries as keys holds no tokens
                    continue
                assert len(set(tokens.shape)) == tokens.ndim, case.name


@each_that_judges_dtypes
def test_where_the_dtype_counts_cases_have_both(exercise):
    arrays = [array for case in drawn(exercise) for array in arrays_of(case)]

    assert {np.dtype(np.float32), np.dtype(np.float64)} <= {array.dtype for array in arrays}


@each_exercise
def test_the_reference_is_exact_finite_and_changes_nothing(exercise):
    for case in drawn(exercise):
        before = {name: np.copy(value) for name, value in case.arguments.items()}

        for output in expected(exercise, case):
            assert output.dtype not in (np.float16, np.float32)
            assert np.all(np.isfinite(output))

        for name, value in case.arguments.items():
            np.testing.assert_array_equal(value, before[name])


@each_exercise
def test_every_output_has_a_name_where_there_are_several(exercise):
    outputs = len(expected(exercise, drawn(exercise)[0]))

    assert len(exercise.returns) == (outputs if outputs > 1 else 0)


@each_exercise
def test_a_message_speaks_of_an_entry_that_there_is_and_a_mistake_is_about_cases_that_there_are(exercise):
    cases = drawn(exercise)

    for each in exercise.misconceptions:
        assert each.shows is None or each.shows in exercise.returns, each.name
        assert each.about is None or any(map(each.about, cases)), each.name


@each_that_judges_dtypes
def test_an_answer_always_in_float32_loses_the_dtype_alone(exercise):
    kind = "torch.Tensor" if exercise.framework == "torch" else "numpy.ndarray"
    run = []
    for case in open_cases(exercise):
        outputs = tuple(
            each.astype(np.float32) if each.dtype == np.float64 else each for each in expected(exercise, case)
        )
        after = {name: v for name, v in case.arguments.items() if isinstance(v, np.ndarray)}
        run.append(
            (
                case,
                Observation(
                    status="returned", outputs=outputs, kinds=(kind,) * len(outputs), arguments_after=after
                ),
            )
        )

    verdict = judge(exercise, run)

    assert [each.name for each in verdict.findings if each.outcome != "holds"] == ["dtype"]
    assert verdict.first_failure.message.endswith("is float64; you return float32")


@each_exercise
def test_hints_and_titles_are_sentences_that_give_no_code_away(exercise):
    for hints in (exercise.hints, *(each.hints for each in exercise.properties if each.hints)):
        assert len(hints) == 3
        assert all(hint.endswith((".", "?")) for hint in hints)
        assert not any(re.search(r"\w\(.*\)\s*$|=\s*np\.", hint) for hint in hints)
    assert exercise.minutes > 0
