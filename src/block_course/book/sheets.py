"""Stylesheets made one, without what no page uses, so that a phone reads a tenth of it before it draws."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import tinycss2  # type: ignore[import-untyped]

_IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"']+)["']\)?\s*;""")
_URL = re.compile(r"""url\(\s*(["']?)(?!data:|https?:|#)([^)"']+)\1\s*\)""")
_CLASSES_AND_IDS = re.compile(r"""\s(?:class|id)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_WORDS = re.compile(r"[A-Za-z_][\w-]*")
_GROUPS = {"media", "supports", "layer", "container"}


def merged(sheets: list[Path], folder: Path) -> str:
    """One stylesheet of several, in order, as if it lay in `folder`: imports put in, addresses turned."""
    return "\n".join(_whole(sheet, folder) for sheet in sheets)


def _whole(sheet: Path, folder: Path) -> str:
    text = sheet.read_text(encoding="utf-8").removeprefix("\ufeff").removeprefix('@charset "UTF-8";')

    def moved(url: re.Match[str]) -> str:
        parts = urlsplit(url[2])
        place = (sheet.parent / parts.path).resolve().as_posix()
        path = posixpath.relpath(place, folder.resolve().as_posix())
        return f'url("{urlunsplit(parts._replace(path=path))}")'

    def put_in(name: re.Match[str]) -> str:
        return _whole((sheet.parent / name[1]).resolve(), folder)

    *imports, own = re.split(r"(@import[^;]*;)", text)
    return "".join(_IMPORT.sub(put_in, each) for each in imports) + _URL.sub(moved, own)


def names_in_page(page: str) -> set[str]:
    """Every class and id that a page's elements have, and every word of its scripts, which may set more."""
    names = {name for found in _CLASSES_AND_IDS.findall(page) for name in "".join(found).split()}
    for script in re.findall(r"<script\b[^>]*>(.*?)</script>", page, re.DOTALL):
        names |= words(script)
    return names


def words(script: str) -> set[str]:
    """What a script could use as a class or an id."""
    return set(_WORDS.findall(script))


def used(css: str, names: Collection[str]) -> str:
    """A stylesheet without comments, and without selectors that ask for a class or an id that nothing has."""
    return "".join(_kept(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), names))


def _kept(rules: list[Any], names: Collection[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "error":
            raise ValueError(f"a stylesheet does not parse: line {rule.source_line}: {rule.message}")
        if rule.type == "qualified-rule":
            selectors = [each for each in _selectors(rule.prelude) if _asks_for(each) <= set(names)]
            if selectors:
                prelude = ",".join(tinycss2.serialize(each).strip() for each in selectors)
                yield f"{prelude}{{{_declarations(rule.content)}}}\n"
        elif rule.type == "at-rule" and rule.lower_at_keyword in _GROUPS and rule.content is not None:
            inside = "".join(_kept(_inner(rule.content), names))
            if inside:
                yield f"@{rule.at_keyword} {tinycss2.serialize(rule.prelude).strip()}{{{inside}}}\n"
        else:
            yield rule.serialize() + "\n"


def _inner(content: list[Any]) -> list[Any]:
    parsed: list[Any] = tinycss2.parse_rule_list(content, skip_comments=True, skip_whitespace=True)
    return parsed


def _selectors(prelude: list[Any]) -> Iterator[list[Any]]:
    """The selectors of a list; commas in brackets belong to one."""
    selector: list[Any] = []
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            yield selector
            selector = []
        elif token.type != "comment":
            selector.append(token)
    yield selector


def _asks_for(selector: list[Any]) -> set[str]:
    """Classes and ids without which a selector meets nothing; in :is(), :not() … they may be missing."""
    classes = {
        token.value
        for dot, token in pairwise(selector)
        if dot.type == "literal" and dot.value == "." and token.type == "ident"
    }
    return classes | {token.value for token in selector if token.type == "hash"}


def _declarations(content: list[Any]) -> str:
    text: str = tinycss2.serialize([token for token in content if token.type != "comment"])
    return re.sub(r"\s*\n\s*", "", text).strip()
