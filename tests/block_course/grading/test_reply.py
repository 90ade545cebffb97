import signal

import numpy as np
import pytest

from block_course.exercise import Case, Manner, Observation
from block_course.grading import reply
from block_course.grading.reply import Death, Outcome
from block_course.grading.wire import Frame, Malformed, decode, encode
from tests.block_course.grading.test_wire import read_from

ARRAYS = (np.zeros((2, 3)), np.ones(4, np.float32), np.full((5, 1), 2))
RETURNED = {"status": "returned", "message": "", "kinds": ["numpy.ndarray", "float"], "after": ["x"]}


def test_a_request_carries_the_arguments_in_their_order_and_by_their_kind() -> None:
    x, mask = np.arange(6.0).reshape(2, 3), np.array([True, False])
    case = Case(
        name="a case",
        arguments={"x": x, "eps": 1e-5, "n": 3, "mask": mask, "causal": True, "mode": "relu", "bias": None},
    )

    frame = decode(read_from(encode(reply.request("f", Manner(), case))))

    assert frame.head == {
        "do": "call",
        "answer": "f",
        "framework": "numpy",
        "calls": "function",
        "names": [],
        "withheld": [],
        "case": "a case",
        "arguments": [
            ["x", {"array": 0}],
            ["eps", {"value": 1e-5}],
            ["n", {"value": 3}],
            ["mask", {"array": 1}],
            ["causal", {"value": True}],
            ["mode", {"value": "relu"}],
            ["bias", {"value": None}],
        ],
        "init": [],
        "state": [],
        "train": False,
        "cotangent": [],
    }
    np.testing.assert_array_equal(frame.arrays[0], x)
    np.testing.assert_array_equal(frame.arrays[1], mask)


def test_a_request_carries_what_a_module_is_made_of_and_what_its_gradients_are_asked_with() -> None:
    x, weight, dy = np.ones((2, 3)), np.full((4, 3), 2.0), np.full((2, 4), 3.0)
    case = Case(
        name="c", arguments={"x": x}, init={"width": 3}, state={"weight": weight}, train=True, cotangent=dy
    )

    frame = reply.request("F", Manner("torch", "module", ("y",)), case)

    assert (frame.head["calls"], frame.head["names"], frame.head["train"]) == ("module", ["y"], True)
    assert frame.head["init"] == [["width", {"value": 3}]]
    assert (frame.head["state"], frame.head["cotangent"]) == (
        [["weight", {"array": 1}]],
        [["dy", {"array": 2}]],
    )
    for sent, meant in zip(frame.arrays, (x, weight, dy), strict=True):
        np.testing.assert_array_equal(sent, meant)


def test_an_observation_takes_the_outputs_first_and_the_arguments_then() -> None:
    seen = reply.observation(Frame(RETURNED, ARRAYS))

    assert (seen.status, seen.kinds, list(seen.arguments_after)) == (
        "returned",
        ("numpy.ndarray", "float"),
        ["x"],
    )
    assert [each.shape for each in seen.outputs] == [(2, 3), (4,)]
    assert seen.arguments_after["x"].shape == (5, 1)


@pytest.mark.parametrize("status", ["not attempted", "missing", "raised", "memory"])
def test_an_observation_may_say_why_there_is_no_output(status: str) -> None:
    seen = reply.observation(Frame({"status": status, "message": "m" * 5000, "kinds": [], "after": []}))

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
    "fewer arrays than announced": {"after": ["x", "y"]},
}


@pytest.mark.parametrize("change", NO_OBSERVATION.values(), ids=NO_OBSERVATION.keys())
def test_a_reply_to_a_call_is_malformed_with(change: dict[str, object]) -> None:
    with pytest.raises(Malformed):
        reply.observation(Frame({**RETURNED, **change}, ARRAYS))


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


def test_an_observation_that_is_forbidden_says_so_in_our_words() -> None:
    seen = reply.observation(Frame(RETURNED | {"status": "forbidden", "message": "x is 0.123"}, ARRAYS))

    assert (seen.status, seen.message) == ("forbidden", "it calls what this exercise asks to be written")
