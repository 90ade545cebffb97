"""What every exercise promises, whoever writes it."""

import re

import numpy as np
import pytest

from block_course.check import attempt, open_cases
from block_course.checks import assignments
from block_course.exercise import as_outputs
from block_course.verdict import judge

EXERCISES = [exercise for assignment in assignments() for exercise in assignment.exercises]
each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)


def drawn(exercise, seed=0):
    return exercise.cases(np.random.default_rng(seed))


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
    assert all(each.points > 0 and (4 * each.points).is_integer() for each in exercise.properties)


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
def test_cases_have_distinct_names_distinct_sizes_and_both_precisions(exercise):
    for seed in range(20):
        cases = drawn(exercise, seed)
        arrays = [v for case in cases for v in case.arguments.values() if isinstance(v, np.ndarray)]

        assert len({case.name for case in cases}) == len(cases)
        assert all(len(set(array.shape)) == array.ndim for array in arrays)
        assert {np.dtype(np.float32), np.dtype(np.float64)} <= {array.dtype for array in arrays}
        assert all(np.isfinite(case.condition) and case.condition >= 0.0 for case in cases)


@each_exercise
def test_the_reference_is_float64_finite_and_changes_nothing(exercise):
    for case in drawn(exercise):
        before = {name: np.copy(value) for name, value in case.arguments.items()}

        for output in as_outputs(exercise.reference(**case.arguments)):
            assert output.dtype == np.float64
            assert np.all(np.isfinite(output))

        for name, value in case.arguments.items():
            np.testing.assert_array_equal(value, before[name])


@each_exercise
def test_every_output_has_a_name_where_there_are_several(exercise):
    outputs = len(as_outputs(exercise.reference(**drawn(exercise)[0].arguments)))

    assert len(exercise.returns) == (outputs if outputs > 1 else 0)


@each_exercise
def test_an_answer_always_in_float32_loses_the_dtype_alone(exercise):
    def always_in_float32(*given, **named):
        right = as_outputs(exercise.reference(*given, **named))
        return tuple(each.astype(np.float32) for each in right) if len(right) > 1 else right[0].astype("f4")

    verdict = judge(exercise, attempt(exercise, always_in_float32, open_cases(exercise)))

    assert [each.name for each in verdict.findings if each.outcome != "holds"] == ["dtype"]
    assert verdict.first_failure.message.endswith("is float64; you return float32")


@each_exercise
def test_hints_and_titles_are_sentences_that_give_no_code_away(exercise):
    for hints in (exercise.hints, *(each.hints for each in exercise.properties if each.hints)):
        assert len(hints) == 3
        assert all(hint.endswith((".", "?")) for hint in hints)
        assert not any(re.search(r"\w\(.*\)\s*$|=\s*np\.", hint) for hint in hints)
    assert exercise.minutes > 0
