import fcntl
import os
from collections.abc import Iterator

import numpy as np
import pytest

from block_course.grading import inputs as room
from block_course.grading.inputs import Inputs, taken_up
from block_course.grading.walls import kernel
from block_course.grading.walls.forked import forked

X = np.arange(6.0).reshape(2, 3)
ARGUMENTS = {"x": X, "mask": np.array([True, False]), "eps": 1e-5, "bias": None, "none": np.zeros((0, 4))}


@pytest.fixture
def inputs() -> Iterator[Inputs]:
    inputs = Inputs()
    yield inputs
    inputs.close()


def test_a_child_takes_up_what_was_laid_down(inputs: Inputs) -> None:
    told = inputs.place(ARGUMENTS)
    taken = taken_up(told, np.frombuffer(inputs._memory[:4096], np.uint8))

    assert list(taken) == list(ARGUMENTS)
    np.testing.assert_array_equal(taken["x"], X)  # type: ignore[arg-type]
    assert taken["mask"].tolist() == [True, False]  # type: ignore[union-attr]
    assert (taken["eps"], taken["bias"]) == (1e-5, None)
    assert taken["none"].shape == (0, 4)  # type: ignore[union-attr]


def test_what_a_child_does_to_its_arguments_is_seen(inputs: Inputs) -> None:
    told = inputs.place(ARGUMENTS)

    def change() -> None:
        address = kernel.map_shared(inputs.descriptor, room.BYTES)
        child = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * room.BYTES).from_address(address))
        taken_up(told, child)["x"][0, 1] = 7.0  # type: ignore[index]

    forked(change)
    after = inputs.after()

    assert after["x"].tolist() == [[0.0, 7.0, 2.0], [3.0, 4.0, 5.0]]
    assert after["mask"].tolist() == [True, False]
    assert set(after) == {"x", "mask", "none"}


def test_arrays_of_any_order_are_laid_down_as_they_are_read(inputs: Inputs) -> None:
    inputs.place({"x": X.T, "y": X[:, ::2]})

    assert inputs.after()["x"].tolist() == X.T.tolist()
    assert inputs.after()["y"].tolist() == X[:, ::2].tolist()


def test_a_later_call_lies_elsewhere(inputs: Inputs) -> None:
    (first,), (second,) = inputs.place({"x": X}), inputs.place({"x": X})

    assert second[1]["at"] >= first[1]["at"] + X.nbytes
    assert second[1]["at"] % 64 == 0


def test_when_the_room_is_used_up_it_begins_anew(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BYTES", 128)

    places = [inputs.place({"x": X})[0][1]["at"] for _ in range(3)]

    assert places == [0, 64, 0]


def test_more_than_there_is_room_for_is_refused(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BYTES", 100)

    with pytest.raises(ValueError, match="the arguments have 128 bytes, over the limit of 100"):
        inputs.place({"x": X, "y": X})


def test_the_memory_can_not_be_made_shorter(inputs: Inputs) -> None:
    with pytest.raises(PermissionError):
        os.ftruncate(inputs.descriptor, 0)
    assert fcntl.fcntl(inputs.descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SEAL
