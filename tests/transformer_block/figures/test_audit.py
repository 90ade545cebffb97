"""The table of findings marks what is broken, and nothing else."""

from transformer_block.figures.audit import findings

CONTRACTS = ["shape", "causal", "norms"]
BROKEN = {"a_right_one": [], "a_leaky_one": ["causal", "norms"]}


def places(axes, kind):
    line = next(line for line in axes.lines if line.get_label() == kind)
    return {(int(x), int(y)) for x, y in zip(*line.get_data(), strict=True)}


def test_a_square_stands_where_a_block_breaks_a_contract_and_a_dot_elsewhere():
    (axes,) = findings(BROKEN, CONTRACTS).axes

    assert places(axes, "broken") == {(1, 1), (2, 1)}
    assert places(axes, "not broken") == {(0, 0), (1, 0), (2, 0), (0, 1)}
    assert len({line.get_marker() for line in axes.lines}) == 2


def test_rows_are_blocks_and_columns_contracts_by_name():
    (axes,) = findings(BROKEN, CONTRACTS).axes

    assert [label.get_text() for label in axes.get_yticklabels()] == ["a right one", "a leaky one"]
    assert [label.get_text() for label in axes.get_xticklabels()] == CONTRACTS
    bottom, top = axes.get_ylim()
    assert top < 0 < 1 < bottom


def test_blocks_without_a_fault_have_dots_alone():
    (axes,) = findings({"a_right_one": []}, CONTRACTS).axes

    assert places(axes, "broken") == set()
    assert len(places(axes, "not broken")) == 3
