"""What a learner's code would find if it could look around: no check, no reference, no secret.

The walls that keep it from looking are tried elsewhere; here they are left out.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from block_course.checks import assignment
from block_course.exercise import Case, Manner
from block_course.grading import fork_server
from block_course.grading.attempt import Limits
from block_course.grading.box import Box, Child
from block_course.grading.worker import settings
from tests.block_course.grading.examples import KEY
from tests.block_course.grading.test_box import soon

pytestmark = pytest.mark.slow


WITHOUT_WALLS = """
from block_course.grading import walls
walls.enter = lambda: walls.Namespaces((), {})
walls.prepare = lambda order, spaces, needed: walls.Plan(server=os.getpid(), home=order.home, limits={})
serve("""


@pytest.fixture(scope="module")
def layer_norm_box() -> Iterator[Box]:
    with pytest.MonkeyPatch.context() as patch, Box(settings(assignment("layer_norm"), Limits())) as box:
        opened = WITHOUT_WALLS.replace("\n", "\n    ")
        patch.setattr(fork_server, "_PROGRAM", fork_server._PROGRAM.replace("serve(", opened, 1))
        yield box


@pytest.fixture
def child(layer_norm_box: Box) -> Iterator[Child]:
    child = layer_norm_box.child()
    yield child
    child.end()


def told(child: Child, source: str) -> object:
    """What a cell prints as JSON."""
    outcome = child.run_cell("cell 1", f"import json, sys\n{source}\nprint(json.dumps(told))", soon())
    assert outcome.status == "done", outcome.message
    return json.loads(child.printed())


def test_no_module_of_the_checks_or_the_grader_is_loaded(child: Child) -> None:
    modules = told(
        child,
        "told = [m for m in sys.modules if m.partition('.')[0] in ('block_course', 'transformer_block')]",
    )

    assert sorted(modules) == [  # type: ignore[call-overload]
        "block_course",
        "block_course.check",
        "transformer_block",
        "transformer_block.stepper",
    ]


DECIDES = re.compile(
    r"block_course\.(checks|verdict|diagnosis|tolerance|check$|panel)|transformer_block\.in_"
)
BESIDE_THE_LEARNER = ("in_box", "answering", "inputs", "stand_in", "walls", "wire")


def test_no_check_and_no_reference_is_in_memory(child: Child) -> None:
    homes = told(
        child,
        "import gc, types\n"
        "gc.unfreeze()  # what the server had before it forked\n"
        "told = sorted({str(each.__module__) for each in gc.get_objects()\n"
        "               if isinstance(each, types.FunctionType)})",
    )

    assert isinstance(homes, list)
    assert "block_course.calling" in homes  # the search finds what is there
    assert not [home for home in homes if DECIDES.match(home)]
    of_the_grader = {home.removeprefix("block_course.grading.") for home in homes if ".grading." in home}
    assert {home.partition(".")[0] for home in of_the_grader} <= set(BESIDE_THE_LEARNER)


SEARCH = """
# the wanted text is here and in memory with each bit turned over only: the search can't find itself
wanted = bytes({inverted})
turned = bytes(255 - byte for byte in range(256))
found = 0
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps").readlines():
        place, flags = line.split()[:2]
        start, end = (int(each, 16) for each in place.split("-"))
        if flags.startswith("rw") and "[v" not in line:
            memory.seek(start)
            left = end - start
            while left > 0:
                piece = memory.read(min(1 << 24, left))
                found += piece.translate(turned).count(wanted)
                left -= len(piece)
told = found
"""


def test_no_secret_is_in_the_memory_of_the_interpreter(layer_norm_box: Box) -> None:
    search = SEARCH.format(inverted=[255 - byte for byte in KEY])
    plant = f"planted = bytes(255 - byte for byte in {[255 - byte for byte in KEY]})\n"
    counts = []
    for source in (search, plant + search):
        child = layer_norm_box.child()
        counts.append(told(child, source))
        child.end()

    assert counts[0] == 0
    assert counts[1] != 0  # what is there is found


def test_nothing_but_a_few_settings_is_in_the_environment_and_the_arguments(child: Child) -> None:
    found = told(child, "told = [open(f'/proc/self/{name}').read() for name in ('environ', 'cmdline')]")

    environment, arguments = found  # type: ignore[misc]
    names = {entry.partition("=")[0] for entry in environment.split("\0") if entry}
    passed_on = {name for name in fork_server._PASSED_ON if name in os.environ}
    assert names == {*fork_server._ENVIRONMENT, *passed_on, *fork_server._PLACES}
    assert KEY.decode() not in environment + arguments


def test_only_the_descriptors_that_are_needed_are_open(child: Child) -> None:
    found = told(
        child,
        "import os\n"
        "told = {}\n"
        "for name in os.listdir('/proc/self/fd'):\n"
        "    try:\n"
        "        told[name] = os.readlink(f'/proc/self/fd/{name}').partition(':')[0]\n"
        "    except OSError: pass\n",
    )

    assert found == {"0": "/dev/null", "1": "pipe", "2": "pipe", "3": "socket"}


def test_the_folder_of_the_code_is_empty(child: Child, layer_norm_box: Box) -> None:
    found = told(child, "import os; told = [os.getcwd(), os.listdir(), os.environ['HOME']]")

    home = str(layer_norm_box._server.folder / "home")  # type: ignore[union-attr]
    assert found == [home, [], home]


def test_torch_is_not_there_for_an_assignment_in_numpy(child: Child) -> None:
    outcome = child.run_cell("cell 1", "import torch", soon())

    assert outcome.message == "line 1: ImportError: torch can't be used while 03_layer_norm is graded"


def test_hidden_inputs_are_no_function_of_what_a_child_can_know(child: Child) -> None:
    # the random state of a child comes from the assignment's name, and that of a call from the case's
    child.run_cell(
        "cell 1", "import numpy as np\ndef statistics(x):\n    return np.random.rand(*x.shape)", soon()
    )

    first, second = (
        child.call("statistics", Manner(), Case(name="c", arguments={"x": x}), soon()).outputs[0]
        for x in (np.zeros((2, 3)), np.ones((2, 3)))
    )

    assert first.tolist() == second.tolist()


def test_each_child_starts_with_the_same_random_states() -> None:
    training = assignment("11_training")
    draw = (
        "import random, numpy, torch\n"
        "print(random.random(), numpy.random.rand(), torch.rand(1).item(), numpy.random.rand())"
    )
    printed = []
    with Box(settings(training, Limits())) as box:
        for _ in range(2):
            child = box.child()
            assert child.run_cell("cell 1", draw, soon()).status == "done"
            printed.append(child.printed())
            child.end()

    assert printed[0] == printed[1]
    assert len({*printed[0].split()}) == 4


def test_a_box_with_torch_has_one_thread_and_runs_an_answer_in_torch() -> None:
    layer_norm = assignment("layer_norm")
    torch_too = replace(layer_norm, exercises=(replace(layer_norm.exercises[0], framework="torch"),))
    source = (
        "import torch\nassert torch.get_num_threads() == 1\n"
        "def f(x):\n    y = x.clone().requires_grad_()\n    (y ** 2).sum().backward()\n    return y.grad"
    )
    x = np.arange(6.0).reshape(2, 3)
    with Box(settings(torch_too, Limits())) as box:
        child = box.child()
        assert child.run_cell("cell 1", source, soon()).status == "done"
        seen = child.call("f", Manner("torch"), Case(name="c", arguments={"x": x}), soon())
        child.end()

    np.testing.assert_array_equal(seen.outputs[0], 2.0 * x)
    assert seen.kinds == ("torch.Tensor",)
