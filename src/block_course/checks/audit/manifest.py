"""`audit.manifest`: what a checkpoint lacks, for use and for going on, and what it holds in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.selection import among, on
from block_course.exercise import Case, Exercise, Hints, Misconception, Outputs
from block_course.plain import words

RETURNS = ("to_use", "to_resume", "spare")
USE = ("weights", "n_heads", "eps", "placement", "activation", "causal", "rotary_base")
RESUME = ("moments", "step", "schedule", "dropout", "random_state", "data_position")
SPARE = ("d_model", "d_ff", "head_width", "n_parameters", "causal_mask", "learning_rate", "losses", "host")

WEIGHTS_ALONE, WITH_SIZES = "weights and sizes", "a model card"
STOPPED, SEVERAL, OTHERS = "a run that was stopped", "half of it", "the other half"
Table = dict[str, set[str]]


def reference(held: str) -> Table:
    """What is not held of what using and of what going on takes, and what is held beside."""
    there = set(held.split())
    use = {"weights", "n_heads", "eps", "placement", "activation", "causal", "rotary_base"}
    resume = {"moments", "step", "schedule", "dropout", "random_state", "data_position"}
    return {"to_use": use - there, "to_resume": resume - there, "spare": there - use - resume}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Checkpoints as they are met, and halves drawn so that each name is held once and lacking once."""
    half, rest = _halves(rng)
    held = {
        WEIGHTS_ALONE: ("weights", "d_model", "d_ff"),
        WITH_SIZES: ("weights", "n_heads", "d_model", "d_ff", "head_width", "n_parameters", "causal_mask"),
        STOPPED: (*USE[:-1], "step", "learning_rate", "losses", "host"),
        SEVERAL: half,
        OTHERS: rest,
    }
    return [
        Case(name=name, arguments={"held": " ".join(rng.permutation(np.array(names)))})
        for name, names in held.items()
    ]


def _halves(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    first: list[str] = []
    for names in (USE, RESUME, SPARE):
        first += [str(each) for each in rng.choice(np.array(names), len(names) // 2, replace=False)]
    return first, [each for each in (*USE, *RESUME, *SPARE) if each not in first]


def _sorted_out(use: set[str], resume: set[str]) -> Callable[..., Table]:
    def answer(held: str) -> Table:
        there = set(held.split())
        return {"to_use": use - there, "to_resume": resume - there, "spare": there - use - resume}

    return answer


def _moved(*names: str, to: str) -> Callable[..., Table]:
    """Sorted out as if these names belonged elsewhere."""
    use, resume = (set(each) - set(names) for each in (USE, RESUME))
    if to == "use":
        use |= set(names)
    elif to == "resume":
        resume |= set(names)
    return _sorted_out(use, resume)


def _held_for_lacking(held: str) -> Table:
    there = set(held.split())
    return {"to_use": there & set(USE), "to_resume": there & set(RESUME), "spare": reference(held)["spare"]}


def _resume_holds_use(held: str) -> Table:
    table = reference(held)
    return table | {"to_resume": table["to_resume"] | table["to_use"]}


def _lacking_spares(held: str) -> Table:
    return reference(held) | {"spare": set(SPARE) - set(held.split())}


def _wrong(name: str, answer: Callable[..., Table], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        said = (
            f"your {name} is {', '.join(words(each)) or 'empty'}"
            for name, each in zip(RETURNS, outputs, strict=True)
        )
        return f"For “{case.name}”, {'; '.join(said)}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)  # type: ignore[arg-type]


def _as_text(held: str) -> Table:
    """`"causal" in held` is True of a text that holds `causal_mask`."""
    use, resume = ({each for each in names if each not in held} for names in (USE, RESUME))
    return {"to_use": use, "to_resume": resume, "spare": reference(held)["spare"]}


MISCONCEPTIONS = (
    _wrong(
        "names searched for in the text",
        _as_text,
        '`held` is one string, and `"causal" in held` is True where it holds `causal_mask`. Split it first.',
    ),
    _wrong(
        "heads read off the shapes",
        _moved("n_heads", to="spare"),
        "No shape tells the number of heads: `qkv` is (3D, D) for one head and for twelve.",
    ),
    _wrong(
        "placement read off the names",
        _moved("placement", to="spare"),
        "Pre-norm and post-norm blocks have the same names and the same shapes, and are two functions.",
    ),
    _wrong(
        "what holds no array is no architecture",
        _moved("eps", "placement", "activation", "causal", "rotary_base", to="spare"),
        "`eps`, `activation` and the like have no array, and each changes what comes out. The weights can't "
        "tell them.",
    ),
    _wrong(
        "eps taken for a detail",
        _moved("eps", to="spare"),
        "Two values of `eps` are two functions; on quiet tokens they differ in the first digit.",
    ),
    _wrong(
        "sizes wanted that the weights show",
        _moved("d_model", "d_ff", to="use"),
        "The shapes of the weights show `d_model` and `d_ff`. To write them down is a good check, and tells "
        "nothing new.",
    ),
    _wrong(
        "dropout wanted for use",
        _moved("dropout", to="use"),
        "In use nothing is dropped. The rate matters to who goes on training.",
    ),
    _wrong(
        "random state taken for a detail",
        _moved("random_state", "data_position", to="spare"),
        "A run goes on to the same bits only if it draws the same numbers and reads the data from where it "
        "stopped.",
    ),
    _wrong(
        "moments made anew",
        _moved("moments", to="spare"),
        "The optimizer's moments are averages over past gradients. No later gradient brings them back.",
    ),
    _wrong(
        "learning rate beside its schedule",
        _moved("learning_rate", to="resume"),
        "The schedule and the step give the learning rate.",
    ),
    _wrong(
        "held and lacking exchanged",
        _held_for_lacking,
        "`to_use` and `to_resume` are what is missing. You return what is there.",
    ),
    _wrong(
        "what use takes, told twice",
        _resume_holds_use,
        "`to_resume` is what is missing beside what is missing for use. Each name stands in one set.",
    ),
    _wrong(
        "spare things that are not there",
        _lacking_spares,
        "`spare` is what the checkpoint holds and nobody needs. You return what it doesn't hold.",
    ),
)

_SPARE_HINTS: Hints = (
    "Which of the names held could be computed from others that a whole checkpoint has?",
    "Sizes stand in the shapes, a count is a sum of them, a mask follows from `causal` and the length, a "
    "learning rate from the schedule and the step. Losses and a host are a diary.",
    "What is held and belongs neither to using nor to going on.",
)
_RESUME_HINTS: Hints = (
    "A run is stopped and goes on. What did it have in memory that no forward pass shows?",
    "Averages of the optimizer, the place in the schedule and in the data, the state of the random numbers, "
    "and the rate at which training drops.",
    "Six names. Take away those that are held.",
)

EXERCISE = Exercise(
    id="audit.manifest",
    answer="look_through",
    title="What a checkpoint must hold",
    level="warm-up",
    minutes=10,
    framework="numpy",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=RETURNS,
    properties=(
        on(
            among(WEIGHTS_ALONE, WITH_SIZES),
            entries("card", "what weights and sizes lack for use", 1.0, of=("to_use",)),
        ),
        on(
            among(STOPPED, SEVERAL, OTHERS),
            entries("use", "what other checkpoints lack for use", 0.75, of=("to_use",)),
        ),
        entries("resume", "what they lack for going on", 1.5, of=("to_resume",), hints=_RESUME_HINTS),
        entries("spare", "what they hold in vain", 0.75, of=("spare",), hints=_SPARE_HINTS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Take a name away and keep all the others. Is it still one function? Can the name be worked out?",
        "Shapes show widths. They don't show how many heads there are, where the norms stand, which bend the "
        "inner features get, what is visible, or which constants are used.",
        "Seven names are needed for use: the weights, and six that no shape shows. Take away those held.",
    ),
)
