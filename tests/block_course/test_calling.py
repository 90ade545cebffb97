import functools
import re

import numpy as np
import pytest

from block_course.calling import observe
from block_course.exercise import Case
from block_course.plain import refusal


def case(**arguments):
    return Case(name="a case", arguments=arguments or {"x": np.arange(6.0).reshape(2, 3)})


def returning(value):
    return observe(lambda x: value, case())


def test_an_array_comes_back_as_it_is():
    observed = observe(lambda x: 2 * x, case())

    assert observed.status == "returned"
    assert observed.kinds == ("numpy.ndarray",)
    np.testing.assert_array_equal(observed.outputs[0], [[0, 2, 4], [6, 8, 10]])


def test_a_tuple_or_list_is_several_outputs():
    for together in ((1.5, np.float32(2.5)), [1.5, np.float32(2.5)]):
        observed = returning(together)

        assert observed.kinds == ("float", "numpy.float32")
        assert [float(each) for each in observed.outputs] == [1.5, 2.5]


def test_arguments_go_in_by_position_so_that_names_are_free():
    observed = observe(lambda tokens, epsilon=1.0: tokens * epsilon, case(x=np.ones(2), eps=3.0))

    np.testing.assert_array_equal(observed.outputs[0], [3.0, 3.0])


def test_a_keyword_only_parameter_gets_its_argument_by_name():
    def answer(x, *, eps, **rest):
        return x * eps

    observed = observe(answer, case(eps=3.0, x=np.ones(2)))

    np.testing.assert_array_equal(observed.outputs[0], [3.0, 3.0])


@pytest.mark.parametrize("answer", [np.negative, functools.partial(np.multiply, -1.0), max])
def test_what_has_no_python_signature_can_be_called(answer):
    observed = observe(answer, case(x=np.array(2.0)) if answer is not max else case(x=np.array([-2.0])))

    assert [float(each) for each in observed.outputs] == [-2.0]


def test_an_answer_gets_copies_and_what_it_did_to_them_is_told():
    given = case(x=np.ones((2, 3)), mask=np.array([True, False]))

    def answer(x, mask):
        x += 1
        mask[:] = True
        x.shape = (6,)
        return x

    observed = observe(answer, given)

    np.testing.assert_array_equal(given.arguments["x"], np.ones((2, 3)))
    np.testing.assert_array_equal(observed.arguments_after["x"], np.full((2, 3), 2.0))
    assert observed.arguments_after["mask"].tolist() == [True, True]
    assert observed.outputs[0].shape == (6,)


def test_an_output_is_a_copy_and_not_a_view_of_the_learners_array():
    kept = np.zeros(3)
    observed = returning(kept)

    kept += 1

    np.testing.assert_array_equal(observed.outputs[0], np.zeros(3))


def test_none_is_an_output_like_others_and_refused():
    observed = returning(None)

    assert observed.status == "returned"
    assert [refusal(kind) for kind in observed.kinds] == ["None"]
    assert [refusal(kind) for kind in returning((None, ...)).kinds] == ["None", "Ellipsis"]


@pytest.mark.parametrize("nothing", [[], ()])
def test_an_empty_tuple_or_list_is_no_outputs(nothing):
    observed = returning(nothing)

    assert (observed.status, observed.outputs) == ("returned", ())


@pytest.mark.parametrize("answer", [None, ...])
def test_no_answer_at_all_is_not_attempted(answer):
    assert observe(answer, case()).status == "not attempted"


def test_the_stub_of_an_untouched_notebook_is_not_attempted():
    def raises(x):
        """Its docstring."""
        raise NotImplementedError()

    def dots(x): ...

    assert observe(raises, case()).status == "not attempted"
    assert observe(dots, case()).status == "not attempted"
    assert observe(functools.partial(raises), case()).status == "not attempted"


def test_half_an_answer_is_brought_home():
    observed = returning((np.ones(2), ...))

    assert observed.status == "returned"
    np.testing.assert_array_equal(observed.outputs[0], np.ones(2))
    assert refusal(observed.kinds[0]) is None
    assert refusal(observed.kinds[1]) == "Ellipsis"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({"y": 1}, "a dict"),
        ("words", "a str"),
        (object(), "an object"),
        (np.array([1, "a"], dtype=object), "an array of dtype object"),
        (np.array(["a"]), "an array of dtype <U1"),
        (np.array([1j]), "an array of dtype complex128"),
        (np.ones(2, np.int16), "an array of dtype int16"),
        (2**70, "an array of dtype object"),
        (np.broadcast_to(1.0, (10**5, 10**5)), "an array of more than 32 MB"),
        (None, "None"),
    ],
)
def test_what_is_no_plain_array_is_refused_in_words(value, what):
    observed = returning((value, 1.0))

    assert observed.status == "returned"
    assert refusal(observed.kinds[0]) == what
    assert observed.outputs[0].shape == (0,)


def test_too_many_outputs_are_an_error():
    observed = returning([1.0] * 17)

    assert (observed.status, observed.message) == ("raised", "ValueError: returned more than 16 outputs")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "i8", "u1", "b1"])
def test_a_plain_dtype_is_kept_in_the_machines_byte_order(dtype):
    observed = returning(np.ones(3, np.dtype(dtype).newbyteorder("S")))

    assert observed.outputs[0].dtype == np.dtype(dtype)
    assert observed.outputs[0].dtype.isnative
    assert observed.outputs[0].tolist() == [1, 1, 1]


def test_not_a_number_is_passed_on():
    assert np.isnan(returning(np.array([np.nan, 1.0])).outputs[0]).tolist() == [True, False]


@pytest.mark.parametrize(("made", "kind"), [(np.ma.masked_array, "MaskedArray"), (np.asmatrix, "matrix")])
def test_a_subclass_is_told_by_its_name(made, kind):
    observed = observe(lambda x: made(x), case())

    assert observed.kinds == (kind,)
    assert type(observed.outputs[0]) is np.ndarray


def test_a_subclass_that_lies_about_equality_loses_its_class():
    class Liar(np.ndarray):
        def __eq__(self, other):
            return True

        def __array_ufunc__(self, *given, **named):
            return True

    observed = returning(np.zeros(3).view(Liar))

    assert type(observed.outputs[0]) is np.ndarray
    assert not np.any(observed.outputs[0] == 1.0)


@pytest.mark.parametrize("exception", [ValueError("odd"), SystemExit("odd"), GeneratorExit("odd")])
def test_whatever_an_answer_raises_ends_in_the_observation(exception):
    def answer(x):
        x[0] = 7.0
        raise exception

    observed = observe(answer, case())

    assert (observed.status, observed.message) == ("raised", f"{type(exception).__name__}: odd")
    assert observed.arguments_after["x"][0].tolist() == [7.0, 7.0, 7.0]


def test_running_out_of_memory_has_a_status_of_its_own():
    def answer(x):
        raise MemoryError

    assert observe(answer, case()).status == "memory"


def test_a_keyboard_interrupt_passes_only_where_somebody_can_press_the_key():
    def answer(x):
        raise KeyboardInterrupt

    assert observe(answer, case()).status == "raised"
    with pytest.raises(KeyboardInterrupt):
        observe(answer, case(), interruptible=True)


def test_what_was_raised_comes_with_its_place():
    def answer(x):
        return x @ x

    observed = observe(answer, case())

    assert observed.message.startswith("ValueError: matmul")
    assert re.fullmatch(r"line \d+, `return x @ x`", observed.place)


def test_an_answer_that_is_no_function_is_named():
    observed = observe(np.ones(3), case())

    assert (observed.status, observed.message) == (
        "raised",
        "TypeError: expected a function; got an object of type ndarray",
    )


def test_a_missing_parameter_is_the_learners_exception():
    message = observe(lambda: 1.0, case()).message

    assert message.startswith("TypeError: ")
    assert "takes 0 positional arguments but 1 was given" in message
