"""The whole book as one PDF: its pages become one, which Chromium prints; references lead on within it.

python -m block_course.book.pdf _build/html _build/book.pdf
"""

from __future__ import annotations

import os
import posixpath
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"),
    *("--no-pdf-header-footer", "--generate-pdf-document-outline", "--timeout=600000"),
)
_STYLE = """
@page { @bottom-center { content: counter(page); font: 9pt sans-serif; color: #565d66; } }
@page card { margin: 10mm; }
.printed-page { break-before: page; }
.printed-page:first-child { break-before: auto; }
details > :not(summary) { display: revert; }
"""


class PrintError(RuntimeError):
    """The book can't be printed here."""


def chapters(book: Path, toc: Iterable[str]) -> list[str]:
    """The pages of a table of contents that were built, in its order."""
    return [name for name in toc if (book / f"{name}.html").is_file()]


def one_page(book: Path, names: list[str], title: str) -> str:
    """All pages in one, to lie in the book's folder: ids made unique, links turned to where they lead now."""
    articles = [_article(book, name, set(names)) for name in names]
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        f'<link rel="stylesheet" href="_static/book.css"><style>{_STYLE}</style></head>'
        f'<body><main class="bd-main"><div class="bd-content"><div class="bd-article-container">'
        f"{''.join(articles)}</div></div></main></body></html>"
    )


def _article(book: Path, name: str, names: set[str]) -> str:
    soup = BeautifulSoup((book / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    article = soup.select_one("article.bd-article")
    if article is None:
        raise PrintError(f"{name}.html has no article")
    for unprinted in article.select("script, .headerlink, button"):
        unprinted.decompose()
    for closed in article.select("details"):
        closed["open"] = ""
    for late in article.select("img[loading]"):
        del late["loading"]
    for tag in article.find_all(True):
        _turn(tag, name, names)
    for link in article.select("a[href]"):
        if not (str(link["href"]).startswith("#") or urlsplit(str(link["href"])).scheme):
            del link["href"]  # to a file beside the page, or a page not printed: the PDF leaves them
    whole = soup.new_tag("section", id=_anchor(name), attrs={"class": "printed-page"})
    whole.append(article)
    return str(whole)


def _anchor(name: str, fragment: str = "") -> str:
    return name.replace("/", "-") + (f"--{fragment}" if fragment else "")


def _turn(tag: Tag, name: str, names: set[str]) -> None:
    """Make an element's ids and addresses those of the one page."""
    for attribute in ("id", "for", "aria-labelledby", "aria-describedby"):
        if tag.has_attr(attribute):
            tag[attribute] = " ".join(_anchor(name, each) for each in str(tag[attribute]).split())
    if tag.name == "input" and tag.has_attr("name"):
        tag["name"] = _anchor(name, str(tag["name"]))  # tabs of two pages are two sets
    for attribute in ("href", "src"):
        if tag.has_attr(attribute):
            tag[attribute] = _address(str(tag[attribute]), name, names)


def _address(url: str, name: str, names: set[str]) -> str:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return url
    path = (
        posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else ""
    )
    page = path.removesuffix(".html") if path else name
    if page in names:
        return "#" + _anchor(page, unquote(parts.fragment))
    return parts._replace(path=path).geturl()


def browser() -> str:
    """The Chromium that prints: the one that CHROME_PATH names, or the system's.

    Raises PrintError, with what helps, if there is none.
    """
    found = os.environ.get("CHROME_PATH") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise PrintError("printing needs Chromium: apt-get install chromium, or name one by CHROME_PATH")
    return found


def print_book(book: Path, names: list[str], title: str, pdf: Path) -> None:
    """Print pages of a built book into one PDF.

    Raises PrintError if there is no browser or it fails.
    """
    program = browser()
    page = book / "printed.html"
    page.write_text(one_page(book, names, title), encoding="utf-8")
    pdf.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as profile:
            command = [program, *_FLAGS, f"--user-data-dir={profile}", f"--print-to-pdf={pdf}", page.as_uri()]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        page.unlink()
    if done.returncode or not pdf.is_file():
        raise PrintError(f"{program} did not print: {done.stderr[-500:]}")


def main() -> None:
    """Print the book that lies in the first argument into the second; say why if that fails."""
    import yaml

    book, pdf = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    course = Path(__file__).resolve().parents[3]
    contents = yaml.safe_load((course / "_toc.yml").read_text(encoding="utf-8"))
    toc = [contents["root"], *(each["file"] for part in contents["parts"] for each in part["chapters"])]
    config = yaml.safe_load((course / "_config.yml").read_text(encoding="utf-8"))
    try:
        print_book(book, chapters(book, toc), config["title"], pdf)
    except PrintError as error:
        raise SystemExit(str(error)) from error
    sys.stdout.write(f"The book, printed: {pdf}\n")


if __name__ == "__main__":
    main()
