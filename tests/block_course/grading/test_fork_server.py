import signal
import socket
import sys
import time
from pathlib import Path

import pytest

import block_course
import transformer_block
from block_course.grading import fork_server, system_calls
from block_course.grading.fork_server import BoxError, ForkServer, NotConfined, Settings
from block_course.grading.walls.descendants import _descendants
from block_course.grading.wire import Gone
from tests.block_course.grading.processes import children_of, ends

pytestmark = pytest.mark.slow

SETTINGS = Settings("00_tiny", warm=False)


def test_a_server_starts_a_child_and_ends_it() -> None:
    server = ForkServer(SETTINGS)

    pid, channel, inputs = server.spawn()
    walls = channel.receive(time.monotonic() + 20).head["walls"]
    (running,) = children_of(server)
    status = server.end(pid, 0.0)

    assert tuple(walls) == server.standing
    assert status is None
    assert ends(running)
    channel.close()
    inputs.close()
    server.stop()


def test_a_server_ends_with_all_its_children() -> None:
    server = ForkServer(SETTINGS)
    _, channel, inputs = server.spawn()
    channel.receive(time.monotonic() + 20)
    running = _descendants(server._process.pid)

    server.stop()

    assert running
    assert all(map(ends, running))
    assert server._process.returncode == 0
    assert not server.folder.exists()
    channel.close()
    inputs.close()


def test_a_server_whose_grader_is_killed_ends_and_leaves_nothing_behind() -> None:
    server = ForkServer(SETTINGS)
    _, channel, inputs = server.spawn()
    channel.receive(time.monotonic() + 20)
    running = _descendants(server._process.pid)

    server._control.close()  # what a kill of the grader does
    server._process.wait(timeout=60)

    assert running
    assert all(map(ends, running))
    assert not server.folder.exists()
    channel.close()
    inputs.close()
    server.stop()


def test_a_server_that_does_not_listen_is_ended_by_force() -> None:
    server = ForkServer(SETTINGS)
    _, channel, inputs = server.spawn()
    channel.receive(time.monotonic() + 20)
    running = _descendants(server._process.pid)
    server._process.send_signal(signal.SIGSTOP)

    server.stop(patience=0.05)

    assert server._process.returncode == -signal.SIGKILL
    assert not server.folder.exists()
    assert running
    assert all(map(ends, running))
    channel.close()
    inputs.close()


def test_a_server_that_does_not_start_gives_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "_PROGRAM", "raise SystemExit('no numpy here')")

    with pytest.raises(BoxError, match="the fork server did not start: no numpy here"):
        ForkServer(SETTINGS)


def test_a_server_that_dies_without_a_word_has_not_started_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "_PROGRAM", "import os; os._exit(1)")

    with pytest.raises(BoxError, match="it said nothing"):
        ForkServer(SETTINGS)


def test_a_server_starts_from_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECIOUS", "x")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    server = ForkServer(SETTINGS)

    entries = Path(f"/proc/{server._process.pid}/environ").read_bytes().split(b"\0")
    names = {entry.partition(b"=")[0].decode() for entry in entries if entry}
    server.stop()

    assert names == {*fork_server._ENVIRONMENT, "LD_LIBRARY_PATH", *fork_server._PLACES}


def test_a_box_that_can_not_be_closed_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_filter() -> bytes:
        raise system_calls.NoFilter("the system has no libseccomp; apt install libseccomp2")

    monkeypatch.setattr(system_calls, "program", no_filter)

    with pytest.raises(
        NotConfined, match=r"seccomp \(the system has no libseccomp; apt install libseccomp2\)"
    ):
        ForkServer(SETTINGS)


def test_the_course_is_withheld_wherever_it_is_installed() -> None:
    withheld = fork_server._withheld()

    course = Path(__file__).parents[3]
    assert [each for each in withheld if course.is_relative_to(each)]
    assert str(Path(block_course.__file__).parent) in withheld
    assert str(Path(transformer_block.__file__).parent) in withheld


def test_a_second_copy_of_the_course_is_withheld_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone, installed = tmp_path / "clone", tmp_path / "site-packages"
    for folder in (clone / "src/block_course", clone / "exercises", installed / "transformer_block"):
        folder.mkdir(parents=True)
    (installed / "numpy").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(clone / "src"), str(installed), str(tmp_path / "none")])

    withheld = fork_server._withheld()

    assert {str(clone), str(installed / "transformer_block")} <= set(withheld)
    assert str(installed) not in withheld
    assert str(installed / "numpy") not in withheld


@pytest.mark.parametrize("answer", [b"", b"{", b"[]", b"{}", b'{"pid": "x"}', b'{"pid": null}'])
def test_an_answer_that_is_none_means_that_the_server_is_gone(answer: bytes) -> None:
    server = ForkServer(SETTINGS)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control, server._control = server._control, ours
    theirs.send(answer)

    with pytest.raises(Gone):
        server.spawn()

    ours.close()
    theirs.close()
    server._control = control
    server.stop()


def test_the_interpreter_is_the_one_that_runs_the_grader() -> None:
    server = ForkServer(SETTINGS)

    assert server._process.args[0] == sys.executable  # type: ignore[index]
    server.stop()
