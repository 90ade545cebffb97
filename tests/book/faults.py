"""What must not be in a built page: loads from elsewhere, dead links, failed mathematics, mute figures."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

# attributes that make a browser fetch something by itself; href does on <link>, <use> and <image>
_FETCHING = ("src", "srcset", "data", "poster", "xlink:href")
# a <link> of another kind is only a pointer
_FETCHED_LINKS = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "prefetch",
    "manifest",
    "apple-touch-icon",
}
_SCRIPT_LOAD = re.compile(r"""(?:from|import|importScripts|fetch|src\s*=)\s*\(?\s*["'`](?:https?:)?//""")
_STYLE_LOAD = re.compile(r"""(?:url\(|@import)\s*["']?((?!data:|#)[^"')\s;]+)""")
_FILE_NAME = re.compile(r"[\w./-]*[0-9a-f]{16,}[\w./-]*|[\w./-]+\.(svg|png|jpe?g|gif|webp)", re.IGNORECASE)


def pages(book: Path) -> list[Path]:
    """List the pages of a built book; what lies in _static are templates."""
    return sorted(page for page in book.rglob("*.html") if "_static" not in page.relative_to(book).parts)


def page_faults(page: Path) -> list[str]:
    """Describe every fault of a page, each in a line that begins with what is wrong."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    return [
        *(fault for url in _loads(soup) for fault in _load_faults(url, page)),
        *_script_faults(soup),
        *_dead_links(soup, page),
        *_math_faults(soup),
        *_image_faults(soup),
    ]


def style_faults(sheet: Path) -> list[str]:
    """Describe every load of a stylesheet that leaves the book or finds nothing."""
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [fault for url in _STYLE_LOAD.findall(text) for fault in _load_faults(url, sheet)]


def _is_outside(url: str) -> bool:
    return url.startswith("//") or urlsplit(url).scheme in {"http", "https", "ws", "wss", "ftp"}


def _loads(soup: BeautifulSoup) -> Iterator[str]:
    for tag in soup.find_all(True):
        for attribute in _FETCHING:
            if tag.has_attr(attribute):
                entries = str(tag[attribute]).split(",") if attribute == "srcset" else [str(tag[attribute])]
                yield from (entry.split()[0] for entry in entries if entry.strip())
        fetched = tag.name in {"use", "image"} or _FETCHED_LINKS & set(tag.get_attribute_list("rel"))
        if fetched and tag.has_attr("href"):
            yield str(tag["href"])
        yield from _STYLE_LOAD.findall(str(tag.get("style", "")))
    for style in soup.find_all("style"):
        yield from _STYLE_LOAD.findall(style.get_text())
    for refresh in soup.find_all("meta", attrs={"http-equiv": re.compile("^refresh$", re.IGNORECASE)}):
        yield str(refresh["content"]).partition("url=")[2]


def _load_faults(url: str, base: Path) -> Iterator[str]:
    parts = urlsplit(url)
    if _is_outside(url):
        yield f"loads from elsewhere: {url}"
    elif not parts.scheme and parts.path and not (base.parent / unquote(parts.path)).is_file():
        yield f"loads what isn't there: {url}"


def _script_faults(soup: BeautifulSoup) -> Iterator[str]:
    for script in soup.find_all("script"):
        for load in _SCRIPT_LOAD.findall(script.get_text()):
            yield f"a script loads from elsewhere: {load}"


def _dead_links(soup: BeautifulSoup, page: Path) -> Iterator[str]:
    ids = {str(tag["id"]) for tag in soup.find_all(id=True)}
    for link in soup.find_all("a", href=True):
        parts = urlsplit(str(link["href"]))
        if parts.scheme:
            continue
        if parts.path and not (page.parent / unquote(parts.path)).is_file():
            yield f"links to what isn't there: {link['href']}"
        if not parts.path and parts.fragment and unquote(parts.fragment) not in ids:
            yield f"links to what isn't there: {link['href']}"


def _math_faults(soup: BeautifulSoup) -> Iterator[str]:
    for error in soup.select(".katex-error, .problematic, .system-message"):
        yield f"was not rendered: {error.get_text()[:80]}"
    for math in soup.select(".math"):
        if not math.select(".katex math"):
            yield f"mathematics without MathML: {math.get_text()[:80]}"


def _image_faults(soup: BeautifulSoup) -> Iterator[str]:
    for image in soup.find_all("img"):
        alt = str(image.get("alt", "")).strip()
        if not alt:
            yield f"an image without alt text: {image.get('src')}"
        elif _FILE_NAME.fullmatch(alt):
            yield f"a file's name for alt text: {alt}"
        if image.find_parent("article") and not _caption(image):
            yield f"a figure without a caption: {image.get('src')}"


def _caption(image: Tag) -> str:
    figure = image.find_parent("figure")
    caption = figure.find("figcaption") if figure else None
    words = caption.select_one(".caption-text") if caption else None
    return words.get_text(strip=True) if words else ""
