from pathlib import Path

import pytest

from block_course.grading.roster import RosterError, read_roster

ROSTERS = {
    "commas": b"name,learner\nAnn A.,ann\nBob B.,bob\n",
    "semicolons and a byte order mark": b"\xef\xbb\xbfLogin ID;Name\r\nann;Ann, A.\r\nbob;\r\n",
    "tabs": b"id\tmail\nann\ta@b\nbob\tb@b\n",
    "empty rows and spaces": b"learner\n ann \n\n,\nbob\n",
}


@pytest.mark.parametrize("data", ROSTERS.values(), ids=ROSTERS.keys())
def test_names_are_read_from_the_column_that_holds_them(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(data)

    assert read_roster(path) == ("ann", "bob")


BAD = {
    "empty": (b"", "is empty"),
    "no such column": (
        b"points,\x1b[31m\n1,2\n",
        r"has the columns points, \x1b[31m; one of learner, student",
    ),
    "twice": (b"learner\nann\nbob\nann\n", "names ann more than once"),
    "other letters": (b"learner\nZo\xeb\n", "is not UTF-8: invalid continuation byte at byte 10"),
    "no CSV": (b'learner\n"ann"x\n', "is no CSV file"),
}


@pytest.mark.parametrize(("data", "sentence"), BAD.values(), ids=BAD.keys())
def test_a_roster_that_can_not_be_used_says_why(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(data)

    with pytest.raises(RosterError) as refused:
        read_roster(path)

    assert sentence in str(refused.value)


def test_a_roster_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match=r"none\.csv can't be read: No such file"):
        read_roster(tmp_path / "none.csv")
