"""Break each reference on purpose: its own check must notice, or the gallery says why nothing is to notice.

A gallery lists mutants that compute the same under EQUIVALENT, by key with the reason.
"""

import importlib
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from block_course.checks import assignments
from block_course.exercise import Case, Exercise, Observation, Run
from block_course.expected import expected
from block_course.verdict import judge
from tests.gallery.answers import hidden_cases
from tests.gallery.test_gallery import SEEDS as GALLERY_SEEDS
from tests.mutants.mutate import Mutant, mutants_of

# as for the gallery, unchecked for the time it takes
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("unchecked")]

SEEDS = 3
ONE_IN = 1 if GALLERY_SEEDS > 20 else 4
"""Of so many mutants one is tried, and each that is excused; all of them in `make gallery`."""
WITH_A_REFERENCE = [
    exercise for each in assignments() for exercise in each.exercises if exercise.calls != "test"
]


def mutants_of_reference(exercise: Exercise) -> list[Mutant]:
    path = Path(inspect.getsourcefile(exercise.reference) or "")
    mutants = mutants_of(path, exercise.reference.__name__)
    # to NumPy, no dtype is float64
    return [each for each in mutants if each.after.replace("(None)", "(np.float64)") != each.before]


def run_of(exercise: Exercise, reference: Callable[..., Any], cases: Sequence[Case]) -> Run:
    """A run in which an answer gave what a reference gives, in the dtype that its arguments have."""
    return [(case, _observed(exercise, reference, case)) for case in cases]


def _observed(exercise: Exercise, reference: Callable[..., Any], case: Case) -> Observation:
    floats = [
        each for each in (*case.arguments.values(), *case.state.values()) if isinstance(each, np.ndarray)
    ]
    floats = [each for each in floats if each.dtype.kind == "f"]
    kind = "torch.Tensor" if exercise.framework == "torch" else "numpy.ndarray"
    asked = Exercise(**{**vars(exercise), "reference": reference})
    try:
        outputs = expected(asked, case)
    except Exception as error:
        return Observation(status="raised", message=f"{type(error).__name__}: {error}")
    outputs = tuple(
        _as_float(floats[0].dtype, each) if floats and each.dtype.kind == "f" else each for each in outputs
    )
    return Observation(
        status="returned",
        outputs=outputs,
        kinds=tuple("str" if each.dtype == np.uint8 else kind for each in outputs),
        arguments_after={name: v for name, v in case.arguments.items() if isinstance(v, np.ndarray)},
    )


def _as_float(dtype: np.dtype[Any], output: Any) -> Any:
    """The output in a dtype, or as it is where numbers are too large for that."""
    with np.errstate(over="ignore"):
        narrow = output.astype(dtype)
    return narrow if np.array_equal(np.isinf(narrow), np.isinf(output)) else output


def earns_all(exercise: Exercise, reference: Callable[..., Any]) -> bool:
    """Whether it passes whatever the seed: one run that notices is enough."""
    runs = (run_of(exercise, reference, hidden_cases(exercise, seed)) for seed in range(SEEDS))
    return all(judge(exercise, run).status == "pass" for run in runs)


def loaded(exercise: Exercise, mutant: Mutant) -> Callable[..., Any]:
    namespace = {"__name__": exercise.reference.__module__}
    exec(compile(mutant.source, "mutant", "exec"), namespace)
    return namespace[exercise.reference.__name__]  # type: ignore[return-value]


@pytest.mark.parametrize("exercise", WITH_A_REFERENCE, ids=lambda exercise: exercise.id)
def test_the_reference_passes_its_own_check(exercise: Exercise) -> None:
    assert earns_all(exercise, exercise.reference)


@pytest.mark.parametrize("exercise", WITH_A_REFERENCE, ids=lambda exercise: exercise.id)
def test_a_broken_reference_fails_its_own_check(
    exercise: Exercise, record_property: Callable[[str, object], None]
) -> None:
    excused = getattr(importlib.import_module(f"tests.gallery.{exercise.id}"), "EQUIVALENT", {})
    mutants = mutants_of_reference(exercise)

    tried = [each for i, each in enumerate(mutants) if i % ONE_IN == 0 or each.key in excused]

    survivors = {each.key for each in tried if earns_all(exercise, loaded(exercise, each))}

    counts = {"mutants": len(tried), "equal": len(excused), "survived": len(survivors - set(excused))}
    record_property("reference", {"of": exercise.id, **counts})
    assert len(mutants) >= 3
    assert survivors == set(excused)
