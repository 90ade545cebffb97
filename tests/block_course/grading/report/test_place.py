from pathlib import Path

import pytest

from block_course.grading.report.place import place, written_for
from tests.block_course.grading.graded import result


def test_a_plain_name_is_the_name_of_the_folder() -> None:
    assert str(place(result("ann"), ".html")) == "ann/00_tiny.html"


@pytest.mark.parametrize("name", ["..", "/etc/passwd", "a/../../b", ".", "", "con", "a\\b", "~"])
def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    with written_for(tmp_path / "here", result(name), ".json") as file:
        file.write("{}")

    (path,) = (each for each in tmp_path.rglob("*") if each.is_file())
    assert path.parent.parent == tmp_path / "here"
    assert path.name == "00_tiny.json"
