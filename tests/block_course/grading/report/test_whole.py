import json
import os
from pathlib import Path

import pytest

from block_course.grading.report import whole
from tests.block_course.grading.graded import result


@pytest.mark.parametrize("results", [[], [result()], [result("ann"), result("bob", None)]])
def test_results_are_written_as_they_are_after_what_is_known_of_the_run(
    tmp_path: Path, results: list[object]
) -> None:
    whole.write(tmp_path, results, {"schema": 3, "walls": {"standing": []}})  # type: ignore[arg-type]

    written = json.loads((tmp_path / "results.json").read_text())
    assert written == {"schema": 3, "walls": {"standing": []}, "results": results}
    assert os.listdir(tmp_path) == ["results.json"]


def test_a_log_that_shows_the_file_takes_nothing_in_it_for_a_command(tmp_path: Path) -> None:
    name = "##[add-mask]ann\n::set-env::"

    whole.write(tmp_path, [result(name)], {})

    text = (tmp_path / "results.json").read_text()
    assert "##" not in text
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert json.loads(text)["results"][0]["learner"] == name
