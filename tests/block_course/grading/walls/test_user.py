import os

import pytest

from block_course.grading.walls import user


def test_graders_side_by_side_have_users_of_their_own() -> None:
    users = {user.user_for(process) for process in range(5000, 5008)}

    assert len(users) == 8
    assert all(user.FIRST_USER <= each < 65534 for each in users)


def test_becoming_another_user_leaves_nothing_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    for name in ("setgroups", "setresgid", "setresuid"):
        monkeypatch.setattr(os, name, lambda *given, name=name: done.append((name, *given)))

    user.become(64001)

    assert done == [("setgroups", []), ("setresgid", *[64001] * 3), ("setresuid", *[64001] * 3)]


def test_being_counted_as_another_user_keeps_what_files_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[object] = []
    for name in ("setgroups", "setresuid"):
        monkeypatch.setattr(os, name, lambda *given, name=name: done.append((name, *given)))

    user.be_counted_as(64001)

    assert done == [("setgroups", []), ("setresuid", 64001, -1, -1)]
