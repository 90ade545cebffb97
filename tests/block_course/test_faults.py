import linecache

import pytest

from block_course.faults import LONGEST_LINE, LONGEST_MESSAGE, fault, is_stub, is_untouched

CELL = "<cell 1>"


def defined(source, name):
    """A function as a notebook's cell defines it: its lines count from the top of the cell."""
    linecache.cache[CELL] = (len(source), None, source.splitlines(keepends=True), CELL)
    namespace = {"__name__": "__main__"}
    exec(compile(source, CELL, "exec"), namespace)
    return namespace[name]


def raised_by(call):
    try:
        call()
    except BaseException as exception:
        exception.__traceback__ = (
            exception.__traceback__.tb_next
        )  # as in a notebook, the test is no frame of it
        return fault(exception)
    raise AssertionError("it raised nothing")


def test_a_fault_is_told_with_its_line_and_what_stands_there():
    answer = defined("def answer():\n    mean = 3\n    variance = mean / 0\n    return variance", "answer")

    assert raised_by(answer) == (
        "raised",
        "ZeroDivisionError: division by zero",
        "line 3, `variance = mean / 0`",
    )


def test_a_fault_in_another_function_is_told_with_its_name():
    source = "def helper(x):\n    return x / 0\ndef answer():\n    return helper(1)"

    assert raised_by(defined(source, "answer"))[2] == "line 2 of `helper`, `return x / 0`"


def test_a_fault_inside_a_library_is_told_by_the_line_that_called_it():
    source = "import json\ndef answer():\n    return json.loads('{')"

    assert raised_by(defined(source, "answer"))[2] == "line 3, `return json.loads('{')`"


def test_a_long_line_is_cut_and_its_backticks_do_not_end_the_code():
    source = f"def answer():\n    return 1 / 0, '`{'x' * 200}'"

    place = raised_by(defined(source, "answer"))[2]

    assert place.startswith("line 2, `return 1 / 0, ''xxx")
    assert place.endswith("…`")
    assert len(place) <= LONGEST_LINE + len("line 2, ``")


def test_a_line_that_nobody_kept_is_told_by_its_number():
    answer = defined("def answer():\n    return 1 / 0", "answer")
    del linecache.cache[CELL]

    assert raised_by(answer)[2] == "line 2"


def test_a_fault_of_the_call_itself_has_no_place():
    answer = defined("def answer(x):\n    return x", "answer")

    assert raised_by(answer)[2] == ""


def test_an_untouched_stub_is_not_attempted():
    answer = defined("def answer():\n    # YOUR CODE HERE\n    raise NotImplementedError()", "answer")

    assert raised_by(answer) == ("not attempted", "", "")


def test_a_stub_that_the_answer_calls_is_named():
    source = "def other():\n    raise NotImplementedError()\ndef answer():\n    return other()"

    assert raised_by(defined(source, "answer"))[:2] == (
        "raised",
        "NotImplementedError: other is not written yet",
    )


def test_a_raise_that_was_left_below_the_answer_is_told_as_left_over():
    source = "def answer():\n    y = max(1, 2)\n    raise NotImplementedError()\n    return y"

    assert raised_by(defined(source, "answer")) == (
        "raised",
        "NotImplementedError: left over from the empty cell",
        "line 3, `raise NotImplementedError()`",
    )


def test_a_not_implemented_error_with_words_is_an_error_like_others():
    source = "def answer():\n    raise NotImplementedError('no such kernel')"

    assert raised_by(defined(source, "answer"))[:2] == ("raised", "NotImplementedError: no such kernel")


def test_a_not_implemented_error_without_a_frame_is_not_attempted():
    assert fault(NotImplementedError()) == ("not attempted", "", "")


def test_running_out_of_memory_has_a_status_of_its_own():
    assert fault(MemoryError("12 GB"))[:2] == ("memory", "MemoryError: 12 GB")


def test_an_exception_that_cannot_be_printed_is_named_as_such():
    class Hostile(BaseException):
        def __str__(self):
            raise SystemExit

    assert fault(Hostile()) == ("raised", "an exception that cannot be printed", "")


def test_a_message_is_one_printable_line_of_bounded_length():
    message = fault(ValueError("a\n\tb\x1b[31m" + "c" * 10_000))[1]

    assert message.startswith("ValueError: a b\N{REPLACEMENT CHARACTER}[31mccc")
    assert len(message) == LONGEST_MESSAGE
    assert message.endswith("…")


@pytest.mark.parametrize("body", ["...", "pass", "return", "raise NotImplementedError", "'words'\n    ..."])
def test_a_body_that_does_nothing_is_a_stub(body):
    assert is_stub(defined(f"def answer(x):\n    {body}", "answer").__code__)


@pytest.mark.parametrize("body", ["return x", "x.mean()", "raise ValueError", "y = 1", "print"])
def test_a_body_that_does_something_is_none(body):
    assert not is_stub(defined(f"def answer(x):\n    {body}", "answer").__code__)


def test_an_object_is_untouched_if_what_it_is_called_by_is_a_stub():
    class Stub:
        def forward(self, x): ...

        def __call__(self, x):
            return self.forward(x)

    class Written(Stub):
        def forward(self, x):
            return x

    assert is_untouched(Stub())
    assert not is_untouched(Written())
    assert not is_untouched(max)
