import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transformer_block.audit import isolation
from transformer_block.audit.isolation import Lost, in_a_fork, in_a_thread, side_by_side

pytestmark = pytest.mark.needs("fork")


def test_a_fork_hands_back_what_the_work_returned():
    assert in_a_fork(lambda: {"a": [1, 2.5, None, "é"], "pid": os.getpid()}, 30)["a"] == [1, 2.5, None, "é"]
    assert in_a_fork(os.getpid, 30) != os.getpid()


def test_an_answer_longer_than_a_pipe_holds_comes_through():
    assert in_a_fork(lambda: "x" * 500_000, 30) == "x" * 500_000


def test_an_answer_without_end_is_cut():
    with pytest.raises(Lost, match="answered with more than 1,048,576 bytes"):
        in_a_fork(lambda: "x" * 2**21, 30)


def test_work_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path):
    def work():
        child = subprocess.Popen(["sleep", "3600"])
        (tmp_path / "pids").write_text(f"{os.getpid()} {child.pid}")
        time.sleep(3600)

    with pytest.raises(Lost, match=r"gave no answer in 1 s"):
        in_a_fork(work, 1)
    for pid in (tmp_path / "pids").read_text().split():
        assert not runs(int(pid))


def runs(pid):
    """Whether a process is there and more than a remnant that nobody has waited for."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state == "Z":
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: os._exit(3), "ended its process with status 3"),
        (lambda: sys.exit(4), "ended its process with status 4"),
        (lambda: sys.exit("words"), "ended its process with status 1"),
        (lambda: 1 / 0, "ended its process with status 1"),
        (lambda: {1, 2}, "ended its process with status 1"),
        (lambda: os.kill(os.getpid(), 15), "was ended by SIGTERM"),
    ],
)
def test_another_ending_is_told(work, words):
    with pytest.raises(Lost, match=words):
        in_a_fork(work, 30)


def test_a_connection_closed_by_work_that_goes_on_is_told():
    def work():
        os.closerange(3, 256)
        time.sleep(3600)

    with pytest.raises(Lost, match="closed its connection and went on"):
        in_a_fork(work, 30)


def test_a_fork_says_nothing_on_the_outputs_of_its_parent(capfd):
    in_a_fork(lambda: sys.stdout.write("loud") + os.write(2, b"louder"), 30)
    assert capfd.readouterr() == ("", "")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> str:
    """The processes that this one has started, by their numbers."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8")


def test_a_fork_leaves_no_process_and_no_open_file():
    before = open_files(), children()
    in_a_fork(lambda: 1, 30)
    assert (open_files(), children()) == before


def waits_for(path: Path) -> str:
    """What the file holds, once there is something in it: it is there before its first letter is."""
    while not path.exists() or not (text := path.read_text()):
        time.sleep(0.005)
    return text


def test_answers_come_in_order_while_the_next_works_run(tmp_path: Path):
    met = tmp_path / "met"
    works = [lambda: waits_for(met), lambda: met.write_text("second"), lambda: 3]

    assert [answer() for answer in side_by_side(works, 30, at_once=2)] == ["second", 6, 3]


def test_no_more_works_run_at_once_than_was_said(tmp_path: Path):
    met = tmp_path / "met"
    answers = side_by_side([lambda: waits_for(met), lambda: met.write_text("x")], 0.5, at_once=1)

    with pytest.raises(Lost, match=r"gave no answer in 0\.5 s"):
        next(answers)()
    assert next(answers)() == 1


def test_a_work_that_is_lost_costs_no_other_its_answer():
    answers = list(side_by_side([lambda: 1, lambda: os._exit(3), lambda: 3], 30, at_once=3))

    assert (answers[0](), answers[2]()) == (1, 3)
    with pytest.raises(Lost, match="status 3"):
        answers[1]()


def test_works_that_nobody_waits_for_end_with_their_iterator(tmp_path: Path):
    before = open_files(), children()
    works = [lambda: 1, lambda: time.sleep(3600), lambda: time.sleep(3600)]
    answers = side_by_side(works, 30, at_once=3)

    assert next(answers)() == 1
    answers.close()
    assert (open_files(), children()) == before


def test_a_thread_hands_back_what_the_work_returned():
    assert in_a_thread(lambda: 5, 30) == 5
    assert in_a_thread(lambda: None, 30) is None
    with pytest.raises(Lost, match=r"gave no answer in 0\.05 s"):
        in_a_thread(lambda: time.sleep(0.4), 0.05)
    with pytest.raises(Lost, match="raised ZeroDivisionError: division by zero"):
        in_a_thread(lambda: 1 / 0, 30)
    with pytest.raises(Lost, match="asked to exit with status 9"):
        in_a_thread(lambda: sys.exit(9), 30)


def test_forks_are_for_linux_without_a_gpu_in_use(monkeypatch):
    import torch

    assert isolation.can_fork()
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    assert not isolation.can_fork()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    assert not isolation.can_fork()
