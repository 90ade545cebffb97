import pytest

from block_course.grading.walls import names


@pytest.mark.parametrize(
    ("standing", "base"),
    [
        ([names.SECCOMP, names.LANDLOCK], True),
        ([names.SECCOMP, names.OWN_ROOT], True),
        ([names.SECCOMP, *names.ALWAYS], False),
        ([names.LANDLOCK, names.OWN_ROOT, names.OTHER_USER], False),
    ],
)
def test_the_base_is_seccomp_and_one_of_two_for_files(standing: list[str], base: bool) -> None:
    assert names.is_base(standing) is base


def test_the_cure_names_what_is_missing_of_the_base_alone() -> None:
    said = names.cure({names.LANDLOCK: "not implemented", names.OTHER_USER: "not root"})

    assert "Landlock (not implemented)." in said
    assert "not root" not in said
