from pathlib import Path

import pytest

from block_course.grading.roster import RosterError, read_known_by, read_roster, read_times

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


def test_all_that_a_roster_says_of_someone_leads_to_their_name(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(
        "First name,Last name,ID,Login ID,Section\nAnn,Lee,340934,ann,A\nBob,Lee,17,bob,A\n,,8,,A\n"
    )

    assert read_known_by(path) == {
        "ann": "ann",
        "340934": "ann",
        "ann lee": "ann",
        "bob": "bob",
        "17": "bob",
        "bob lee": "bob",
    }  # the surname and the section are of more than one


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("learner,submitted\nann,2026-11-30 18:02\n,x\n", {("ann", ""): "2026-11-30 18:02"}),
        (
            "id;assignment;time\nann;00_tiny;18:02\nann;;9:00",
            {("ann", "00_tiny"): "18:02", ("ann", ""): "9:00"},
        ),
        (
            'Identifier,Full name,Last modified (submission)\nParticipant 7,Ann,"Monday, 6:02 PM"\n',
            {("Ann", ""): "Monday, 6:02 PM"},
        ),
        ("learner,time\nann\n", {("ann", ""): ""}),
    ],
)
def test_times_are_read_by_learner_and_assignment(
    tmp_path: Path, text: str, times: dict[tuple[str, str], str]
) -> None:
    path = tmp_path / "times.csv"
    path.write_text(text)

    assert read_times(path) == times


def test_a_list_without_times_says_which_columns_it_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("learner,points\nann,3\n")

    with pytest.raises(
        RosterError, match=r"the list of times .* has the columns learner, points; one of submitted"
    ):
        read_times(path)
