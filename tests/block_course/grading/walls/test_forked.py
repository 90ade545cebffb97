import os

import pytest

from block_course.grading.walls.forked import forked, reason


def test_what_a_function_gives_comes_back() -> None:
    assert forked(lambda: {"a": [1, "é"]}) == {"a": [1, "é"]}


def test_it_runs_in_another_process() -> None:
    assert forked(os.getpid) != os.getpid()


@pytest.mark.parametrize(
    ("error", "words"), [(ValueError("a reason"), "a reason"), (KeyboardInterrupt(), "KeyboardInterrupt")]
)
def test_what_it_raises_comes_back_in_words(error: BaseException, words: str) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(OSError, match=words):
        forked(fail)
    assert reason(fail) == words


def test_a_process_that_ends_is_told() -> None:
    assert reason(lambda: os._exit(3)) == "the process ended"


def test_a_function_that_does_not_fail_has_no_reason() -> None:
    assert reason(os.getpid) == ""
