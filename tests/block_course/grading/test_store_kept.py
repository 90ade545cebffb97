"""What the store holds after a kill, and when several graders write to it at once."""

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from block_course.grading import store as store_module
from block_course.grading.result import Result
from block_course.grading.store import Store, StoreError
from tests.block_course.grading.graded import result

KEEPING = """
import sys
from itertools import count
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from block_course.grading.store import Store
from tests.block_course.grading.graded import result
with Store(Path(sys.argv[2])) as store:
    for number in count(int(sys.argv[3])):
        whose = f"l{number % 3}"
        if store.give(f"k{number}", whose, "f") is None:
            store.keep(f"k{number}", result(whose, content=f"c{number}"))
        print(number, flush=True)
"""
ROOT = str(Path(__file__).resolve().parents[3])


@pytest.mark.slow
def test_what_was_said_to_be_kept_is_there_after_a_kill_and_nothing_is_half_there(tmp_path: Path) -> None:
    told: list[int] = []
    for more_seconds in (0.0, 0.003, 0.017):
        first = told[-1] + 1 if told else 0
        command = [sys.executable, "-c", KEEPING, ROOT, str(tmp_path), str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as keeping:
            assert keeping.stdout is not None
            told += [int(keeping.stdout.readline()) for _ in range(7)]
            time.sleep(more_seconds)
            keeping.kill()
            told += map(int, keeping.stdout.read().split())

    with Store(tmp_path) as store:
        assert all(store.give(f"k{number}", "someone", "f") for number in told)
    with closing(connect(tmp_path / "store.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        kept = "SELECT count(DISTINCT grading) FROM block_course_attempts WHERE learner <> 'someone'"
        gradings = "SELECT count(*), count(DISTINCT key) FROM block_course_gradings"
        (attempts,) = database.execute(kept).fetchone()
        assert database.execute(gradings).fetchone() == (attempts, attempts)


def collision(*given: Any) -> IntegrityError:
    return IntegrityError("INSERT", None, Exception("UNIQUE constraint failed"))


def test_an_attempt_that_another_grader_counted_meanwhile_is_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point, calls = store_module._point, []

    def second_time(connection: Connection, given: Result, grading: int) -> None:
        calls.append(grading)
        if len(calls) == 1:
            raise collision()
        point(connection, given, grading)

    monkeypatch.setattr(store_module, "_point", second_time)
    with Store(tmp_path) as store:
        store.keep("k1", result())

        assert [each["attempt"] for each in store.latest()] == [1]
    assert len(calls) == 2


def test_a_collision_without_end_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def always(*given: object) -> None:
        raise collision()

    monkeypatch.setattr(store_module, "_point", always)
    with Store(tmp_path) as store, pytest.raises(StoreError, match="others count the same attempts"):
        store.keep("k1", result())
