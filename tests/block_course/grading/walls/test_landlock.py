import os
import struct
from pathlib import Path
from typing import Any

import pytest

from block_course.grading.walls import kernel, landlock

READ, NAMES = 1 << 2, 1 << 3


def test_a_folder_is_granted_whole_where_nothing_in_it_is_withheld(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert landlock._parts(str(tmp_path), ["/elsewhere"]) == [(str(tmp_path), READ | NAMES)]
    assert landlock._parts(str(tmp_path / "file"), []) == [(str(tmp_path / "file"), READ)]


def test_around_what_is_withheld_each_part_is_granted_for_itself(tmp_path: Path) -> None:
    for name in ("packages/ours/deep", "packages/theirs", "data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "packages" / "file").touch()
    (tmp_path / "packages" / "link").symlink_to(tmp_path / "packages" / "ours")

    parts = dict(landlock._parts(str(tmp_path), [str(tmp_path / "packages" / "ours")]))

    assert parts == {
        str(tmp_path): NAMES,
        str(tmp_path / "data"): READ | NAMES,
        str(tmp_path / "packages"): NAMES,
        str(tmp_path / "packages" / "theirs"): READ | NAMES,
        str(tmp_path / "packages" / "file"): READ,
    }


class Landlock:
    """A kernel that offers a version and remembers what it is asked for."""

    def __init__(self, offered: int) -> None:
        self.offered = offered
        self.handled: tuple[int, ...] = ()
        self.rules: dict[str, int] = {}

    def syscall(self, what: str, number: int, *given: Any) -> int:
        if what == "landlock_create_ruleset":
            if given[2]:
                return self.offered
            self.handled = struct.unpack(f"={given[1] // 8}Q", given[0].raw)
            return os.open(os.devnull, os.O_RDONLY)
        rights, descriptor = struct.unpack("=Qi", given[2].raw)
        self.rules[os.readlink(f"/proc/self/fd/{descriptor}")] = rights
        return 0


@pytest.mark.parametrize(
    ("offered", "handled"),
    [
        (1, ((1 << 13) - 1,)),
        (2, ((1 << 14) - 1,)),
        (3, ((1 << 15) - 1,)),
        (4, ((1 << 15) - 1, 3)),
        (5, ((1 << 16) - 1, 3)),
        (6, ((1 << 16) - 1, 3, 3)),
        (9, ((1 << 16) - 1, 3, 3)),
    ],
)
def test_all_that_a_kernel_can_forbid_is_forbidden(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, offered: int, handled: tuple[int, ...]
) -> None:
    fake = Landlock(offered)
    monkeypatch.setattr(kernel, "syscall", fake.syscall)

    rules = landlock.ruleset([str(tmp_path), "/nowhere"], [], [os.devnull])

    assert fake.handled == handled
    assert set(fake.rules) == {str(tmp_path), os.devnull}
    assert fake.rules[os.devnull] & ~handled[0] == 0
    assert rules >= landlock._HIGH
    os.close(rules)
