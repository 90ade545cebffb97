import pytest

from transformer_block.joins import last, pre_norm

STAGES = [
    ("norm_1", "n1(x)"),
    ("attention", "a(n1(x))"),
    ("add_1", "x+a(n1(x))"),
    ("norm_2", "n2(x+a(n1(x)))"),
    ("feed_forward", "f(n2(x+a(n1(x))))"),
    ("add_2", "x+a(n1(x))+f(n2(x+a(n1(x))))"),
]


def part(letter):
    return lambda text: f"{letter}({text})"


class Formula(str):
    """A stream that writes down what is done to it."""

    def __add__(self, other):
        return Formula(f"{self!s}+{other!s}")


def test_pre_norm_normalizes_what_the_branches_read_and_never_the_stream():
    stages = pre_norm(
        Formula("x"), norm_1=part("n1"), attention=part("a"), norm_2=part("n2"), feed_forward=part("f")
    )
    assert list(stages) == STAGES


def test_a_stage_is_computed_when_it_is_asked_for():
    def unreachable(text):
        raise AssertionError

    stages = pre_norm(Formula("x"), part("n1"), part("a"), unreachable, unreachable)
    assert [next(stages)[0] for _ in range(3)] == ["norm_1", "attention", "add_1"]
    with pytest.raises(AssertionError):
        next(stages)


def test_the_last_stage_is_what_the_block_hands_on():
    assert last(iter(STAGES)) == STAGES[-1][1]
