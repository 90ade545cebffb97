import copy
from collections.abc import Callable
from typing import Any

import pytest
from nbformat import v4

from block_course.outputs.compare import Output, Tolerance, coalesce, compare, incomparable, never_run
from tests.block_course.outputs.drawing import Picture
from tests.block_course.outputs.notebooks import printed, raised

DEFAULT = Tolerance()


def shown(**data: Any) -> Output:
    kinds = {"plain": "text/plain", "html": "text/html", "svg": "image/svg+xml", "png": "image/png"}
    kinds |= {"json": "application/json"}
    return v4.new_output("display_data", data={kinds[name]: value for name, value in data.items()})


def test_equal_outputs_agree_and_stay_untouched() -> None:
    outputs = [printed("a\n"), shown(plain="0.5", html="<b>0.5</b>"), raised("ValueError", "no")]
    before = copy.deepcopy(outputs)

    assert compare(outputs, copy.deepcopy(outputs), DEFAULT) == []
    assert outputs == before


@pytest.mark.parametrize(
    ("stored", "computed"),
    [
        ([printed("mean 0.123\n")], [printed("mean 0.124\n")]),
        ([printed("one\ntwo\n")], [printed("one\n"), printed("two\n")]),
        ([printed("out"), printed("err", "stderr")], [printed("err", "stderr"), printed("out")]),
        ([printed("9%\r99%\rdone\n")], [printed("done\n")]),
        ([printed("ab\b\bcd\n")], [printed("cd\n")]),
        ([shown(html="<td>0.123</td>")], [shown(html="<td>0.124</td>")]),
        ([shown(plain=["a\n", "b"])], [shown(plain="a\nb")]),
        ([shown(json={"b": 0.123, "a": [1]})], [shown(json={"a": [1], "b": 0.124})]),
        ([raised("ValueError", "x is 0.12", "at 0x1")], [raised("ValueError", "x is 0.13", "at 0x2")]),
        ([shown(svg=Picture().svg)], [shown(svg=Picture().with_noise(1e-7, 1).svg)]),
    ],
    ids=[
        "a rounded number",
        "pieces of a stream",
        "two streams interleaved",
        "a progress bar",
        "backspaces",
        "a number in HTML",
        "lines in a list",
        "JSON in another order",
        "a traceback",
        "a figure",
    ],
)
def test_what_a_reader_sees_alike_agrees(stored: list[Output], computed: list[Output]) -> None:
    assert compare(stored, computed, DEFAULT) == []


@pytest.mark.parametrize(
    ("stored", "computed", "problem"),
    [
        ([printed("3 heads")], [printed("4 heads")], "output 1 (stdout) line 1: 3 became 4 in '3 heads'"),
        ([printed("a")], [printed("a", "stderr")], "output 1 was stdout, is stderr"),
        ([printed("a")], [], "outputs were stdout, are none"),
        ([printed("a")], [printed("a"), shown(plain="b")], "outputs were stdout, are stdout + display_data"),
        ([printed("a"), shown()], [shown(), printed("a")], "output 1 was stdout, is display_data"),
        ([shown(plain="a")], [shown(html="a")], "output 1 (text/html) is new"),
        ([shown(plain="a", html="b")], [shown(plain="a")], "output 1 (text/html) is gone"),
        ([shown(html="<b>x")], [shown(html="<i>x")], "output 1 (text/html) line 1: '<b>x' became '<i>x'"),
        ([shown(json=[1])], [shown(json=[2])], "output 1 (application/json) line 2: 1 became 2 in ' 1'"),
        ([raised("ValueError", "a")], [raised("TypeError", "a")], "output 1 was ValueError, is TypeError"),
        ([raised("OSError", "a")], [raised("OSError", "b")], "output 1 (OSError) line 1: 'a' became 'b'"),
        ([shown(svg="<svg/>")], [shown(svg="<g/>")], "output 1 (image/svg+xml) <svg> became <g>"),
    ],
)  # fmt: skip
def test_what_a_reader_sees_changed_is_named(
    stored: list[Output], computed: list[Output], problem: str
) -> None:
    assert problem in compare(stored, computed, DEFAULT)


def test_every_output_is_judged() -> None:
    stored = [shown(plain="1"), shown(plain="same"), shown(plain="2", html="3")]
    computed = [shown(plain="0"), shown(plain="same"), shown(plain="0", html="0")]

    problems = compare(stored, computed, DEFAULT)

    assert [problem.partition(" line")[0] for problem in problems] == [
        "output 1 (text/plain)",
        "output 3 (text/html)",
        "output 3 (text/plain)",
    ]


def test_text_after_a_figure_is_not_text_before_it() -> None:
    figure = shown(plain="figure")

    problems = compare([printed("a"), figure, printed("b")], [printed("b"), figure, printed("a")], DEFAULT)

    assert len(problems) == 2


def test_metadata_of_an_output_counts() -> None:
    isolated = v4.new_output("display_data", data={"text/plain": "a"}, metadata={"isolated": True})

    problems = compare([shown(plain="a")], [isolated], DEFAULT)

    assert problems == ["output 1 (metadata) {} became {'isolated': True}"]


def test_a_result_is_not_a_display() -> None:
    result = v4.new_output("execute_result", data={"text/plain": "a"}, execution_count=3)

    assert compare([result], [shown(plain="a")], DEFAULT) == ["output 1 was execute_result, is display_data"]


def test_the_number_of_a_result_does_not_count() -> None:
    third, ninth = (
        v4.new_output("execute_result", data={"text/plain": "a"}, execution_count=count) for count in (3, 9)
    )

    assert compare([third], [ninth], DEFAULT) == []


def test_a_stored_png_is_a_problem_even_if_it_is_the_same() -> None:
    drawn = [shown(png="AAAA", plain="figure")]

    assert compare(drawn, drawn, DEFAULT) == ["image/png cannot be compared: show the figure as SVG"]
    assert incomparable([shown(svg="<svg/>"), printed("a")]) == []


def test_a_tolerance_of_the_cell_is_used_for_what_it_names() -> None:
    near, far = Picture(), Picture().with_noise(0.01, 2)
    mesh_apart = [shown(plain="0.123", svg=near.svg)], [shown(plain="0.127", svg=far.svg)]

    problems = compare(*mesh_apart, Tolerance(ulps=4))
    assert [problem.partition(")")[0] for problem in problems] == ["output 1 (image/svg+xml"]
    assert compare(*mesh_apart, Tolerance(svg_atol=9, ulps=4, color_levels=30)) == []


@pytest.mark.parametrize(
    "speak", [printed, lambda words: raised("ValueError", words)], ids=["stream", "error"]
)
def test_a_tolerance_of_the_cell_is_used_for_streams_and_errors(speak: Callable[[str], Output]) -> None:
    assert compare([speak("0.123")], [speak("0.127")], Tolerance(ulps=3)) != []
    assert compare([speak("0.123")], [speak("0.127")], Tolerance(ulps=4)) == []


def test_a_cell_states_its_tolerance_in_metadata() -> None:
    cell = v4.new_code_cell("x", metadata={"nbval": {"svg_atol": 2, "ulps": 3}})

    assert Tolerance.of_cell(cell) == Tolerance(svg_atol=2, ulps=3, color_levels=0)
    assert Tolerance.of_cell(v4.new_code_cell("x")) == DEFAULT


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"atol": 1}, "unknown key 'atol'; known: svg_atol, ulps, color_levels"),
        ({"ulps": -1}, "nbval ulps is not a finite number of at least 0: -1"),
        ({"ulps": "2"}, "nbval ulps is not a finite number of at least 0: '2'"),
        ({"ulps": True}, "nbval ulps is not a finite number of at least 0: True"),
        ({"svg_atol": float("inf")}, "nbval svg_atol is not a finite number of at least 0: inf"),
        ({"svg_atol": float("nan")}, "nbval svg_atol is not a finite number of at least 0: nan"),
        ([2.0], r"metadata nbval is not a mapping: \[2.0\]"),
    ],
)
def test_an_impossible_tolerance_is_refused(chosen: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tolerance.of_cell(v4.new_code_cell("x", metadata={"nbval": chosen}))


def test_a_code_cell_with_source_and_without_count_was_never_run() -> None:
    assert never_run(v4.new_code_cell("x = 1"))
    assert not never_run(v4.new_code_cell("x = 1", execution_count=1))
    assert not never_run(v4.new_code_cell(" \n"))
    assert not never_run(v4.new_markdown_cell("x"))


def test_streams_are_joined_between_displays_with_stdout_first() -> None:
    figure = shown(plain="figure")
    pieces = [printed("w", "stderr"), printed("a"), figure, printed("b"), printed("c\n"), printed("90%\rd")]

    assert coalesce(pieces) == [printed("a"), printed("w", "stderr"), figure, printed("bc\nd")]


@pytest.mark.parametrize(
    ("text", "seen"),
    [("a\b\b\bc", "c"), ("a\n\bc", "a\nc"), ("a\r\nb\r", "a\r\nb\r"), ("a\rb\rc\nd", "c\nd")],
)
def test_overwritten_text_is_gone(text: str, seen: str) -> None:
    assert coalesce([printed(text)]) == [printed(seen)]
