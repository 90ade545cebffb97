"""What a fork and a thread hold, how long their answers may be, and how they are ended."""

import os
import select
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from transformer_block.audit import isolation
from transformer_block.audit.isolation import Lost, in_a_fork, in_a_thread

pytestmark = pytest.mark.needs("fork")

LONGEST = 1_048_576


def answers_with(size):
    """Work whose answer takes so many bytes: two of them are its quotes."""
    return lambda: "x" * (size - 2)


def test_an_answer_may_be_as_long_as_its_refusal_says_and_no_longer():
    assert len(in_a_fork(answers_with(LONGEST), 30)) == LONGEST - 2
    with pytest.raises(Lost, match=r"^answered with more than 1,048,576 bytes$"):
        in_a_fork(answers_with(LONGEST + 1), 30)


def pipes():
    """How many ends of pipes this process holds, beside its input and outputs."""
    held = [Path(f"/proc/self/fd/{number}") for number in range(3, 256)]
    return sum(each.is_symlink() and os.readlink(each).startswith("pipe:") for each in held)


def test_a_fork_holds_the_end_of_its_pipe_that_it_answers_through_and_not_the_other():
    assert in_a_fork(pipes, 30) == pipes() + 1


@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_a_fork_reads_from_nowhere_and_writes_to_nowhere(descriptor, tmp_path: Path):
    before = os.dup(descriptor)
    with (tmp_path / "somewhere").open("w+") as file:
        os.dup2(file.fileno(), descriptor)
    try:
        held = in_a_fork(lambda: os.readlink(f"/proc/self/fd/{descriptor}"), 30)
    finally:
        os.dup2(before, descriptor)
        os.close(before)
    assert held == "/dev/null"


def test_a_fork_computes_in_one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert in_a_fork(torch.get_num_threads, 30) == 1
    finally:
        torch.set_num_threads(before)


def test_forks_do_without_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch")
    assert in_a_fork(lambda: "torch" in sys.modules, 30) is False


def test_no_answer_is_waited_for_longer_than_was_said(monkeypatch):
    waits, plain = [], select.select

    def waited(*args):
        waits.append(args[-1])
        return plain(*args)

    monkeypatch.setattr(select, "select", waited)
    with pytest.raises(Lost, match=r"^gave no answer in 0\.2 s$"):
        in_a_fork(signal.pause, 0.2)
    assert 0 <= max(waits) <= 0.2


def test_what_closes_its_connection_and_goes_on_is_told_so(monkeypatch):
    def work():
        os.closerange(3, 256)
        signal.pause()

    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with pytest.raises(Lost, match=r"^closed its connection and went on$"):
        in_a_fork(work, 30)


def test_a_process_without_a_group_of_its_own_is_not_waited_for(tmp_path: Path):
    late = tmp_path / "late"
    child = os.fork()
    if not child:  # pragma: no cover
        time.sleep(3)
        late.write_text("it went on")
        os._exit(0)
    isolation._end(child)
    assert not late.exists()


def test_a_thread_is_waited_for_and_holds_up_no_ending_of_the_program():
    def work():
        time.sleep(0.05)
        return threading.current_thread().daemon

    assert in_a_thread(work, 30) is True
