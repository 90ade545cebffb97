"""What a file that is written whole leaves behind: its own bytes, a lock for all, and no open descriptor."""

import os

import pytest

from transformer_block._whole_files import LOCK, only_writer, write_whole


@pytest.fixture
def generous():
    before = os.umask(0)
    yield
    os.umask(before)


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.usefixtures("generous")
def test_whoever_may_write_into_the_folder_may_take_its_lock(tmp_path):
    with only_writer(tmp_path):
        assert (tmp_path / LOCK).stat().st_mode & 0o777 == 0o666


def test_no_descriptor_stays_open(tmp_path):
    before = descriptors()
    with only_writer(tmp_path):
        write_whole(tmp_path / "whole", b"all of it")
    assert descriptors() == before
    assert (tmp_path / "whole").read_bytes() == b"all of it"


def test_a_folder_that_takes_no_draft_says_so_and_keeps_its_file(tmp_path, monkeypatch):
    (tmp_path / "whole").write_bytes(b"old")

    def refused(path, flags, mode=0o777):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(PermissionError, match="Permission denied"):
        write_whole(tmp_path / "whole", b"new")
    monkeypatch.undo()
    assert (tmp_path / "whole").read_bytes() == b"old"
