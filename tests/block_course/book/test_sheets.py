"""One stylesheet of several: nothing that a page uses is lost, nothing else is kept."""

from pathlib import Path

import pytest

from block_course.book.sheets import merged, names_in_page, used


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".note{color:red}", True),
        (".never{color:red}", False),
        ("div.note > #top a:hover{color:red}", True),
        ("div.note > #never a:hover{color:red}", False),
        (".note .never::before{color:red}", False),
        ("p,pre>code{color:red}", True),
        (".note:not(.never){color:red}", True),
        (":is(.never,.note) p{color:red}", True),
        ("[class*=never]{color:red}", True),
    ],
)
def test_a_rule_stays_if_something_can_match_it(css: str, kept: bool) -> None:
    assert used(css, {"note", "top"}).strip() == (css if kept else "")


def test_of_a_list_of_selectors_those_that_match_stay() -> None:
    assert used(".a,.never>.a,b:is(.x,.y){margin:0}", {"a"}) == ".a,b:is(.x,.y){margin:0}\n"


def test_a_group_of_rules_stays_with_what_is_in_it() -> None:
    css = "@media print{.note{color:red}.never{top:0}}@media screen{.never{top:0}}@font-face{src:url(a.woff)}"

    assert used(css, {"note"}) == "@media print{.note{color:red}\n}\n@font-face{src:url(a.woff)}\n"


def test_comments_go_and_strings_stay() -> None:
    css = '/* .a */ .a::before { content: "/* {} */ \\201C"; /* gone */ color: red }'

    assert used(css, {"a"}) == '.a::before{content: "/* {} */ “";  color: red}\n'


def test_a_stylesheet_that_does_not_parse_is_refused() -> None:
    with pytest.raises(ValueError, match="does not parse: line 2"):
        used("p{top:0}\n}", set())


def test_names_come_from_elements_and_from_scripts() -> None:
    page = "<p class=\"one two\" id='three'>four</p><script>x.classList.add('five-six')</script>"

    assert {"one", "two", "three", "five-six"} <= names_in_page(page)
    assert "four" not in names_in_page(page)


def test_sheets_follow_one_another_with_their_imports_and_addresses(tmp_path: Path) -> None:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "theme.css").write_text('@charset "UTF-8";@import "../basic.css";a{top:0}')
    (tmp_path / "styles" / "more.css").write_text("b{background:url(../images/x.svg?v=1#i)}")
    (tmp_path / "basic.css").write_text("i{background:url('file.png')} u{background:url(data:x,y)}")

    sheet = merged([tmp_path / "styles" / "theme.css", tmp_path / "styles" / "more.css"], tmp_path)

    assert sheet == (
        'i{background:url("file.png")} u{background:url(data:x,y)}a{top:0}\n'
        'b{background:url("images/x.svg?v=1#i")}'
    )
