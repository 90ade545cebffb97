"""Zip files by an enemy, and by a bad disk: each member is taken out or listed with the reason."""

import random
import stat
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from block_course.grading.archive import BadArchive, LeftInside, unpacked
from block_course.grading.submission import find
from tests.block_course.grading.examples import TINY

AT = (2026, 11, 30, 23, 59, 58)
DAMAGED = 400


def packed(*names: str, way: int = zipfile.ZIP_DEFLATED, mode: int = 0, data: bytes = b"x" * 400) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            member = zipfile.ZipInfo("named" if name == "" else name, AT)
            member.external_attr = mode << 16
            archive.writestr(member, data, way)
    return file.getvalue()


def reasons(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    return [each.reason for each in unpacked(path, path.parent / "out", {}) if isinstance(each, LeftInside)]


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_gives_gigabytes_for_its_first_bytes_is_not_opened(
    tmp_path: Path, way: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = packed("ann/00_tiny.ipynb", way=way, data=bytes(1 << 20))
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *given: pytest.fail("it was opened"))

    assert reasons(tmp_path / "c.zip", data) == ["it is packed in an unusual way"]


def test_a_link_stays_inside(tmp_path: Path) -> None:
    data = packed("ann/00_tiny.ipynb", mode=stat.S_IFLNK | 0o777, data=b"../bob/00_tiny.ipynb")

    assert reasons(tmp_path / "c.zip", data) == ["a symbolic link; links are not followed"]


@pytest.mark.parametrize("name", [b"\0amed", b"././/"[:4] + b"."])
def test_a_member_without_a_name_stays_inside(tmp_path: Path, name: bytes) -> None:
    data = packed("named", "ann/00_tiny.ipynb").replace(b"named", name)

    assert reasons(tmp_path / "c.zip", data) == ["it has no name"]


def test_a_number_that_no_platform_gives_is_no_number_of_an_upload(tmp_path: Path) -> None:
    name = f"leeann_340934_{'9' * 5000}_00_tiny.ipynb"

    assert reasons(tmp_path / "c.zip", packed(name)) == ["its name doesn't say whose it is"]


NEWER = 255


def test_an_archive_of_a_newer_format_or_with_a_name_that_is_no_text_is_listed(tmp_path: Path) -> None:
    data = packed("\u00e9nn/00_tiny.ipynb")
    at = data.rindex(b"PK\x01\x02")
    newer = data[: at + 6] + bytes([NEWER]) + data[at + 7 :]
    no_text = data[:at] + data[at:].replace("\u00e9".encode(), b"\xff\xff")

    for broken in (newer, no_text):
        with pytest.raises(BadArchive, match="is no zip file that can be read"):
            reasons(tmp_path / "c.zip", broken)


def test_a_name_from_the_root_is_listed_as_a_name_in_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "c.zip"
    path.write_bytes(packed("/etc/00_tiny.ipynb"))

    (aside,) = find([path], [TINY], tmp_path / "out").set_aside

    assert aside.path == path / "etc" / "00_tiny.ipynb"


def test_of_400_damaged_archives_each_member_is_taken_out_or_listed(tmp_path: Path) -> None:
    chance = random.Random(4)
    whole = packed(
        "ann/00_tiny.ipynb", "leeann_340934_900_00_tiny.ipynb", "Bob_7_assignsubmission_file_/a.ipynb"
    )
    ends = {"refused": 0, "listed": 0, "whole": 0}

    for _ in range(DAMAGED):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 8, 0xFF, chance.randrange(256)))
        if chance.random() < 0.1:
            del data[chance.randrange(len(data)) :]
        try:
            ends["listed" if reasons(tmp_path / "c.zip", bytes(data)) else "whole"] += 1
        except BadArchive:
            ends["refused"] += 1

    assert min(ends.values()) > DAMAGED / 20
