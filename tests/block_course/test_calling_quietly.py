"""What a call prints and changes stays inside; what was changed before does not reach it."""

import logging
import os
import random
import sys
import warnings

import numpy as np
import pytest

from block_course.calling import observe
from block_course.exercise import Case
from block_course.quiet import quietly, quietly_for_good

CASE = Case(name="a case", arguments={"x": np.arange(3.0)})


def test_output_is_dropped_at_every_level(capfd):
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("a learner's")
    logger.addHandler(handler)

    def answer(x):
        sys.stdout.write("out\n")
        sys.stderr.write("err\n")
        os.write(1, b"descriptor 1\n")
        os.write(2, b"descriptor 2\n")
        logger.error("logged")
        warnings.warn("warned", stacklevel=1)
        return x

    assert observe(answer, CASE).status == "returned"

    logger.removeHandler(handler)
    assert capfd.readouterr() == ("", "")


def test_output_comes_through_again_afterwards(capfd):
    with quietly():
        pass

    os.write(2, b"heard\n")
    sys.stderr.write("this too\n")

    assert capfd.readouterr().err == "heard\nthis too\n"
    assert logging.getLogger("ours").isEnabledFor(logging.ERROR)


def test_an_answer_may_close_or_replace_the_streams(capfd):
    def answer(x):
        sys.stdout.close()
        sys.stderr = None
        return x

    before = sys.stdout, sys.stderr
    assert observe(answer, CASE).status == "returned"

    assert (sys.stdout, sys.stderr) == before
    assert capfd.readouterr() == ("", "")


def test_a_process_without_standard_streams_can_call(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(os, "dup", lambda descriptor: (_ for _ in ()).throw(OSError(9, "closed")))

    assert observe(np.negative, CASE).status == "returned"


def test_what_an_answer_sets_does_not_stay():
    def answer(x):
        np.seterr(all="raise")
        np.random.seed(5)
        random.seed(5)
        warnings.simplefilter("error")
        logging.disable(logging.NOTSET)
        return x

    of_numpy, of_python = np.random.get_state()[1].tolist(), random.getstate()
    errors, filters, level = np.geterr(), list(warnings.filters), logging.root.manager.disable

    observe(answer, CASE)

    assert np.random.get_state()[1].tolist() == of_numpy
    assert random.getstate() == of_python
    assert (np.geterr(), list(warnings.filters)) == (errors, filters)
    assert logging.root.manager.disable == level


def test_what_was_set_before_does_not_reach_an_answer():
    def answer(x):
        warnings.warn("harmless", stacklevel=1)
        return np.array([1.0]) / np.array([0.0])

    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        observed = observe(answer, CASE)

    assert observed.outputs[0].tolist() == [np.inf]


def test_chance_is_the_same_in_each_call_of_a_case_and_differs_between_cases():
    def answer(x):
        return np.random.rand(), random.random()

    np.random.seed(1)
    first = observe(answer, CASE)
    np.random.seed(2)
    again = observe(answer, CASE)
    other = observe(answer, Case(name="another", arguments=CASE.arguments))

    assert [float(each) for each in first.outputs] == [float(each) for each in again.outputs]
    assert [float(each) for each in first.outputs] != [float(each) for each in other.outputs]


def test_a_failing_answer_leaves_everything_as_it_was(capfd):
    def answer(x):
        np.seterr(all="raise")
        raise GeneratorExit

    errors, state = np.geterr(), random.getstate()

    assert observe(answer, CASE).status == "raised"

    assert (np.geterr(), random.getstate()) == (errors, state)
    os.write(1, b"heard\n")
    assert capfd.readouterr().out == "heard\n"


@pytest.mark.parametrize("name", ["torch", "matplotlib", "block_course.checks"])
def test_calling_loads_nothing_heavy(name):
    import subprocess

    program = f"import block_course.calling, sys; sys.exit({name!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_a_process_that_lives_for_its_calls_starts_each_one_as_a_notebook_does(framework, capfd):
    torch = pytest.importorskip("torch") if framework == "torch" else None

    def start():
        with warnings.catch_warnings(record=True) as heard:
            warnings.warn("once", stacklevel=1)
        drawn = [random.random(), np.random.random(), *np.geterr().values(), len(heard)]
        if torch is not None:
            drawn += [torch.rand(1).item(), torch.get_default_dtype(), torch.is_grad_enabled()]
        sys.stdout.write("heard?\n")
        return drawn

    def upset():
        random.seed(7)
        np.random.seed(7)
        np.seterr(all="raise")
        if torch is not None:
            torch.manual_seed(7)
            torch.set_default_dtype(torch.float64)
            torch.set_grad_enabled(False)

    starts = []
    for silenced in (quietly, quietly_for_good, quietly_for_good):
        with quietly(framework):  # what is upset here is put back for the next test
            upset()
            with silenced(framework, label="a case"):
                starts.append(start())

    assert starts[1] == starts[0]
    assert starts[2] == starts[0]
    assert capfd.readouterr() == ("", "")
