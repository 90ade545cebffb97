"""Each attempt succeeds, and says so, where its wall does not stand."""

import errno
import os
from pathlib import Path

import pytest

from block_course.grading.walls import limits, probe
from block_course.grading.walls.forked import reason


def test_without_seccomp_a_socket_is_not_refused() -> None:
    assert reason(probe.of_seccomp) == "a socket was not refused"


def test_without_seccomp_a_call_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe.kernel, "unshare", lambda kinds: 0)

    assert reason(lambda: probe.of_deadly_calls(lambda: None)) == "a new namespace did not end the process"


def test_a_call_that_ends_the_process_is_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe.kernel, "unshare", lambda kinds: os._exit(1))

    assert reason(lambda: probe.of_deadly_calls(lambda: None)) == ""


def test_without_landlock_a_file_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "canary").touch()

    why = reason(lambda: probe.of_files(str(tmp_path / "canary"), str(tmp_path)))

    assert why == "to read a file of the grader's was not refused"


def test_without_a_root_of_its_own_a_file_of_the_course_is_there(tmp_path: Path) -> None:
    assert reason(lambda: probe.of_own_root(__file__, str(tmp_path))) == (
        "to find a file of the course was not refused"
    )


def test_the_same_user_can_read_a_private_file(tmp_path: Path) -> None:
    (tmp_path / "private").touch(mode=0o600)

    why = reason(lambda: probe.of_other_user(str(tmp_path / "private"), 0))

    assert why == "to read a private file was not refused"


def test_a_right_that_is_held_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "chroot", lambda path: None)

    assert reason(probe.of_capabilities) == "to change the root was not refused"


def test_a_limit_that_does_not_hold_is_passed() -> None:
    wide = limits.limits(limits.Usage(0, 0, 0), 1 << 20, 5, counted_apart=True)

    assert reason(lambda: probe.of_limits(wide)) == "memory beyond the limit was not refused"


def test_a_folder_that_holds_something_is_not_the_learners(tmp_path: Path) -> None:
    (tmp_path / "left").touch()

    assert reason(lambda: probe.works([os.__file__], str(tmp_path))) == (
        "the folder of a learner's code is not empty"
    )


def test_a_file_that_is_needed_and_can_not_be_read_is_named(tmp_path: Path) -> None:
    assert str(tmp_path / "gone") in reason(lambda: probe.works([str(tmp_path / "gone")], str(tmp_path)))


def test_a_refusal_for_another_reason_is_none() -> None:
    def fail() -> None:
        raise OSError(errno.ENOENT, "No such file")

    probe.refused("a file", fail, errno.ENOENT)
    with pytest.raises(probe.StillOpen, match=r"a file was refused for another reason: .*No such file"):
        probe.refused("a file", fail, errno.EPERM)
