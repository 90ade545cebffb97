"""What an honest notebook does works behind all walls."""

from collections.abc import Iterator

import pytest

from block_course.grading.box import Box, Settings
from tests.block_course.grading.test_box import soon

pytestmark = pytest.mark.slow

HONEST = {
    "linear algebra": "import numpy as np\nprint(np.linalg.svd(np.eye(30) @ np.ones((30, 20)))[1].shape)",
    "random numbers": (
        "import numpy as np, random, secrets\nprint(np.random.default_rng().normal(), secrets.token_hex())"
    ),
    "a module that nobody loaded yet": "import colorsys, sqlite3, numpy.polynomial.hermite_e",
    "figures": (
        "import io\nimport matplotlib.pyplot as plt\n"
        "for kind in ('png', 'svg'):\n"
        "    plt.figure(); plt.plot([1, 3, 2], label='$x^2$'); plt.legend()\n"
        "    plt.savefig(io.BytesIO(), format=kind)\n"
        "plt.show()"
    ),
    "a traceback": "import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: print(traceback.format_exc())",
    "waiting": "import asyncio\nawait asyncio.sleep(0.001)",
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as pool: print(list(pool.map(abs, [-1, -2, -3])))"
    ),
    "the time and the machine": (
        "import os, platform, sys, time\n"
        "print(time.time(), platform.platform(), os.cpu_count(), sys.stdout.isatty(), os.getcwd())"
    ),
    "output dropped": "import os\nprint('x', file=open(os.devnull, 'w'))",
    "training in torch": (
        "import torch\n"
        "layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)\n"
        "optimizer = torch.optim.AdamW(layer.parameters())\n"
        "for _ in range(2):\n"
        "    optimizer.zero_grad()\n"
        "    layer(torch.randn(2, 5, 16)).square().mean().backward()\n"
        "    optimizer.step()\n"
        "print(torch.linalg.svd(torch.randn(20, 20))[1])"
    ),
    "torch with more threads": (
        "import torch\ntorch.set_num_threads(3)\nprint((torch.ones(300, 300) @ torch.ones(300, 300)).sum())"
    ),
    "torch's functional gradients": (
        "import torch\nprint(torch.func.grad(lambda x: x.sin().sum())(torch.ones(3)))"
    ),
}


@pytest.fixture(scope="module")
def torch_box() -> Iterator[Box]:
    with Box(Settings("00_tiny", torch=True)) as box:
        yield box


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_it_works_inside(torch_box: Box, source: str) -> None:
    child = torch_box.child()

    outcome = child.run_cell("cell 1", source, soon(60))
    child.end()

    assert (outcome.status, outcome.message) == ("done", "")
