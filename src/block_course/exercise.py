"""What an exercise is: how an answer is called, on which cases, what must hold. Plain data and functions.

The same `Exercise` serves the learner's check cell and the grader. Between them only the cases differ: a
check cell draws them from an open seed, the grader from a secret. Nothing else about an exercise is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Argument = Array | float | int | bool | str | None
Outputs = tuple[Array, ...]


def as_outputs(returned: Array | Outputs) -> Outputs:
    """What a function returned, as a tuple of arrays: of one, if it returned one."""
    members = returned if isinstance(returned, tuple) else (returned,)
    return tuple(np.asarray(each) for each in members)


Calls = Literal["function", "module", "test"]
"""How an answer is used: called on arguments; built, loaded and called; or, a test itself, called on a block
that it must judge."""


@dataclass(frozen=True)
class Manner:
    """How answers of an exercise are used, in plain words that may cross to where they run.

    `names` are the entries wanted of a dict that an answer returns. A call of what is `withheld`, a function
    or anything in a module, by dotted name, makes an answer forbidden.
    """

    framework: Literal["numpy", "torch"] = "numpy"
    calls: Calls = "function"
    names: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


Status = Literal["returned", "not attempted", "missing", "raised", "timeout", "memory", "forbidden", "died"]
"""How a call ended: `missing` means that the notebook defines no such name, `died` that its process ended."""


Hints = tuple[str, str, str]
"""Three stages: where to look; what is true there; the line in words."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A block that a learner's test must judge: whether it is right, and what it answers when it is asked.

    `answers` maps a question to a function of arrays: "forward" is the block itself, others are methods of
    the proxy that the test gets. `verdict` of the test is right if it equals `right`.
    """

    right: bool
    answers: Mapping[str, Callable[..., Array | Outputs]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One call of an answer: arguments by parameter name.

    `condition` says by how much the problem itself magnifies a rounding error of its inputs (for layer norm,
    the largest |feature| over the spread); the tolerance grows with it. `extreme` marks a case that is there
    to break fragile answers, such as a constant token, so that diagnosis may leave it out.

    A module is built from `init` by parameter name, gets the `state` by `load_state_dict`, and is called in
    training mode if `train` says so. With a `cotangent` dy, the gradients of Σ y·dy by the float arguments,
    y being the first output, come after the outputs. A test is called on a proxy of `subject`, then on the
    arguments.

    `known` holds what the exercise's own functions have given for this case, so that each is asked once. A
    copy made by `replace` knows nothing yet.
    """

    name: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    condition: float = 1.0
    extreme: bool = False
    init: Mapping[str, Argument] = field(default_factory=dict)
    state: Mapping[str, Array] = field(default_factory=dict)
    train: bool = False
    cotangent: Array | None = None
    subject: Subject | None = None
    known: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def knowing_what(self, twin: Case) -> Case:
        """Share all that becomes known for this case or for its twin."""
        object.__setattr__(self, "known", twin.known)
        return self


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What one call gave, as plain data. All of it may come from hostile code: judge it, never trust it.

    `outputs` are arrays of plain dtypes; `kinds` says what each was ("numpy.ndarray", "torch.Tensor",
    "float", the class of a subclass), with "refused: a dict" beside an empty array for one that could not be
    brought home; `arguments_after` holds the array arguments as the call left them; `message` is the
    learner's exception in one line, `place` where it was raised: "line 3, `variance = …`". The grader keeps
    no place.
    """

    status: Status
    outputs: Outputs = ()
    kinds: tuple[str, ...] = ()
    arguments_after: Mapping[str, Array] = field(default_factory=dict)
    message: str = ""
    place: str = ""


Run = Sequence[tuple[Case, Observation]]
"""The cases of one attempt in order, each with what the answer did on it."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a property does not hold: the case that shows it, and a sentence with the learner's own numbers.

    The sentence is for check cells on open inputs; the grader, on hidden ones, shows the property alone.
    """

    case: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Property:
    """Something that must hold for a right answer, worth points.

    `holds` looks at the whole run and returns the first failure, or None. A property with `requires` counts
    only when those hold too: "dtype kept" earns nothing for handing the input back. Its own `hints`, where it
    has any, stand in for the exercise's while it is the first to fail.
    """

    name: str
    title: str
    points: float
    holds: Callable[[Exercise, Run], Failure | None]
    requires: tuple[str, ...] = ()
    hints: Hints | None = None


@dataclass(frozen=True, kw_only=True)
class Misconception:
    """A known wrong answer: what it computes, and what to tell someone whose answer equals it.

    `message` gets a telling case and the learner's outputs there, so that it can use their numbers: the first
    regular case on which the misconception differs from the reference in a leading digit, if there is one.

    `tells` prefers cases to show, such as those with several tokens. With it a misconception may also be one
    that raises: the case may then be one on which the learner's answer raised as it does, with no outputs.
    Several misconceptions may share a name, for one mistake that is written in several ways. `about` names
    the cases that it is a mistake on, such as those of one rule of three: an answer that follows it there is
    told so, whatever it does on others, unless it equals another misconception as a whole. `shows` is for a
    table and names the entry that the message speaks of; the rest then follows from it.
    """

    name: str
    answer: Callable[..., Array | Outputs]
    message: Callable[[Case, Outputs], str]
    tells: Callable[[Case], bool] | None = None
    about: Callable[[Case], bool] | None = None
    shows: str | None = None


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise: `answer` is the name that the learner's notebook must define.

    `reference` computes the right outputs in float64 NumPy from a case's arguments. `cases` draws the cases
    of one run from a generator; it is pure, so that a seed names a run. `returns` names the outputs, if there
    are several, or the entries of a dict, if it returns one. `withheld` names what the answer may not call.
    """

    id: str
    answer: str
    title: str
    level: Literal["warm-up", "core", "stretch"]
    minutes: int
    framework: Literal["numpy", "torch"]
    reference: Callable[..., Array | Outputs]
    cases: Callable[[np.random.Generator], Sequence[Case]]
    properties: tuple[Property, ...]
    misconceptions: tuple[Misconception, ...]
    hints: Hints
    returns: tuple[str, ...] = ()
    calls: Calls = "function"
    withheld: tuple[str, ...] = ()

    @property
    def manner(self) -> Manner:
        """How its answers are used."""
        return Manner(self.framework, self.calls, self.returns, self.withheld)

    @property
    def points(self) -> float:
        """The points of all properties together."""
        return sum(each.points for each in self.properties)


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """The exercises of one notebook. `stem` is the notebook's file name without ending: `03_layer_norm`.

    `permitted` names the modules of `transformer_block` that a learner's code may import while it is graded.
    """

    stem: str
    exercises: tuple[Exercise, ...]
    permitted: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The points of all exercises together."""
        return sum(each.points for each in self.exercises)
