"""A table of a page reads without style or script."""

from html.parser import HTMLParser

from transformer_block._page_table import page_table


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs).get("scope")))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_names_of_columns_and_rows_are_headers_and_all_is_text() -> None:
    tags = Tags(page_table("a & b", ["name", "<n>"], [["x", "1"], ["y", "2 < 3"]]))

    assert tags.text == ["a & b", "name", "<n>", "x", "1", "y", "2 < 3"]
    assert tags.found.count(("th", "col")) == 2
    assert tags.found.count(("th", "row")) == 2
    assert tags.found.count(("td", None)) == 2
