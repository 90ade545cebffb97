"""Texts that act somewhere, and results that hold them wherever a learner's or a person's words may stand."""

from collections.abc import Callable
from typing import Any

from hypothesis import example
from hypothesis import strategies as st

from block_course.grading.result import Result
from tests.block_course.grading.graded import mark, result

PIECES = (
    *(
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</pre></blockquote>",
        "<!--",
        "]]>",
        "&lt;",
    ),
    *(
        "javascript:alert(1)",
        '" onload="x',
        "' style='x",
        "<svg/onload=x>",
        "</title>",
        "</style>",
        "<base href=x>",
    ),
    *(
        "=1+1",
        "+1",
        "-1",
        "@SUM(1)",
        "＝1",
        ";=1",
        '";=1',
        ",=1",
        "\t=1",
        "\r\n=1",
        "|",
        "\\|",
        "\\",
        '"',
        "'",
    ),
    *("\x1b[31m", "\x1b]0;x\x07", "\x9b31m", "\x00", "\x08", "\x7f", "\ufffe", "\uffff", "\u0085", "\ud800"),
    *("\n::error::x", "::set-env name=A::b", "##[add-mask]x", "##vso[task]", "\r::stop-commands::x"),
    *(
        "![x](http://e/x.png)",
        "[x](javascript:y)",
        "http://e.example",
        "www.e.example",
        "@ann",
        "#1",
        "`",
        "``",
    ),
    *(
        "\n# x",
        "\n| a | b |",
        "\n---\n",
        "$$x$$",
        "**b**",
        "~~~",
        "<details>",
        "[red]x[/]",
        "[link=http://e]x[/]",
    ),
    *("\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\ufeff", "\u2028", "\u2029", "\U000e0041"),
    *("..", "/", "../../x", "\\..\\", "con", "A", "a", "e\u0301", "\u00e9", "中", " ", "\n", "\r"),
)
HOSTILE = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=5).map("".join)


def submission(text: str) -> Result:
    """A result that has the text wherever a learner's text, or a person's, may stand."""
    name = text.encode("utf-8", "backslashreplace").decode()
    marked = mark(verdict="error", title=text, why=text, diagnosis=text)
    marked["comment"] = name
    marked["feedback"][0]["property"] = text
    own = {"file": name, "notes": [text, text], "printed": text, "comment": name}
    return {**result(name, marks=(marked,)), **own}  # type: ignore[typeddict-item]


def about(text: str) -> dict[str, Any]:
    return {"roster": {"00_tiny": {"missing": [text], "unknown": [text]}}}


def every_piece(test: Callable[..., None]) -> Callable[..., None]:
    """Besides what is drawn, all pieces: a few at a time, because a long text is cut."""
    for start in range(0, len(PIECES), 9):
        test = example(text="".join(PIECES[start : start + 9]))(test)
    return test
