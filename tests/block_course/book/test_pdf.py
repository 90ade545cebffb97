"""The pages of a book become one, in which every reference leads on."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from block_course.book.pdf import PrintError, browser, chapters, one_page

HEAD = '<html><body><nav><a href="b.html">Next</a></nav><article class="bd-article">'
PAGES = {
    "chapters/a": '<h1 id="top">A</h1><a href="b.html">b</a><a href="b.html#part">part</a>'
    '<a href="#top">up</a>'
    '<a href="../index.html">index</a><img loading="lazy" src="../_images/x.svg"/><script>1</script>',
    "chapters/b": '<h1 id="part">B</h1><a href="https://example.org/b.html">out</a>'
    '<a href="../_downloads/n.ipynb">n</a>'
    "<details><summary>s</summary>answer</details>"
    '<input type="radio" name="tab-0" id="tab-0"/><label for="tab-0">NumPy</label>',
    "solutions/a": '<h1 id="top">Solutions</h1><a href="../chapters/a.html#top">a</a>',
}
NAMES = [*PAGES]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    for name, body in PAGES.items():
        file = tmp_path / f"{name}.html"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{HEAD}{body}</article></body></html>", encoding="utf-8")
    return tmp_path


@pytest.fixture
def page(book: Path) -> BeautifulSoup:
    return BeautifulSoup(one_page(book, NAMES, "The book"), "html.parser")


def test_pages_follow_in_order_and_bring_their_article_alone(page: BeautifulSoup) -> None:
    assert [each.get_text() for each in page.find_all("h1")] == ["A", "B", "Solutions"]
    assert page.find_all(["nav", "script"]) == []


def test_references_lead_to_ids_of_the_one_page(page: BeautifulSoup) -> None:
    inside = [str(each["href"]) for each in page.select("a[href^='#']")]

    assert inside == ["#chapters-b", "#chapters-b--part", "#chapters-a--top", "#chapters-a--top"]
    ids = [str(each["id"]) for each in page.find_all(id=True)]
    assert {each[1:] for each in inside} <= set(ids)
    assert len(set(ids)) == len(ids)


def test_other_addresses_hold_from_the_books_folder(page: BeautifulSoup) -> None:
    assert page.select_one("img").attrs == {"src": "_images/x.svg"}
    # what would lead to the printer's own disk leads nowhere
    assert [each.get("href") for each in page.select("a:not([href^='#'])")] == [
        None, "https://example.org/b.html", None,
    ]  # fmt: skip


def test_answers_stand_open_and_tabs_stay_with_their_page(page: BeautifulSoup) -> None:
    assert page.select_one("details").has_attr("open")
    assert page.select_one("label")["for"] == page.select_one("input")["id"] == "chapters-b--tab-0"
    assert page.select_one("input")["name"] == "chapters-b--tab-0"


def test_pages_that_were_left_out_are_not_asked_for(book: Path) -> None:
    assert chapters(book, ["chapters/b", "solutions/b", "chapters/a"]) == ["chapters/b", "chapters/a"]


def test_a_page_without_an_article_is_refused(book: Path) -> None:
    (book / "empty.html").write_text("<html></html>")

    with pytest.raises(PrintError, match=r"empty\.html has no article"):
        one_page(book, ["empty"], "")


def test_without_a_browser_it_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROME_PATH", raising=False)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(PrintError, match="apt-get install chromium"):
        browser()
