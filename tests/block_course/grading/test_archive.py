import zipfile
from pathlib import Path

import pytest

from block_course.grading import archive as grading_archive
from block_course.grading.archive import BadArchive, LeftInside, Unpacked, is_archive, unpacked
from block_course.grading.submission import Found, find
from tests.block_course.grading.examples import TINY, submission

NIGHT, MORNING = (2026, 11, 30, 23, 59, 58), (2026, 12, 1, 8, 0, 2)


def zipped(path: Path, *members: tuple[str, bytes, tuple[int, ...]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data, at in members:
            file.writestr(zipfile.ZipInfo(name, at), data, zipfile.ZIP_DEFLATED)  # type: ignore[arg-type]
    return path


def found_in(path: Path, **roster: str) -> Found:
    return find([path], [TINY], path.parent / "out", roster)


def shown(found: Found) -> dict[str, tuple[bytes, str]]:
    return {each.learner: (each.path.read_bytes(), each.submitted) for each in found.submissions}


def test_of_moodles_attempts_the_latest_counts_and_its_time_is_passed_through(tmp_path: Path) -> None:
    folder = "Zoë Ng_7_assignsubmission_file_"
    path = zipped(
        tmp_path / "moodle.zip",
        (f"{folder}/00_tiny.ipynb", b"new", MORNING),
        (f"{folder}/old/00_tiny.ipynb", b"old", NIGHT),
        (f"{folder}/photo.png", b"png", NIGHT),
        ("Bob_9_assignsubmission_file_/00_tiny.ipynb", b"bob's", NIGHT),
        ("Bob_9_assignsubmission_onlinetext_/onlinetext.html", b"<p>", NIGHT),
    )

    found = found_in(path)

    assert shown(found) == {
        "Zoë Ng": (b"new", "2026-12-01 08:00:02"),
        "Bob": (b"bob's", "2026-11-30 23:59:58"),
    }
    assert [each.reason for each in found.set_aside] == [
        "not a notebook",
        "not a notebook",
        "000000-00_tiny.ipynb counts for this learner",
    ]


def test_of_canvas_uploads_the_last_counts_under_the_rosters_name(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "submissions.zip",
        ("leeann_340934_900_00_tiny-1.ipynb", b"second", NIGHT),
        ("leeann_340934_899_00_tiny.ipynb", b"first", MORNING),
        ("ngbob_LATE_17_12_My work.ipynb", submission(), NIGHT),
    )

    assert shown(found_in(path, **{"340934": "ann"})) == {
        "ann": (b"second", ""),
        "ngbob_17": (submission(), "LATE"),
    }


def test_folders_of_learners_may_be_packed_too(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "class.zip",
        ("submitted/ann/00_tiny/00_tiny.ipynb", b"ann's", NIGHT),
        ("bob/00_tiny.ipynb", b"bob's", NIGHT),
        ("00_tiny.ipynb", b"whose?", NIGHT),
    )

    found = found_in(path)

    assert {each: data for each, (data, _) in shown(found).items()} == {"ann": b"ann's", "bob": b"bob's"}
    assert [each.reason for each in found.set_aside] == ["its name doesn't say whose it is"]


def test_a_second_run_finds_the_files_in_the_same_places(tmp_path: Path) -> None:
    path = zipped(tmp_path / "class.zip", ("ann/00_tiny.ipynb", b"1", NIGHT))
    first = found_in(path)
    zipped(path, ("ann/00_tiny.ipynb", b"2", NIGHT))

    second = found_in(path)

    assert first.submissions[0].path == second.submissions[0].path
    assert second.submissions[0].path.read_bytes() == b"2"
    assert [each.name for each in second.submissions[0].path.parent.iterdir()] == ["000000-00_tiny.ipynb"]


LEFT = {
    "../../up.ipynb": "its name leads out of the archive",
    "/root.ipynb": "its name leads out of the archive",
    "ann/.hidden.ipynb": "hidden",
    "__MACOSX/ann/00_tiny.ipynb": "hidden",
    "ann/more.zip": "an archive in an archive",
}


def test_a_member_with_a_way_out_stays_inside(tmp_path: Path) -> None:
    path = zipped(tmp_path / "c.zip", *((name, b"x", NIGHT) for name in LEFT))

    left = list(unpacked(path, tmp_path / "out", {}))

    assert left == [LeftInside(name, reason) for name, reason in LEFT.items()]
    assert not list(tmp_path.rglob("*.ipynb"))


def test_a_member_larger_than_a_notebook_may_be_stays_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading_archive, "MAX_FILE_BYTES", 3 << 20)
    path = zipped(tmp_path / "c.zip", ("ann/00_tiny.ipynb", b"0" * (4 << 20), NIGHT))

    assert [each.reason for each in found_in(path).set_aside] == ["it has 4 MB; the limit is 3 MB"]


def test_a_member_gives_no_more_than_it_was_said_to_have(tmp_path: Path) -> None:
    path = zipped(tmp_path / "c.zip", ("ann/00_tiny.ipynb", b"0" * 5000, NIGHT))
    data = path.read_bytes().replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    path.write_bytes(data)

    for each in unpacked(path, tmp_path / "out", {}):
        if isinstance(each, Unpacked):
            assert each.path.stat().st_size <= 50
        else:
            assert each.reason.startswith("it can't be unpacked: ")


@pytest.mark.parametrize(
    ("cap", "value", "sentence"),
    [
        ("MOST_MEMBERS", 2, "holds 3 files; the limit is 2"),
        ("MOST_BYTES", 1700, "would be 0 GB when unpacked; the limit is 0 GB"),
    ],
)
def test_an_archive_with_more_than_a_course_could_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cap: str, value: int, sentence: str
) -> None:
    monkeypatch.setattr(grading_archive, cap, value)
    path = zipped(tmp_path / "c.zip", *((f"l{n}/00_tiny.ipynb", b"0" * 600, NIGHT) for n in range(3)))

    with pytest.raises(BadArchive, match=sentence):
        list(unpacked(path, tmp_path / "out", {}))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive_is_listed_with_the_reason(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "c.zip"
    path.write_bytes(data)

    (aside,) = found_in(path).set_aside

    assert aside.path == path
    assert "is no zip file that can be read" in aside.reason


def test_an_encrypted_and_a_damaged_member_stay_inside(tmp_path: Path) -> None:
    path = zipped(tmp_path / "c.zip", ("ann/00_tiny.ipynb", b"0123456789" * 99, NIGHT))
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    encrypted = tmp_path / "e.zip"
    encrypted.write_bytes(data)
    damaged = tmp_path / "d.zip"
    place = path.read_bytes().index(b"ipynb") + 8
    damaged.write_bytes(path.read_bytes()[:place] + b"\xff\xff\xff" + path.read_bytes()[place + 3 :])

    assert [each.reason for each in found_in(encrypted).set_aside] == ["it is encrypted"]
    (aside,) = found_in(damaged).set_aside
    assert aside.reason.startswith("it can't be unpacked: ")
    assert not list((tmp_path / "out").rglob("*.ipynb"))


def test_only_a_file_called_zip_is_taken_for_an_archive(tmp_path: Path) -> None:
    (tmp_path / "folder.zip").mkdir()

    assert is_archive(zipped(tmp_path / "A.ZIP"))
    assert not is_archive(tmp_path / "folder.zip")
    assert not is_archive(tmp_path / "none.zip")


def test_an_unpacked_download_is_read_by_its_names_as_well(tmp_path: Path) -> None:
    for name in ("leeann_340934_900_00_tiny.ipynb", "ngbob_17_12_00_tiny.ipynb"):
        (tmp_path / "canvas").mkdir(exist_ok=True)
        (tmp_path / "canvas" / name).write_bytes(b"x")
    for name in ("Zoë_7_assignsubmission_file_", "Zoë_8_assignsubmission_file_"):
        (tmp_path / "moodle" / name).mkdir(parents=True)
        (tmp_path / "moodle" / name / "00_tiny.ipynb").write_bytes(b"x")

    found = find([tmp_path], [TINY], roster={"17": "bob"})

    assert sorted(each.learner for each in found.submissions) == ["Zoë 7", "Zoë 8", "bob", "leeann_340934"]


def test_what_nbgrader_noted_of_the_time_is_passed_through(tmp_path: Path) -> None:
    place = tmp_path / "submitted" / "ann" / "00_tiny"
    place.mkdir(parents=True)
    (place / "00_tiny.ipynb").write_bytes(b"x")
    (place / "timestamp.txt").write_text("2026-11-30 18:02:11.5 UTC\n")

    (found,) = find([tmp_path / "submitted"], [TINY]).submissions

    assert (found.learner, found.submitted) == ("ann", "2026-11-30 18:02:11.5 UTC")
