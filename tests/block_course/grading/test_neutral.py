import html
import json

import pytest

from block_course.grading.neutral import (
    as_json,
    file_name,
    lines,
    markdown,
    markup,
    one_line,
    spreadsheet,
    storable,
    student_id,
    terminal,
)


def test_one_line_spells_out_what_can_not_be_seen() -> None:
    assert one_line("a\x1b[31mb\u202ec\x00 é 中\u00a0!\n\n d") == "a\\x1b[31mb\\u202ec\\x00 é 中 ! d"


def test_one_line_is_cut_at_its_limit() -> None:
    assert one_line("x" * 400) == "x" * 299 + "…"
    assert one_line("x" * 300) == "x" * 300
    assert one_line("\x1b" * 100, limit=10) == "\\x1b\\x1b\\…"


def test_lines_keep_their_ends() -> None:
    assert lines("a\r\nb\n\tc\x07\u2028d\u00a0e") == "a\nb\n        c\\x07\\u2028d e"
    assert lines("x" * 20, limit=5) == "xxxx…"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r=", "＝", '"=', "'=", "x;=", 'x ; "=', "x,@"])
def test_a_formula_is_a_text_in_a_spreadsheet(sign: str) -> None:
    plain = spreadsheet(f"{sign}HYPERLINK(1)")

    assert "'" in plain[: plain.index("HYPERLINK")]
    assert not plain.startswith(tuple("=+-@＝"))


def test_a_plain_name_is_left_alone_in_a_spreadsheet() -> None:
    assert spreadsheet("O'Neil, Ann-Lee; a=b") == "O'Neil, Ann-Lee; a=b"


def test_a_name_that_is_no_text_is_spelled_out() -> None:
    assert storable("Zo\u00eb") == "Zo\u00eb"
    assert storable("a\udcff") == "a\\udcff"


@pytest.mark.parametrize("text", ["::error::x", "a ::b", ":::", "##[x]", "###[x]", "##vso[x]", "####"])
def test_a_command_to_a_ci_service_is_broken(text: str) -> None:
    for plain in (terminal(text), markup(text), markdown(text), as_json(text), spreadsheet(text)):
        assert "##" not in plain
    for plain in (terminal(text), markup(text), markdown(text)):
        assert "::" not in plain


def test_markup_shows_the_text_and_holds_no_element() -> None:
    text = "<img src=x onerror='a()'> &amp; \"q\" ::x ##y"

    assert html.unescape(markup(text)) == text
    assert not set("<>\"'") & set(markup(text))


def test_markdown_is_one_span_of_code() -> None:
    assert markdown("![x](http://e) @ann | `b` \\") == "`![x](http://e) @ann \\x7c \\x60b\\x60 \\`"
    assert markdown(" ") == ""


def test_json_says_the_same() -> None:
    value = {"##[a]": ["::", "\u202e", None, 1.5]}

    assert json.loads(as_json(value, indent=1)) == value
    assert as_json(value).isascii()


@pytest.mark.parametrize("name", ["ann", "a.b-c_d", "a", "x" * 64])
def test_a_plain_name_is_a_file_s_name(name: str) -> None:
    assert file_name(name) == name


STRANGE = [
    *(
        "",
        ".",
        "..",
        "/",
        "a/b",
        "a\\b",
        ".a",
        "a.",
        "-a",
        "a b",
        "con",
        "nul.txt",
        "lpt1",
        "x" * 65,
        "a" * 300,
    ),
    *(
        "Ann",
        "ANN",
        "Zoe",
        "zo\u00eb",
        "zoe\u0308",
        "\u202eann",
        "ann\n",
        "a\x00",
        "\ud800",
        "中文",
        "\u212a",
    ),
]


def test_other_names_get_one_that_is_theirs_alone_on_any_system() -> None:
    names = [file_name(each) for each in STRANGE]
    names += [file_name(each) for each in names] + ["ann", "zoe"]

    assert len({name.casefold() for name in names}) == len(names)
    assert all(name.isascii() and name == name.lower() and len(name) <= 64 for name in names)
    assert not any(set(name) & set('/\\:*?"<>|') or name.startswith((".", "-")) for name in names)


@pytest.mark.parametrize("name", ["ann", "Ann Lee", "ann@example.org", "A.B-c_1", "a" * 64])
def test_a_plain_name_of_a_student_stays_as_nbgrader_has_it(name: str) -> None:
    assert student_id(name) == name


def test_another_students_name_is_one_folder_and_nobody_elses() -> None:
    names = [student_id(each) for each in [*STRANGE, "Ann Lee ", "ann-0123456789abcdef"]]

    assert len(set(names)) == len(names)
    assert not any("/" in name or name.startswith((".", " ")) or name.endswith((".", " ")) for name in names)
