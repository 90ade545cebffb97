import pytest

from block_course.grading.downloads import Handed, handed, leads_out, learners

NAMES = {
    "smithbob_340934_208490284_00_tiny.ipynb": ("smithbob_340934", "00_tiny.ipynb", 208490284, ""),
    "smithbob_LATE_340934_208490284_00_tiny-2.ipynb": (
        "smithbob_340934",
        "00_tiny-2.ipynb",
        208490284,
        "LATE",
    ),
    "anonymous_x7Kq2_31_a b.ipynb": ("anonymous_x7Kq2", "a b.ipynb", 31, ""),
    "Zoë Ng_7_assignsubmission_file_/00_tiny.ipynb": ("Zoë Ng", "00_tiny.ipynb", 0, ""),
    "Zoë Ng_7_assignsubmission_file/deep/er/00_tiny.ipynb": ("Zoë Ng", "00_tiny.ipynb", 0, ""),
    "Participant_7_assignsubmission_file_00_tiny.ipynb": ("Participant", "00_tiny.ipynb", 0, ""),
    "Block 1_ann_attempt_2026-11-30-18-02-11_my_work.ipynb": (
        "ann",
        "my_work.ipynb",
        20261130180211,
        "2026-11-30 18:02:11",
    ),
}


@pytest.mark.parametrize(("path", "said"), NAMES.items())
def test_a_platforms_name_says_whose_a_file_is(path: str, said: tuple[str, str, int, str]) -> None:
    found = handed(path)

    assert found is not None
    assert (found.who, found.name, found.order, found.submitted) == said


@pytest.mark.parametrize(
    "path",
    [
        "00_tiny.ipynb",
        "ann/00_tiny.ipynb",
        "00_tiny (1).ipynb",
        "03_layer_norm_2.ipynb",
        "Zoë Ng_7_assignsubmission_onlinetext_/onlinetext.html",
    ],
)
def test_another_name_says_nothing(path: str) -> None:
    assert handed(path) is None


def of_moodle(who: str, number: int) -> Handed:
    found = handed(f"{who}_{number}_assignsubmission_file_/00_tiny.ipynb")
    assert found is not None
    return found


def test_two_of_one_name_are_told_apart_by_their_numbers() -> None:
    files = [of_moodle("Ann Lee", 7), of_moodle("Ann Lee", 8), of_moodle("Bob", 9)]

    assert [*learners(files, {}).values()] == ["Ann Lee 7", "Ann Lee 8", "Bob"]


def test_the_roster_says_what_to_call_those_whom_it_knows() -> None:
    canvas = handed("leeann_340934_1_00_tiny.ipynb")
    assert canvas is not None
    files = [canvas, of_moodle("Bob Ng", 9), of_moodle("Cy", 3), of_moodle("Cy", 4), of_moodle("Di", 5)]
    roster = {"340934": "ann", "bob ng": "bob", "participant 3": "cy", "cy": "another", "leeann": "nobody"}

    assert [*learners(files, roster).values()] == ["ann", "bob", "cy", "Cy 4", "Di"]


@pytest.mark.parametrize("path", ["/etc/x", "\\x", "a/../x", "..", "..\\x", "C:/x", "c:\\x"])
def test_a_path_that_leads_out_is_known(path: str) -> None:
    assert leads_out(path)


@pytest.mark.parametrize("path", ["a/b", "a..b/c", "x y.ipynb"])
def test_a_path_that_stays_inside_is_known_too(path: str) -> None:
    assert not leads_out(path)
