import sys
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest

from block_course import check as module
from block_course.check import check, progress
from block_course.checks import assignment
from transformer_block.in_numpy.layer_norm import layer_norm, statistics


@pytest.fixture(autouse=True)
def new_session(monkeypatch):
    monkeypatch.setattr(module, "_latest", {})


def sample_variance(x):
    return x.mean(-1, keepdims=True), x.var(-1, ddof=1, keepdims=True)


def test_the_text_of_a_result_is_a_bare_number_of_points():
    assert repr(check("layer_norm.statistics", statistics)) == "3.0"
    assert repr(check("layer_norm.statistics", sample_variance)) == "1.25"
    assert repr(check("layer_norm.forward", layer_norm)) == "6.0"
    assert repr(check("layer_norm.forward", None)) == "0.0"


def test_the_html_of_a_result_is_its_panel():
    result = check("layer_norm.statistics", sample_variance)

    assert result._repr_html_() == result.html
    assert "<strong>Sample variance.</strong>" in result.html


def test_an_error_is_told_with_the_line_and_the_shapes():
    def statistics(x):
        return x.mean(-1), x @ x

    html = check("layer_norm.statistics", statistics).html

    assert "<code>return x.mean(-1), x @ x</code>, called with x of shape (2, 3, 4)" in html


def test_an_answer_that_calls_an_unwritten_one_says_which():
    def statistics(x):
        raise NotImplementedError()

    result = check("layer_norm.forward", lambda x, gamma, beta, eps=1e-5: statistics(x))

    assert result.verdict.status == "error"
    assert "NotImplementedError: statistics is not written yet" in result.html


def test_a_call_that_leaves_eps_out_is_told_to_give_it_its_default():
    html = check("layer_norm.forward", lambda x, gamma, beta, eps: layer_norm(x, gamma, beta, eps)).html

    assert "This call leaves out <code>eps</code>: give it its default, <code>eps=1e-5</code>" in html


def test_an_open_check_gives_the_same_each_time():
    assert check("layer_norm.forward", np.negative).html == check("layer_norm.forward", np.negative).html


class Pretender:
    def __init__(self, *given, **named):
        pass


@pytest.mark.parametrize("answer", [Pretender, np.ones(3), "layer_norm", 1.5, lambda: 1, print, Pretender()])
def test_whatever_is_passed_for_an_answer_gets_a_number_and_a_panel(answer):
    result = check("layer_norm.forward", answer)

    assert repr(result) == "0.0"
    assert "<table" in result.html


@pytest.mark.parametrize("id", ["layer_norm.foward", None, 3, ["layer_norm.forward"], float("nan")])
def test_whatever_is_passed_for_an_id_gets_a_number_and_a_sentence(id):
    result = check(id, layer_norm)

    assert repr(result) == "0.0"
    assert "Nothing was judged" in result.html


def test_an_unknown_id_is_told_the_nearest_one():
    assert "did you mean &#x27;layer_norm.forward&#x27;?" in check("layer_norm.foward", layer_norm).html


def test_a_fault_of_the_check_is_named_as_such(monkeypatch):
    monkeypatch.setattr(module, "judge", lambda *given: 1 / 0)

    result = check("layer_norm.forward", layer_norm)

    assert repr(result) == "0.0"
    assert "The check itself failed. ZeroDivisionError: division by zero" in result.html


def test_a_fault_that_cannot_be_printed_is_still_a_panel(monkeypatch):
    class Hostile(Exception):
        def __str__(self):
            raise ValueError

    def fail(*given):
        raise Hostile

    monkeypatch.setattr(module, "judge", fail)

    assert "Its error cannot be printed." in check("layer_norm.forward", layer_norm).html


def test_an_interrupt_passes_so_that_the_stop_button_works():
    def answer(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("layer_norm.statistics", answer)


def test_a_notebooks_settings_change_neither_points_nor_panel(capfd):
    before = check("layer_norm.statistics", sample_variance).html

    np.random.seed(3)
    with np.errstate(all="raise"), np.printoptions(precision=1):
        after = check("layer_norm.statistics", sample_variance)

    assert after.html == before
    assert capfd.readouterr() == ("", "")


def test_figures_that_an_answer_opens_are_closed_and_others_stay():
    mine = plt.figure()

    def answer(x):
        plt.figure()
        return statistics(x)

    assert repr(check("layer_norm.statistics", answer)) == "3.0"

    assert plt.get_fignums() == [mine.number]
    plt.close(mine)


def test_an_answer_may_display_where_there_is_no_notebook():
    from IPython.display import display

    def answer(x):
        display(x)
        return statistics(x)

    assert repr(check("layer_norm.statistics", answer)) == "3.0"


def test_without_ipython_and_pyplot_nothing_is_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.delitem(sys.modules, "IPython")

    assert repr(check("layer_norm.statistics", statistics)) == "3.0"
    assert "matplotlib.pyplot" not in sys.modules
    assert "IPython" not in sys.modules


def test_progress_before_any_check_says_so():
    assert repr(progress()) == "No check has run in this session: run the check cells first."
    assert "No check has run in this session" in progress()._repr_html_()


def test_progress_shows_the_latest_points_of_each_exercise_of_the_notebook():
    check("layer_norm.statistics", sample_variance)
    check("layer_norm.statistics", statistics)
    check("unknown.id", statistics)

    first, second, *_, total = (line.split("  ") for line in repr(progress()).splitlines())
    assert [each.strip() for each in first if each] == ["Mean and variance of each token", "pass", "3 of 3"]
    assert [each.strip() for each in second if each] == ["Layer norm", "not run", "0 of 6"]
    assert [each.strip() for each in total if each] == ["Total", f"3 of {assignment('layer_norm').points:g}"]
    assert "<caption" in progress()._repr_html_()
