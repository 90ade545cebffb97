import builtins
import fcntl
import os
import random
import socket
import sys
import types
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from block_course.grading import in_box, walls, wire
from block_course.grading.wire import Gone
from tests.block_course.grading.test_answering import cell


class TestAChild:
    @pytest.fixture
    def line(self, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
        ours, theirs = socket.socketpair()
        monkeypatch.setattr(in_box, "CHANNEL", theirs.fileno())
        monkeypatch.setattr(os, "environ", dict(os.environ))
        monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        for name in ("input", "get_ipython", "display"):
            monkeypatch.setattr(builtins, name, getattr(builtins, name, None), raising=False)
        yield ours  # type: ignore[misc]
        ours.close()
        theirs.close()

    JOB: ClassVar = {"assignment": "00_tiny", "torch": False}
    PLAN = walls.Plan(server=1, home="/", limits={})

    def test_names_its_walls_then_answers_until_the_line_is_closed(
        self, line: socket.socket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(walls, "put_up", lambda plan: ("a wall",))
        states = random.getstate(), np.random.get_state()
        wire.write(line.fileno(), wire.encode(cell("x = 3")))
        line.shutdown(socket.SHUT_WR)

        in_box._live(self.PLAN, self.JOB, np.zeros(8, np.uint8))

        read = wire.reader(line.fileno())
        assert wire.decode(read).head == {"walls": ["a wall"]}
        assert wire.decode(read).head == {"status": "done", "message": ""}
        assert vars(sys.modules["__main__"])["x"] == 3
        random.setstate(states[0])
        np.random.set_state(states[1])

    def test_without_walls_runs_nothing(self, line: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*given: object) -> None:
            raise OSError("the wall 'x' does not stand")

        monkeypatch.setattr(walls, "put_up", refuse)

        in_box._live(self.PLAN, self.JOB, np.zeros(8, np.uint8))

        assert wire.decode(wire.reader(line.fileno())).head == {"refused": "the wall 'x' does not stand"}

    def test_starts_with_random_states_from_the_label(self, monkeypatch: pytest.MonkeyPatch) -> None:
        states = random.getstate(), np.random.get_state()
        seeds: list[int] = []
        monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(manual_seed=seeds.append))
        drawn = []
        for label in ("a", "b", "a"):
            in_box._same_start_for_all(label, torch=True)
            in_box._same_start_of_python(label)
            drawn.append((random.random(), float(np.random.rand())))
        in_box._same_start_for_all("a", torch=False)
        random.setstate(states[0])
        np.random.set_state(states[1])

        assert drawn[0] == drawn[2] != drawn[1]
        assert seeds[0] == seeds[2] != seeds[1]
        assert len(seeds) == 3

    @pytest.mark.parametrize(("kept", "closed"), [(None, [(4, 1 << 20)]), (16, [(4, 16), (17, 1 << 20)])])
    def test_keeps_only_the_descriptors_it_needs(
        self, monkeypatch: pytest.MonkeyPatch, kept: int | None, closed: list[tuple[int, int]]
    ) -> None:
        copies: list[tuple[int, int, bool]] = []
        ranges: list[tuple[int, int]] = []
        kernel = types.SimpleNamespace(
            devnull="/dev/null",
            O_RDONLY=0,
            open=lambda path, flags: 20,
            dup2=lambda a, b, inheritable: copies.append((a, b, inheritable)),
            closerange=lambda first, end: ranges.append((first, end)),
        )
        monkeypatch.setattr(in_box, "os", kernel)
        monkeypatch.setattr(fcntl, "fcntl", lambda each, command, least: 100 + each)

        in_box._settle(7, 8, kept)

        assert copies == [(120, 0, True), (108, 1, True), (108, 2, True), (107, 3, False)]
        assert ranges == closed


def test_a_reader_that_meets_the_end_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with open(tmp_path / "empty", "rb") as file, pytest.raises(Gone):
        wire.decode(wire.reader(file.fileno()))
