"""HTML pages for learners, `feedback/<learner>/<assignment>.html`; `feedback.csv` says which is whose."""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.files import written
from block_course.grading.neutral import lines, markup, one_line, spreadsheet
from block_course.grading.report.place import place, written_for
from block_course.grading.report.words import SENTENCES, number
from block_course.grading.result import Mark, Result

FOLDER = "feedback"
INDEX = "feedback.csv"
COLUMNS = ("learner", "assignment", "page")

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
table { border-collapse: collapse; margin: .5rem 0 }
th, td { text-align: left; padding: .25rem 1rem .25rem 0; border-bottom: 1px solid; vertical-align: top }
pre { overflow-x: auto; border: 1px solid; padding: .5rem; white-space: pre-wrap }
blockquote { margin: .5rem 0; padding-left: 1rem; border-left: .25rem solid; white-space: pre-wrap }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
_HEAD = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<style>{_STYLE}</style>
"""


def write(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write a page for each submission: it runs no script and asks for nothing beyond itself.

    The list of whose page is whose lies outside the folder, so that the folder may be put where all read it.
    """
    with written(folder / INDEX) as file:
        index = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        index.writerow(COLUMNS)
        for result in results:
            with written_for(folder / FOLDER, result, ".html") as page:
                page.writelines(f"{line}\n" for line in _page(result))
            where = f"{FOLDER}/{place(result, '.html')}"
            index.writerow([spreadsheet(result["learner"]), spreadsheet(result["assignment"]), where])


def _page(result: Result) -> Iterator[str]:
    plain = markup(one_line(result["assignment"]))  # a title holds no elements
    yield f"{_HEAD}<title>Feedback on {plain}</title>\n</head>\n<body>\n<main>"
    yield f"<h1>Feedback on {_text(result['assignment'])}</h1>"
    yield f"<p>For {_text(result['learner'])}, attempt {result.get('attempt', 1)}.</p>"
    yield f"<p><strong>{number(result['points'])} of {number(result['of'])} points</strong></p>"
    yield from _comment(result.get("comment", ""))
    for mark in result["exercises"]:
        yield from _exercise(mark)
    if result["notes"]:
        yield "<h2>About the notebook</h2>\n<ul>"
        yield from (f"<li>{_text(note)}</li>" for note in result["notes"])
        yield "</ul>"
    if result["printed"]:
        yield "<h2>What your notebook printed</h2>"
        yield f"<pre>{markup(lines(result['printed']))}</pre>"
    yield "</main>\n</body>\n</html>"


def _exercise(mark: Mark) -> Iterator[str]:
    yield f"<section>\n<h2>{_text(mark['title'])}</h2>"
    yield f"<p>{number(mark['points'])} of {number(mark['of'])} points ({_text(mark['id'])}).</p>"
    yield f"<p>{_text(SENTENCES.get(mark['verdict'], mark['verdict']))}</p>"
    if mark["why"]:
        yield f"<p>Why: {_text(mark['why'])}</p>"
    if mark["diagnosis"]:
        yield f"<p>Your answer is what this misconception gives: {_text(mark['diagnosis'])}</p>"
    if mark["feedback"]:
        yield '<table>\n<tr><th scope="col">property<th scope="col">outcome<th scope="col">points</tr>'
        for each in mark["feedback"]:
            points = f"{number(each['points'])} of {number(each['of'])}"
            yield f"<tr><td>{_text(each['property'])}<td>{_text(each['outcome'])}<td>{points}</tr>"
        yield "</table>"
    if "automatic" in mark:
        yield f"<p>A person set these points; the grader found {number(mark['automatic'])}.</p>"
    yield from _comment(mark.get("comment", ""))
    yield "</section>"


def _comment(text: str) -> Iterator[str]:
    if text:
        yield f"<blockquote><bdi>{markup(lines(text))}</bdi></blockquote>"


def _text(text: str) -> str:
    """A text in the page, its direction of writing kept from its neighbors."""
    return f"<bdi>{markup(one_line(text))}</bdi>"
