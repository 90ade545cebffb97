"""IPython's own syntax, taken out of a cell: while grading, `%`, `!` and `?` lines do nothing.

IPython's transformer is not used: it reads the whole cell again for each magic, so that a hostile cell of a
few hundred kilobytes keeps it busy for minutes. This reads a cell once. It knows strings, comments, brackets
and continued lines, since a `%` that begins a line inside them is Python's; a cell that is valid Python comes
back as it was.
"""

from __future__ import annotations

import re

RUN_THEIR_BODY = frozenset({"time", "capture", "prun"})
"""Cell magics whose body defines names in the notebook; the body of all others is not run."""

_MAX_STACKED = 4
_CELL_MAGIC = re.compile(r"(?:[ \t]*\n)*[ \t]*%%(\w*)[^\n]*")
_FIRST_INDENT = re.compile(r"(?:[ \t]*\n)*([ \t]+)[^\s#]")
_TIMED = r"(?P<timed>%time[ \t]+(?=\S))"
_FIRST_PROMPT = re.compile(r"(?:[ \t]*\n)*(?:>>>|In \[\d+\]:)(?: |$)", re.MULTILINE)
_PROMPT = re.compile(r"^(?:>>>|\.\.\.|In \[\d+\]:|[ ]*\.{3,}:)(?: |$)", re.MULTILINE)
_LINE_MAGIC = re.compile(rf"(?P<before>[ \t]*)(?:{_TIMED}|(?P<sign>[%!?]))")
_KEY = r"""\"[^"\\\n=]*\"|'[^'\\\n=]*'"""
_TARGETS = rf"[ \t]*[\w.,*\[\]](?:[\w.,*\[\] \t]|{_KEY})*=[ \t]*"
_ASSIGNED = re.compile(rf"(?P<before>{_TARGETS})(?:{_TIMED}|(?P<sign>[%!])(?!=))")
_REST_OF_LINE = re.compile(r"(?:[^\\\n]|\\\n|\\)*")
_TOKEN = re.compile(
    r"""
      (?P<text>  \"{3}(?:\\.|\\\Z|[^\\])*?(?:\"{3}|\Z) | '{3}(?:\\.|\\\Z|[^\\])*?(?:'{3}|\Z)
               | "(?:\\.|\\\Z|[^"\\\n])*"? | '(?:\\.|\\\Z|[^'\\\n])*'? )
    | (?P<comment> \#[^\n]* )
    | (?P<joined> \\\n )
    | (?P<newline> \n )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<space> [ \t\f]+ )
    | (?P<help> \? )
    | (?P<other> [^\\\n"'\#()\[\]{}? \t\f]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)


def without_magics(source: str) -> str:
    """The cell as plain Python with as many lines, each magic, shell or help line turned into `pass`.

    `%time STATEMENT` leaves the statement. An assigned magic gives None, an assigned shell line []. A cell
    magic leaves its body if IPython would run that in the notebook (`%%time`), and nothing otherwise.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    for _ in range(_MAX_STACKED):
        magic = _CELL_MAGIC.match(source)
        if magic is None:
            break
        if magic[1] not in RUN_THEIR_BODY:
            return ""
        source = "\n" * magic[0].count("\n") + source[magic.end() :]
    if _FIRST_PROMPT.match(source):  # a session that was copied from somewhere
        source = _PROMPT.sub("", source)
    source = _unindented(source)
    if not any(sign in source for sign in "%!?"):
        return source
    parts, position = [], 0
    while position < len(source):
        statement, position = _next_statement(source, position)
        parts.append(statement)
    return "".join(parts)


def _unindented(source: str) -> str:
    """The cell without the indentation of its first line, as IPython runs a pasted fragment."""
    first = _FIRST_INDENT.match(source)
    if first is None:
        return source
    return "\n".join(line.removeprefix(first[1]) for line in source.split("\n"))


def _next_statement(source: str, start: int) -> tuple[str, int]:
    magic = _LINE_MAGIC.match(source, start) or _ASSIGNED.match(source, start)
    if magic is not None:
        rest = _REST_OF_LINE.match(source, magic.end())
        assert rest is not None  # the pattern matches the empty text
        return magic["before"] + _instead(magic, rest[0]), rest.end()
    end, asks_for_help = _end_of_statement(source, start)
    statement = source[start:end]
    if asks_for_help:
        indent = statement[: len(statement) - len(statement.lstrip(" \t"))]
        statement = f"{indent}pass{_newlines(statement)}"
    return statement, end


def _instead(magic: re.Match[str], rest: str) -> str:
    if magic["timed"]:
        return rest
    if magic.re is _LINE_MAGIC:
        return "pass" + _newlines(rest)
    return ("[]" if magic["sign"] == "!" else "None") + _newlines(rest)


def _newlines(text: str) -> str:
    """As many line ends as `text` has, so that the lines of an error keep their numbers."""
    return "\n" * text.count("\n")


def _end_of_statement(source: str, start: int) -> tuple[int, bool]:
    """Where the logical line from `start` ends, and whether a `?` ends it."""
    depth, help_last, position = 0, False, start
    while position < len(source):
        token = _TOKEN.match(source, position)
        assert token is not None  # the last branch matches any character
        position, kind = token.end(), token.lastgroup
        if kind == "newline" and depth == 0:
            break
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        if kind not in ("space", "comment", "newline", "joined"):
            help_last = kind == "help"
    return position, help_last
