"""The part "Solutions", each answer behind a click, or none for a course that grades; exercises to download.

`solutions_shown: false` in _config.yml leaves the pages below solutions/ out of the book and its contents.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

FOLDER = "solutions/"
_PROMPTS = {"code_prompt_show": "Show a solution", "code_prompt_hide": "Hide it"}
_TITLE = re.compile(r"^(# .*): the exercises?$", re.MULTILINE)
_LINK = re.compile(r'\[([^\[\]"\n]+)\]\((\.\./exercises/\w+\.ipynb)\)')
_MARKER = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


def without_solutions(toc: dict[str, Any]) -> dict[str, Any]:
    """A table of contents without the pages of solutions, and without parts that held nothing else."""
    parts = [
        {**part, "chapters": [each for each in part["chapters"] if not _is_solution(each)]}
        for part in toc.get("parts", [])
    ]
    return {**toc, "parts": [part for part in parts if part["chapters"]]}


def folded(source: str) -> str:
    """A solution notebook as its page shows it: so titled, answers folded, without the marks of release."""
    notebook = json.loads(source)
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text = _TITLE.sub(r"\1: solutions", text, count=1)
        elif _MARKER.search(text):
            text = _MARKER.sub("", text).rstrip("\n")
            cell["metadata"].setdefault("tags", []).append("hide-input")
            cell["metadata"]["mystnb"] = _PROMPTS
        cell["source"] = text
    return json.dumps(notebook)


def with_downloads(source: str) -> str:
    """A page whose links to exercise notebooks, which are no pages, hand out the files."""
    return _LINK.sub(r"{download}`\1 <\2>`", source)


def _is_solution(entry: dict[str, Any]) -> bool:
    return str(entry.get("file", "")).startswith(FOLDER)


def _leave_out(app: Sphinx, config: Config) -> None:
    """Before the contents are read: put a shorter table in the place of the one that names solutions."""
    if config.solutions_shown:
        return
    toc = yaml.safe_load(Path(app.srcdir, config.external_toc_path).read_text(encoding="utf-8"))
    shorter = Path(app.doctreedir, "toc_without_solutions.yml")
    shorter.parent.mkdir(parents=True, exist_ok=True)
    shorter.write_text(yaml.safe_dump(without_solutions(toc), allow_unicode=True), encoding="utf-8")
    config.external_toc_path = str(shorter)


def _prepare(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = folded(source[0]) if docname.startswith(FOLDER) else with_downloads(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the switch, and what is done to a solution's page."""
    app.add_config_value("solutions_shown", True, "env", [bool])
    app.connect("config-inited", _leave_out, priority=850)  # the contents are read at 900
    app.connect("source-read", _prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
