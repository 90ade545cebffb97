import signal

import numpy as np
import pytest

from block_course.exercise import Case, Manner, Observation, Subject
from block_course.grading import reply
from block_course.grading.reply import Death, Outcome
from block_course.grading.wire import Frame, Malformed, decode, encode
from block_course.plain import MOST_LETTERS, NAMES, TEXT
from tests.block_course.grading.test_wire import read_from

ARRAYS = (np.zeros((2, 3)), np.ones(4, np.float32))
RETURNED = {"status": "returned", "message": "", "kinds": ["numpy.ndarray", "float"]}


def test_a_request_says_where_the_arguments_lie_and_how_the_answer_is_used() -> None:
    told = [["x", {"at": 64, "dtype": "<f8", "shape": [2, 3]}], ["eps", {"value": 1e-5}]]

    frame = decode(read_from(encode(reply.request("f", Manner(), Case(name="a case"), told, "4"))))

    assert frame == Frame(
        {
            "do": "call",
            "answer": "f",
            "framework": "numpy",
            "calls": "function",
            "names": [],
            "withheld": [],
            "label": "4",
            "arguments": told,
            "init": [],
            "state": [],
            "train": False,
            "cotangent": [],
        }
    )


def test_a_request_carries_what_a_module_is_made_of_and_what_its_gradients_are_asked_with() -> None:
    weight, dy = np.full((4, 3), 2.0), np.full((2, 4), 3.0)
    init = {"width": 3, "bias": None, "kind": "relu", "causal": True, "mask": np.array([True, False])}
    case = Case(name="c", init=init, state={"weight": weight}, train=True, cotangent=dy)

    frame = reply.request("F", Manner("torch", "module", ("y",), ("torch.softmax",)), case, [], "")

    told = {key: frame.head[key] for key in ("calls", "names", "withheld", "train")}
    assert told == {"calls": "module", "names": ["y"], "withheld": ["torch.softmax"], "train": True}
    assert frame.head["init"] == [
        ["width", {"value": 3}],
        ["bias", {"value": None}],
        ["kind", {"value": "relu"}],
        ["causal", {"value": True}],
        ["mask", {"array": 0}],
    ]
    assert frame.head["state"] == [["weight", {"array": 1}]]
    assert frame.head["cotangent"] == [["dy", {"array": 2}]]
    for sent, meant in zip(frame.arrays, (init["mask"], weight, dy), strict=True):
        np.testing.assert_array_equal(sent, meant)


def test_a_request_says_nothing_of_the_block_that_a_test_must_judge() -> None:
    x = np.ones((2, 3))
    right = Case(name="layer norm", arguments={"x": x}, subject=Subject(right=True, answers={"forward": abs}))
    wrong = Case(name="no mean", arguments={"x": x}, subject=Subject(right=False, answers={"forward": abs}))

    sent = {
        encode(reply.request("f", Manner(calls="test"), case, [["x", {"value": 1.0}]], "0"))
        for case in (right, wrong)
    }

    assert len(sent) == 1


def test_an_observation_that_is_forbidden_says_so_in_our_words() -> None:
    seen = reply.observation(Frame(RETURNED | {"status": "forbidden", "message": "x is 0.123"}, ARRAYS), {})

    assert (seen.status, seen.message) == ("forbidden", "it calls what this exercise asks to be written")


def test_a_question_is_what_a_test_asks_and_nothing_else_is() -> None:
    assert reply.question(Frame({"ask": "forward"}, ARRAYS)) == "forward"
    assert reply.question(Frame(RETURNED, ARRAYS)) is None
    with pytest.raises(Malformed):
        reply.question(Frame({"ask": 1}))


def test_an_observation_takes_the_outputs_from_the_child_and_the_arguments_from_the_grader() -> None:
    after = {"x": np.full((5, 1), 2.0)}

    seen = reply.observation(Frame({**RETURNED, "after": ["y"]}, ARRAYS), after)

    assert (seen.status, seen.kinds) == ("returned", ("numpy.ndarray", "float"))
    assert [each.shape for each in seen.outputs] == [(2, 3), (4,)]
    assert seen.arguments_after is after


@pytest.mark.parametrize("status", ["not attempted", "missing", "raised", "memory"])
def test_an_observation_may_say_why_there_is_no_output(status: str) -> None:
    seen = reply.observation(Frame({"status": status, "message": "m" * 5000, "kinds": []}), {})

    assert seen == Observation(status=seen.status, message="m" * 1000)
    assert seen.status == status


NO_OBSERVATION = {
    "a status that only the grader gives": {"status": "timeout"},
    "a status that there isn't": {"status": "pass"},
    "a status that is no text": {"status": 1},
    "no message": {"message": None},
    "kinds that are no list": {"kinds": "float"},
    "a kind that is no text": {"kinds": ["float", 1]},
    "too many kinds": {"kinds": ["float"] * 65},
    "more arrays than announced": {"kinds": ["float"]},
    "fewer arrays than announced": {"kinds": ["float"] * 3},
}


@pytest.mark.parametrize("change", NO_OBSERVATION.values(), ids=NO_OBSERVATION.keys())
def test_a_reply_to_a_call_is_malformed_with(change: dict[str, object]) -> None:
    with pytest.raises(Malformed):
        reply.observation(Frame({**RETURNED, **change}, ARRAYS), {})


@pytest.mark.parametrize("kind", [TEXT, NAMES])
def test_a_text_is_no_longer_than_a_child_that_was_not_changed_would_send(kind: str) -> None:
    head = {**RETURNED, "kinds": [kind]}

    reply.observation(Frame(head, (np.zeros(MOST_LETTERS, np.uint8),)), {})
    with pytest.raises(Malformed, match="a text has more than 4096 letters"):
        reply.observation(Frame(head, (np.zeros(MOST_LETTERS + 1, np.uint8),)), {})


def test_the_reply_to_a_cell_is_its_outcome() -> None:
    assert reply.outcome(Frame({"status": "raised", "message": "line 1: E"})) == Outcome(
        "raised", "line 1: E"
    )
    with pytest.raises(Malformed):
        reply.outcome(Frame({"status": "died", "message": ""}))


def test_the_first_frame_of_a_child_names_its_walls() -> None:
    assert reply.walls(Frame({"walls": ["rlimits"]})) == ("rlimits",)


DEATHS = {
    signal.SIGSYS: Death("forbidden", "the process did what is forbidden while grading"),
    signal.SIGXCPU: Death("timeout", "the processor time was used up"),
    signal.SIGKILL: Death("memory", "the system ended the process, most often for want of memory"),
    signal.SIGSEGV: Death("died", "the process was ended by SIGSEGV"),
    None: Death("died", "the process closed its channel to the grader"),
    3 << 8: Death("died", "the process ended itself, with status 3"),
    40: Death("died", "the process was ended by signal 40"),
}


@pytest.mark.parametrize(("wait_status", "death"), DEATHS.items())
def test_a_wait_status_says_how_a_process_ended(wait_status: int | None, death: Death) -> None:
    assert reply.death(wait_status) == death
