"""A walk shows what the block computed, and its HTML says the same without a script."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
import torch

from transformer_block import in_python
from transformer_block._stage_formulas import vector
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.in_torch.block import Block as TorchBlock
from transformer_block.parameters import initialize, perturb
from transformer_block.stepper import Stepper, step

CONFIG = BlockConfig(d_model=6, n_heads=2, d_ff=11, causal=True)
PARAMETERS = perturb(initialize(CONFIG, seed=3), seed=4)
X = np.random.default_rng(5).normal(size=(4, 6))


class Halving:
    """A learner's block, with stages of its own."""

    def stages(self, x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        yield "halve", x / 2
        yield "add_1", x + x / 2


class Cells(HTMLParser):
    """The text of each row's cells, tags removed, and the names of all tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def rows(stepper: Stepper) -> list[tuple[str, str]]:
    """Stage and result of each row of the table."""
    return [(cells[0], cells[2]) for cells in Cells(stepper.table()).rows[1:] if len(cells) == 4]


def test_the_table_of_the_python_walk_is_its_stages() -> None:
    stepper = step(in_python, token="it")

    assert rows(stepper) == [(name, vector(np.array(value))) for name, value in in_python.walk("it")]


def test_the_table_of_a_block_has_the_input_and_each_stage_of_each_token() -> None:
    block = Block(CONFIG, PARAMETERS)

    stepper = step(block, X)

    stages = [("x", X), *block.stages(X)]
    assert rows(stepper) == [(name, vector(value[t])) for t in range(4) for name, value in stages]


def test_both_twins_give_the_same_page() -> None:
    ours = step(Block(CONFIG, PARAMETERS), X)

    theirs = step(TorchBlock(CONFIG, PARAMETERS), torch.from_numpy(X))

    assert ours._repr_html_() == theirs._repr_html_()


def test_what_goes_beside_x_reaches_the_block() -> None:
    block = Block(CONFIG, PARAMETERS)
    visible = np.tril(np.ones((4, 4), dtype=bool), k=-1) | np.eye(4, dtype=bool)
    visible[3, 1] = False

    stepper = step(block, X, token=3, visible=visible)

    stages = [("x", X), *block.stages(X, visible)]
    assert rows(stepper) == [(name, vector(value[3])) for name, value in stages]


def test_a_learners_own_block_is_walked_too() -> None:
    stepper = step(Halving(), X, token=2)

    assert rows(stepper) == [("x", vector(X[2])), ("halve", vector(X[2] / 2)), ("add_1", vector(1.5 * X[2]))]


def test_a_block_that_takes_saved_is_walked_with_the_callers_own() -> None:
    saved: dict[str, Any] = {}

    step(Block(CONFIG, PARAMETERS), X, saved=saved)

    assert saved["attention"]["weights"].shape == (2, 4, 4)


def test_pairs_are_walked_as_one_token_or_as_a_sequence() -> None:
    alone = step(in_python.walk("cat"))
    chosen = step(in_python.stages(), token=1)

    assert rows(alone) == rows(chosen)


@pytest.mark.parametrize("shaped", [X[0], X[:1], X[None, :1]])
def test_one_token_may_come_alone_in_a_sequence_or_in_a_batch(shaped: np.ndarray) -> None:
    assert rows(step(Halving(), shaped))[0] == ("x", vector(X[0]))


def test_a_token_is_chosen_by_name_or_by_place() -> None:
    assert step(in_python, token="it").table() == step(in_python, token=7).table()


def test_names_from_outside_are_escaped() -> None:
    pairs = [("x<script>", [0.5, 1.0]), ('add_"&', [1.0, 2.0])]

    stepper = step(pairs, tokens=["</table><img>"], title="<b>walk</b>")

    found = Cells(stepper.table())
    assert found.tags == {"table", "caption", "thead", "tr", "th", "tbody", "td", "br"}
    assert [cells[0] for cells in found.rows] == ["Stage", "x<script>", 'add_"&']
    assert 'data-token="&lt;/table&gt;&lt;img&gt;"' in stepper.table()


def test_the_same_walk_gives_the_same_bytes() -> None:
    first, second = (step(Block(CONFIG, PARAMETERS), X.copy()) for _ in range(2))

    assert first._repr_mimebundle_() == second._repr_mimebundle_()


def test_the_page_needs_no_network() -> None:
    page = step(in_python)._repr_html_()

    assert "http" not in page
    assert "src=" not in page
    assert "import " not in page


def test_plain_text_has_a_line_for_each_stage() -> None:
    bundle = step(in_python, token="it")._repr_mimebundle_()

    lines = bundle["text/plain"].splitlines()
    assert len(lines) == 8
    assert lines[1].split(" ", 1) == ["add_position", "[1.597, 0.526]"]
    assert repr(step(in_python, token="it")) == bundle["text/plain"]


def test_plain_text_of_several_tokens_names_each() -> None:
    text = str(step(Halving(), X, tokens=["a", "b", "c", "d"]))

    assert [line for line in text.splitlines() if line.endswith(":")] == ["a:", "b:", "c:", "d:"]


def test_wide_vectors_show_their_first_features_and_how_many_follow() -> None:
    stepper = step(Halving(), X, token=0, features=2)

    (_, shown), *_ = rows(stepper)
    assert shown == f"{vector(X[0, :2])[:-1]}, … 4 more]"


def test_what_is_not_finite_is_shown() -> None:
    stepper = step([("x", [1.0, 2.0]), ("norm_1", [np.nan, -np.inf])])

    assert rows(stepper)[1] == ("norm_1", "[nan, −inf]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Halving(), X[None].repeat(2, axis=0)), r"one sequence .* \(2, 4, 6\)"),
        (([("x", X), ("pooled", X.mean(axis=0))],), "stage 'pooled' has 1 tokens; the first has 4"),
        (([],), "nothing was yielded"),
        ((Halving(), np.ones((33, 2))), "at most 32 tokens are walked; got 33"),
    ],
)
def test_what_is_no_walk_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        step(*arguments)


def test_one_of_many_tokens_can_be_walked() -> None:
    assert len(step(Halving(), np.ones((33, 2)), token=32).walks) == 1


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"token": "dog"}, "no token 'dog' among The, cat"),
        ({"token": 10}, r"token must lie in \[0, 10\); got 10"),
        ({"token": -1}, r"token must lie in \[0, 10\); got -1"),
        ({"tokens": ["a"]}, "10 tokens need 10 names; got 1"),
    ],
)
def test_a_token_that_is_not_there_is_refused(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        step(in_python, **choice)


def test_a_block_without_stages_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="a block has stages"):
        step(torch.nn.Linear(6, 6), X)
