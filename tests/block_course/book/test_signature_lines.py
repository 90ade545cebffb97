"""Parameters of a signature stand in lines."""

import pytest
from bs4 import BeautifulSoup

from .conftest import Build

pytestmark = pytest.mark.slow

PAGE = """# Home

```{py:function} join(x: float, branch: float, scale: float = 1.0) -> float
Joins.
```
"""


def test_a_long_signature_is_lines_and_its_description_stays_a_definition(build: Build) -> None:
    built = build(
        {"index.md": PAGE}, "block_course.book.signature_lines", python_maximum_signature_line_length=20
    )

    page = BeautifulSoup(built.page(), "html.parser")
    assert [each.get_text() for each in page.select("dt > .sig-line")] == [
        "x: float,", "branch: float,", "scale: float = 1.0,",
    ]  # fmt: skip
    assert page.select("dt dl, dt dd") == []
    assert [each.get_text(strip=True) for each in page.select("dl > dd")] == ["Joins."]
