import json
import stat
from pathlib import Path

import pytest
from nbformat import v4

from block_course.outputs.form import UnreadableNotebook, parse_notebook, serialize, tidy, write_atomically


def raw(*cells: dict[str, object], minor: int = 4) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": cells}).encode()


def markdown(source: object, **more: object) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def test_ids_are_kept_and_made_from_the_source_where_they_are_missing() -> None:
    content = raw(
        markdown("a"), markdown("b"), markdown("a"), markdown("a", id="own"), markdown("c", id="own")
    )

    ids = [cell.id for cell in parse_notebook(content).cells]

    assert ids == [cell.id for cell in parse_notebook(content).cells]
    assert ids[3] == "own"
    assert ids[2] == f"{ids[0]}-1"
    assert len(set(ids)) == 5


def test_an_id_does_not_hang_on_the_place_in_the_notebook() -> None:
    first, second = (
        parse_notebook(raw(*cells)) for cells in ([markdown("a")], [markdown("b"), markdown("a")])
    )

    assert first.cells[0].id == second.cells[1].id


def test_what_is_serialized_is_read_and_serialized_alike() -> None:
    notebook = v4.new_notebook(
        cells=[v4.new_code_cell("x = 'γ'\ny", id="a"), v4.new_markdown_cell("m", id="b")]
    )

    content = serialize(notebook)

    assert content.endswith(b"}\n")
    assert "γ".encode() in content
    assert serialize(parse_notebook(content)) == content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (raw(markdown("a"))[:-9], "not JSON"),
        (b"[]", "not a notebook of format 4"),
        (b'{"nbformat": 3, "worksheets": []}', "not a notebook of format 4"),
        (b'{"nbformat": 4, "cells": {}}', "its cells are not a list of cells"),
        (b'{"nbformat": 4, "cells": [1]}', "its cells are not a list of cells"),
        (raw(markdown("a", id=["a"])), "a cell's id is not text"),
        (raw(markdown("a", id="a b")), "not valid"),
        (raw(markdown(7)), "not valid"),
        (raw({"cell_type": "markdown"}), "not valid"),
    ],
)
def test_what_is_not_a_notebook_is_refused_in_words(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableNotebook, match=reason):
        parse_notebook(content)


def test_tidying_forgets_when_and_by_which_python_a_notebook_ran() -> None:
    times = {
        "execution": {"iopub.status.busy": "2024"},
        "ExecuteTime": {"end_time": "2024"},
        "tags": ["kept"],
    }
    notebook = v4.new_notebook(cells=[v4.new_code_cell("x", metadata=times)])
    notebook.metadata.kernelspec = {"name": "mine", "display_name": "Mine"}
    notebook.metadata.language_info = {"name": "python", "version": "3.11.4"}
    notebook.metadata.title = "kept"

    tidy(notebook)

    assert notebook.cells[0].metadata == {"tags": ["kept"]}
    assert notebook.metadata.kernelspec == {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    assert notebook.metadata.language_info.keys() == {"name", "file_extension", "mimetype", "pygments_lexer"}
    assert notebook.metadata.title == "kept"


def test_a_write_replaces_the_content_and_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"old")
    path.chmod(0o640)

    write_atomically(path, b"new")

    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_goes_through_a_link_and_makes_a_missing_file(tmp_path: Path) -> None:
    target, link = tmp_path / "target.ipynb", tmp_path / "link.ipynb"
    link.symlink_to(target)

    write_atomically(link, b"new")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_new_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()

    write_atomically(tmp_path / "a.ipynb", b"new")

    assert (tmp_path / "a.ipynb").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_an_interrupted_write_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(path, b"new, and longer")

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
