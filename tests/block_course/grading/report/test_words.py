from typing import get_args

from block_course.grading.report.words import SENTENCES, explained, is_full, number
from block_course.grading.result import VERDICTS, Mark
from block_course.verdict import VerdictStatus
from tests.block_course.grading.graded import mark


def test_every_verdict_has_a_sentence_for_the_learner() -> None:
    assert set(SENTENCES) == set(VERDICTS) >= set(get_args(VerdictStatus))


def test_a_learner_is_told_the_verdict_the_reason_the_misconception_and_each_property() -> None:
    assert explained(mark(diagnosis="ddof=1", why="a call raised ValueError")) == [
        "It ran, but not every property holds.",
        "Why: a call raised ValueError",
        "Your answer is what this misconception gives: ddof=1",
        "fails: the values (0 of 2)",
    ]


def test_a_person_s_points_and_words_come_last() -> None:
    marked: Mark = {**mark(points=3.0), "automatic": 1.5, "comment": "well\nseen"}

    assert explained(marked)[-4:] == [
        "The points were set by a person; the grader found 1.5.",
        "Comment:",
        "well",
        "seen",
    ]


def test_points_that_are_not_known_are_neither_zero_nor_full() -> None:
    assert (number(None), number(0.0), number(2.5)) == ("—", "0", "2.5")
    assert [is_full(mark(points=points)) for points in (None, 2.5, 3.0)] == [False, False, True]
