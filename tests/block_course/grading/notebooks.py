"""Building notebooks for the tests: as data, and as the bytes of a file."""

import json
from typing import Any

Content = dict[str, Any]


def nbgrader(grade_id: str, *, grade: bool = False, locked: bool = False, solution: bool = False) -> Content:
    flags = {"grade": grade, "locked": locked, "solution": solution, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": grade_id, **flags}}


def code(source: object, metadata: Content | None = None) -> Content:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata or {},
        "outputs": [],
        "source": source,
    }


def markdown(source: str, metadata: Content | None = None) -> Content:
    return {"cell_type": "markdown", "metadata": metadata or {}, "source": source}


def given(grade_id: str, source: str) -> Content:
    return code(source, nbgrader(grade_id, locked=True))


def answer(grade_id: str, source: str) -> Content:
    return code(source, nbgrader(grade_id, solution=True))


def check(grade_id: str, source: str = "check()") -> Content:
    return code(source, nbgrader(grade_id, grade=True, locked=True))


def notebook(*cells: object, **more: object) -> Content:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def as_bytes(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()
