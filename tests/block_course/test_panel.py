import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from block_course.checks.layer_norm.forward import EXERCISE as LAYER_NORM
from block_course.exercise import Observation
from block_course.panel import Row, points_of, render, render_problem, render_progress
from block_course.verdict import judge
from tests.block_course.doubling import EXERCISE, drawn, returned, run_of, run_with


class Outline(HTMLParser):
    """The elements of a page, and its text without tags; fails on an element that is not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


def panel(answer):
    return Outline(render(EXERCISE, judge(EXERCISE, run_of(answer))))


def test_a_panel_is_a_table_with_caption_and_headers():
    outline = panel(lambda x: x)

    assert [attrs.get("scope") for tag, attrs in outline.elements if tag == "th"] == ["col"] * 3 + ["row"] * 2
    assert outline.count("caption") == 1
    assert outline.elements[0] == (
        "section",
        {
            "class": "block-course-panel tex2jax_ignore mathjax_ignore",
            "aria-label": "Double: 0 of 2.5 points",
        },
    )


def test_a_panel_reads_without_color():
    page = render(EXERCISE, judge(EXERCISE, run_of(lambda x: x)))
    text = Outline(page).text

    assert "fails. On regular: not doubled." in text
    assert "not counted yet" in text
    assert "0 of 0.5" in text
    assert "#" not in page
    assert "rgb" not in page


def test_the_misconception_stands_before_the_table():
    page = render(EXERCISE, judge(EXERCISE, run_of(np.square)))

    assert 0 < page.index("Squared.") < page.index("<table")


def test_hints_are_asked_for_one_at_a_time():
    outline = panel(lambda x: x)
    nested = [tag for tag, _ in outline.elements if tag in ("details", "summary")]

    assert nested == ["details", "summary"] * 3
    assert "Hint 1: where to look look Hint 2" in " ".join(" ".join(outline.words).split())


def test_the_line_in_words_is_for_one_who_has_tried():
    def raising(x):
        return x / None

    for tried in (lambda x: x, raising, lambda x: x.sort()):
        assert "Hint 3: the line in words" in panel(tried).text


def test_hints_fit_the_first_property_that_fails_if_it_has_its_own():
    doubled, large = EXERCISE.properties
    exercise = replace(EXERCISE, properties=(doubled, replace(large, hints=("high", "higher", "highest"))))

    of_large = render(exercise, judge(exercise, run_of(lambda x: 2 * x if x.max() < 9 else x)))
    of_both = render(exercise, judge(exercise, run_of(lambda x: x)))

    assert "<p>highest</p>" in of_large
    assert "<p>2 x</p>" not in of_large
    assert "<p>2 x</p>" in of_both


def test_an_error_is_told_with_its_line_its_call_and_advice():
    def answer(x):
        return x + None

    text = panel(answer).text

    assert "Your function raised TypeError: unsupported operand" in text
    assert re.search(r" in line \d+, return x \+ None, called with x of shape \(2, 3\)\. Something in", text)


def test_a_name_that_holds_no_function_is_told_so_and_shows_no_exception():
    text = panel((1, 2)).text

    assert "double now names an object of type tuple, not a function; run its cell again." in text
    assert "TypeError" not in text


def test_an_error_without_a_place_is_told_without_one():
    regular, lone, _ = drawn()
    run = run_with(returned(regular), returned(lone), Observation(status="raised", message="Odd: words"))

    assert "Your function raised Odd: words, called with x of shape (2,)." in (
        Outline(render(EXERCISE, judge(EXERCISE, run))).text
    )


def test_the_error_of_a_public_verdict_is_not_told():
    page = render(EXERCISE, judge(EXERCISE, run_of(lambda x: x + None)).public())

    assert "Your function raised" not in page
    assert "shape" not in page


def test_praise_is_the_score():
    outline = panel(lambda x: 2 * x)

    assert outline.text.startswith("Double: 2.5 of 2.5 points")
    assert outline.count("details") == 0
    assert "holds" in outline.text


def test_an_untouched_answer_is_told_what_to_do():
    outline = panel(None)

    assert "Double: not attempted, 0 of 2.5 points" in outline.text
    assert "Write double above, run its cell, then run this one again." in outline.text
    assert "Hint 2" in outline.text
    assert "Hint 3" not in outline.text


def test_a_learners_text_is_escaped_and_said_once():
    def answer(*given):
        raise ValueError('<script>alert("1")</script> & $x$ `code`')

    run = run_of(answer, LAYER_NORM.cases(np.random.default_rng(0)))
    page = render(LAYER_NORM, judge(LAYER_NORM, run))

    assert page.count("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; $x$ `code`") == 1
    assert "your function raised the error above." in page
    assert Outline(page).count("script") == 0


@pytest.mark.parametrize(
    ("ended", "sentence"),
    [
        ("timeout", "Your function took too long and was stopped. after 5 s."),
        ("memory", "Your function asked for more memory than there is. after 5 s."),
        (
            "forbidden",
            "Your function uses something that this exercise asks you to write yourself. after 5 s.",
        ),
    ],
)
def test_a_call_that_was_ended_is_told_why(ended, sentence):
    regular, lone, _ = drawn()
    run = run_with(returned(regular), returned(lone), Observation(status=ended, message="after 5 s"))

    assert sentence in Outline(render(EXERCISE, judge(EXERCISE, run))).text


def test_a_call_that_died_without_a_word_is_shown_in_the_table_alone():
    regular, lone, _ = drawn()
    run = run_with(returned(regular), returned(lone), Observation(status="died"))

    assert "Your function raised" not in render(EXERCISE, judge(EXERCISE, run))


def test_a_public_verdict_shows_the_misconception_without_a_message():
    verdict = judge(EXERCISE, run_of(np.square)).public()

    assert "Squared." in Outline(render(EXERCISE, verdict)).text
    assert "you give" not in render(EXERCISE, verdict)


def test_backticks_in_our_own_sentences_are_code():
    run = run_of(lambda *given: given[0], LAYER_NORM.cases(np.random.default_rng(0)))

    assert "<code>keepdims=True</code>" in render(LAYER_NORM, judge(LAYER_NORM, run))


def test_a_panel_is_the_same_each_time():
    assert render(EXERCISE, judge(EXERCISE, run_of(np.square))) == render(
        EXERCISE, judge(EXERCISE, run_of(np.square))
    )


def test_a_problem_is_told_in_a_panel_of_its_own():
    outline = Outline(render_problem("There is no <b>"))

    assert outline.text == "Nothing was judged. There is no <b>."
    assert "did you mean b?<" in render_problem("There is no a; did you mean b?")


def test_progress_has_a_row_for_each_exercise_and_a_total():
    outline = Outline(render_progress([Row("One <1>", "pass", 2.5, 2.5), Row("Two", "not run", 0.0, 4.0)]))

    assert outline.count("tfoot") == 1
    assert "One <1>pass2.5 of 2.5" in outline.text
    assert "Total2.5 of 6.5" in outline.text


def test_points_read_without_needless_zeros():
    assert points_of(2.0, 6.0) == "2 of 6"
    assert points_of(0.25, 2.5) == "0.25 of 2.5"


def test_a_property_without_points_is_said_to_be_needed():
    first, *others = EXERCISE.properties
    free = replace(EXERCISE, properties=(replace(first, points=0.0), *others))

    html = render(free, judge(free, run_of(lambda x: 2 * x)))

    assert "needed" in html
    assert "0 of 0" not in html
