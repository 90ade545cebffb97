import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateTable

from block_course.grading.tables import ATTEMPTS, SCHEMA, TABLES, Unusable, named, opened, whose


def test_a_store_is_opened_again_as_it_was_made(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"

    for _ in range(2):
        with opened(url).connect() as connection:
            made = connection.exec_driver_sql("SELECT value FROM block_course_about").scalars().all()

    assert made == [SCHEMA]


def test_each_commit_of_sqlite_is_written_through_and_others_read_meanwhile(tmp_path: Path) -> None:
    engine = opened(f"sqlite:///{tmp_path / 's.db'}")

    with engine.connect() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        ]

    assert found == ["wal", 2]


def test_what_a_kill_left_half_made_is_made_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE block_course_about (name VARCHAR(64) PRIMARY KEY, value JSON NOT NULL)"
        )

    with opened(f"sqlite:///{path}").connect() as connection:
        assert connection.execute(ATTEMPTS.select()).all() == []


def unreadable(folder: Path) -> str:
    (folder / "s.db").write_bytes(b"these are notes, no database\n" * 100)
    return f"sqlite:///{folder / 's.db'}"


def of_the_future(folder: Path) -> str:
    url = f"sqlite:///{folder / 's.db'}"
    with opened(url).begin() as connection:
        connection.exec_driver_sql("UPDATE block_course_about SET value = '7' WHERE name = 'schema'")
    return url


UNUSABLE = {
    "no URL": (lambda folder: "store.db", "no SQLAlchemy URL, such as sqlite:///"),
    "no driver": (lambda folder: "nosuch://ann:pass@host/db", "needs a driver that isn't installed"),
    "no database": (unreadable, "s.db can't be opened: file is not a database"),
    "no folder": (lambda folder: f"sqlite:///{folder}/none/s.db", "can't be opened: unable to open"),
    "a newer one": (of_the_future, f"has schema 7; this grader knows {SCHEMA}"),
}


@pytest.mark.parametrize(("arrange", "sentence"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_store_that_can_not_be_opened_says_why(
    arrange: Callable[[Path], str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(Unusable) as refused:
        opened(arrange(tmp_path))

    assert sentence in str(refused.value)
    assert "pass@" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_name_of_a_store_holds_no_password() -> None:
    assert named(make_url("postgresql://ann:secret@host/db")) == "postgresql://ann:***@host/db"
    assert named(make_url("sqlite:////tmp/s.db")) == "/tmp/s.db"


@pytest.mark.parametrize("dialect", [postgresql, mysql], ids=["PostgreSQL", "MySQL"])
def test_the_tables_can_be_made_elsewhere(dialect: ModuleType) -> None:
    made = [str(CreateTable(table).compile(dialect=dialect.dialect())) for table in TABLES.sorted_tables]

    assert len(made) == 4
    assert all("block_course_" in each for each in made)


def test_a_digest_parts_a_name_from_an_assignment() -> None:
    assert len({whose("a", "b"), whose("ab", ""), whose("", "ab"), whose("b", "a"), whose("A", "b")}) == 5
