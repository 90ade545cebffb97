"""On paper: the whole book as one PDF with references that work, and the reference card on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pypdf
import pytest

from block_course.book.pdf import print_book
from tests.browser.test_every_page import names
from tests.browser.visiting import opened

if TYPE_CHECKING:  # where it is not installed, the probe of "chromium" says so
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

CHAPTERS = ("chapters/03_layer_norm", "chapters/05_attention", "chapters/bibliography")


@pytest.fixture(scope="module")
def pdf(book: Path, tmp_path_factory: pytest.TempPathFactory) -> pypdf.PdfReader:
    """Three pages of the book that refer to one another, printed; all of them take minutes."""
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    print_book(book, [*CHAPTERS], "Inside the transformer block", path)
    return pypdf.PdfReader(path)


def test_the_printed_book_has_its_chapters_in_order(pdf: pypdf.PdfReader) -> None:
    titles = [str(entry["/Title"]) for entry in pdf.outline if not isinstance(entry, list)]

    assert len(titles) == len(CHAPTERS)
    for title, begins in zip(titles, ("Layer norm", "Attention", "Bibliography"), strict=True):
        assert begins in title


def test_references_lead_from_page_to_page_of_the_pdf(pdf: pypdf.PdfReader) -> None:
    inside = [
        link.get_object()
        for page in pdf.pages
        for link in page.get("/Annots") or []
        if "/Dest" in link.get_object()
    ]
    targets = {str(link["/Dest"]) for link in inside}

    assert len(inside) > 20
    assert {target.removeprefix("/") for target in targets} <= {
        name.removeprefix("/") for name in pdf.named_destinations
    }
    assert any("bibliography" in target for target in targets), "citations lead to their entries"


def test_no_link_leads_to_a_file_of_the_machine_that_printed(pdf: pypdf.PdfReader) -> None:
    links = [link.get_object() for page in pdf.pages for link in page.get("/Annots") or []]
    addresses = [str(link["/A"]["/URI"]) for link in links if "/URI" in link.get("/A", {})]

    assert addresses
    assert [address for address in addresses if not address.startswith("https://")] == []


def test_the_reference_card_is_one_page(book: Path, browser: Browser) -> None:
    assert "chapters/reference_card" in names()
    with opened(browser, (book / "chapters/reference_card.html").as_uri()) as (page, _):
        printed = page.pdf(prefer_css_page_size=True, print_background=True)

    (book.parent / "card.pdf").write_bytes(printed)
    assert len(pypdf.PdfReader(book.parent / "card.pdf").pages) == 1
