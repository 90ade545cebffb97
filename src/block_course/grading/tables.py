"""The tables of the store, for any database that SQLAlchemy speaks to, and how one is opened."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Engine,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    insert,
    select,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

SCHEMA = 2
_PATIENCE_SECONDS = 30
_DIGEST = String(64)

TABLES = MetaData()
GRADINGS = Table(
    "block_course_gradings",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("key", _DIGEST, nullable=False, index=True),
    Column("at", String(32), nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("result", JSON, nullable=False),
)
"""What was found, by all that it depends on. Rows are added, never changed or taken out."""
ATTEMPTS = Table(
    "block_course_attempts",
    TABLES,
    Column("whose", _DIGEST, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("learner", Text, nullable=False),
    Column("assignment", Text, nullable=False),
    Column("content", _DIGEST, nullable=False),
    Column("file", Text, nullable=False),
    Column("submitted", String(64), nullable=False),
    Column("grading", ForeignKey(GRADINGS.c.id), nullable=False),
)
"""What each learner handed in, counted from 1, and its latest grading."""
MARKS = Table(
    "block_course_marks",
    TABLES,
    Column("whose", _DIGEST, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("exercise", String(200), primary_key=True),
    Column("at", String(32), nullable=False),
    Column("points", Float),
    Column("comment", Text, nullable=False),
)
"""What a person says of an attempt or, with a name, of one of its exercises; no grading touches it."""
ABOUT = Table(
    "block_course_about",
    TABLES,
    Column("name", String(64), primary_key=True),
    Column("value", JSON, nullable=False),
)


class Unusable(Exception):
    """A store that can't be opened; the message says which and why, and no password."""


def whose(learner: str, assignment: str) -> str:
    """A digest for a learner's work on an assignment: databases differ in how they compare texts."""
    return hashlib.sha256(json.dumps([learner, assignment]).encode("ascii")).hexdigest()


def opened(url: str | URL) -> Engine:
    """The database behind an address, with its tables. Raises Unusable."""
    try:
        address = make_url(url)
    except ArgumentError:
        raise Unusable("the store's address is no SQLAlchemy URL, such as sqlite:///grades.db") from None
    try:
        engine = _engine(address)
    except (ImportError, NoSuchModuleError) as error:
        raise Unusable(f"the store {named(address)} needs a driver that isn't installed: {error}") from None
    try:
        TABLES.create_all(engine)
        found = _schema(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise Unusable(f"the store {named(address)} can't be opened: {reason(error)}") from None
    if found != SCHEMA:
        engine.dispose()
        raise Unusable(f"the store {named(address)} has schema {found}; this grader knows {SCHEMA}")
    return engine


def named(url: URL) -> str:
    """What to call a store: its file, or its address without the password."""
    is_file = url.get_backend_name() == "sqlite" and url.database
    return str(url.database) if is_file else url.render_as_string(hide_password=True)


def reason(error: SQLAlchemyError) -> str:
    """What the database itself said, on one line, without the statement and its data."""
    return " ".join(str(getattr(error, "orig", None) or type(error).__name__).split())


def _engine(address: URL) -> Engine:
    strict = functools.partial(json.dumps, allow_nan=False)
    is_sqlite = address.get_backend_name() == "sqlite"
    waits = {"timeout": _PATIENCE_SECONDS} if is_sqlite else {}
    engine = create_engine(address, json_serializer=strict, hide_parameters=True, connect_args=waits)
    if is_sqlite:
        event.listen(engine, "connect", _make_durable)
    return engine


def _make_durable(connection: Any, record: object) -> None:
    """Have SQLite write each commit through to the disk, and let others read meanwhile."""
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _schema(engine: Engine) -> int:
    asked = select(ABOUT.c.value).where(ABOUT.c.name == "schema")
    try:
        with engine.begin() as connection:
            found = connection.scalar(asked)
            if found is None:
                connection.execute(insert(ABOUT).values(name="schema", value=SCHEMA))
                found = SCHEMA
    except IntegrityError:  # another grader made the store at the same moment
        with engine.begin() as connection:
            found = connection.scalar(asked)
    return int(found or 0)
