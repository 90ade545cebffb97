import pytest

from block_course.grading.neutral import lines, one_line, spreadsheet, storable


def test_one_line_spells_out_what_can_not_be_seen() -> None:
    assert one_line("a\x1b[31mb\u202ec\x00 é 中\u00a0!\n\n d") == "a\\x1b[31mb\\u202ec\\x00 é 中 ! d"


def test_one_line_is_cut_at_its_limit() -> None:
    assert one_line("x" * 400) == "x" * 299 + "…"
    assert one_line("x" * 300) == "x" * 300
    assert one_line("\x1b" * 100, limit=10) == "\\x1b\\x1b\\…"


def test_lines_keep_their_ends() -> None:
    assert lines("a\r\nb\n\tc\x07\u2028d\u00a0e") == "a\nb\n        c\\x07\\u2028d e"
    assert lines("x" * 20, limit=5) == "xxxx…"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r=", "＝"])
def test_a_formula_is_a_text_in_a_spreadsheet(sign: str) -> None:
    assert spreadsheet(f"{sign}HYPERLINK(1)").startswith("'")


def test_a_plain_name_is_left_alone_in_a_spreadsheet() -> None:
    assert spreadsheet("O'Neil, Ann") == "O'Neil, Ann"


def test_a_name_that_is_no_text_is_spelled_out() -> None:
    assert storable("Zo\u00eb") == "Zo\u00eb"
    assert storable("a\udcff") == "a\\udcff"
