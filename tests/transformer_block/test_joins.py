import weakref
from dataclasses import FrozenInstanceError

import pytest

from transformer_block.joins import BACKWARD, JOINS, Sublayer, last

ORDER = {
    "pre": [
        ("norm_1", "n1(x)"),
        ("attention", "a(n1(x))"),
        ("add_1", "x+a(n1(x))"),
        ("norm_2", "n2(x+a(n1(x)))"),
        ("feed_forward", "f(n2(x+a(n1(x))))"),
        ("add_2", "x+a(n1(x))+f(n2(x+a(n1(x))))"),
    ],
    "post": [
        ("attention", "a(x)"),
        ("add_1", "x+a(x)"),
        ("norm_1", "n1(x+a(x))"),
        ("feed_forward", "f(n1(x+a(x)))"),
        ("add_2", "n1(x+a(x))+f(n1(x+a(x)))"),
        ("norm_2", "n2(n1(x+a(x))+f(n1(x+a(x))))"),
    ],
    "sandwich": [
        ("norm_1", "n1(x)"),
        ("attention", "a(n1(x))"),
        ("norm_1_out", "o1(a(n1(x)))"),
        ("add_1", "x+o1(a(n1(x)))"),
        ("norm_2", "n2(x+o1(a(n1(x))))"),
        ("feed_forward", "f(n2(x+o1(a(n1(x)))))"),
        ("norm_2_out", "o2(f(n2(x+o1(a(n1(x))))))"),
        ("add_2", "x+o1(a(n1(x)))+o2(f(n2(x+o1(a(n1(x))))))"),
    ],
    "parallel": [
        ("norm_1", "n1(x)"),
        ("attention", "a(n1(x))"),
        ("add_1", "x+a(n1(x))"),
        ("feed_forward", "f(n1(x))"),
        ("add_2", "x+a(n1(x))+f(n1(x))"),
    ],
}

# n1'(g) is what the backward of n1 makes of the gradient g.
WAY_BACK = {
    "pre": [
        ("add_2", "g"),
        ("feed_forward", "g"),
        ("norm_2", "f'(g)"),
        ("add_1", "g+n2'(f'(g))"),
        ("attention", "g+n2'(f'(g))"),
        ("norm_1", "a'(g+n2'(f'(g)))"),
        ("x", "g+n2'(f'(g))+n1'(a'(g+n2'(f'(g))))"),
    ],
    "post": [
        ("norm_2", "g"),
        ("add_2", "n2'(g)"),
        ("feed_forward", "n2'(g)"),
        ("norm_1", "n2'(g)+f'(n2'(g))"),
        ("add_1", "n1'(n2'(g)+f'(n2'(g)))"),
        ("attention", "n1'(n2'(g)+f'(n2'(g)))"),
        ("x", "n1'(n2'(g)+f'(n2'(g)))+a'(n1'(n2'(g)+f'(n2'(g))))"),
    ],
    "sandwich": [
        ("add_2", "g"),
        ("norm_2_out", "g"),
        ("feed_forward", "o2'(g)"),
        ("norm_2", "f'(o2'(g))"),
        ("add_1", "g+n2'(f'(o2'(g)))"),
        ("norm_1_out", "g+n2'(f'(o2'(g)))"),
        ("attention", "o1'(g+n2'(f'(o2'(g))))"),
        ("norm_1", "a'(o1'(g+n2'(f'(o2'(g)))))"),
        ("x", "g+n2'(f'(o2'(g)))+n1'(a'(o1'(g+n2'(f'(o2'(g))))))"),
    ],
    "parallel": [
        ("add_2", "g"),
        ("feed_forward", "g"),
        ("add_1", "g"),
        ("attention", "g"),
        ("norm_1", "f'(g)+a'(g)"),
        ("x", "g+n1'(f'(g)+a'(g))"),
    ],
}


class Formula(str):
    """A stream, or a gradient, that writes down what is done to it."""

    def __add__(self, other):
        return Formula(f"{self!s}+{other!s}")

    def __radd__(self, zero):
        assert zero == 0
        return self


class Letter:
    """A part that writes itself around what it is called with."""

    def __init__(self, letter):
        self.letter = letter

    def __call__(self, x):
        return Formula(f"{self.letter}({x})")

    def backward(self, dy):
        return Formula(f"{self.letter}'({dy})")


class Plus:
    def __call__(self, x, update):
        return x + update

    def backward(self, dy):
        return dy, dy


def sublayer(number, name, letter, add=None):
    return Sublayer(
        name=name,
        norm=Letter(f"n{number}"),
        branch=Letter(letter),
        norm_out=Letter(f"o{number}"),
        add=add or Plus(),
    )


BLOCK = [sublayer(1, "attention", "a"), sublayer(2, "feed_forward", "f")]
DECODER = [
    sublayer(1, "attention", "a"),
    sublayer(2, "cross_attention", "c"),
    sublayer(3, "feed_forward", "f"),
]


@pytest.mark.parametrize("placement", JOINS)
def test_each_rule_puts_norms_and_branches_where_its_name_says(placement):
    assert list(JOINS[placement](Formula("x"), BLOCK)) == ORDER[placement]


@pytest.mark.parametrize("placement", BACKWARD)
def test_each_rule_sends_the_gradient_back_along_every_path(placement):
    assert list(BACKWARD[placement](Formula("g"), BLOCK)) == WAY_BACK[placement]


@pytest.mark.parametrize("placement", JOINS)
def test_the_way_back_passes_the_stages_in_reverse(placement):
    stages = [name for name, _ in JOINS[placement](Formula("x"), BLOCK)]
    assert [name for name, _ in BACKWARD[placement](Formula("g"), BLOCK)] == [*reversed(stages), "x"]


def test_a_decoder_block_attends_to_the_memory_between_its_two_other_branches():
    stages = [name for name, _ in JOINS["pre"](Formula("x"), DECODER)]
    assert stages == [
        *("norm_1", "attention", "add_1"),
        *("norm_2", "cross_attention", "add_2"),
        *("norm_3", "feed_forward", "add_3"),
    ]
    assert [name for name, _ in BACKWARD["pre"](Formula("g"), DECODER)] == [*reversed(stages), "x"]


@pytest.mark.parametrize("placement", BACKWARD)
def test_stream_and_update_get_each_its_own_gradient_from_the_joint(placement):
    class Scaled(Plus):
        def backward(self, dy):
            return Formula(f"α{dy}"), Formula(f"λ{dy}")

    stages = dict(BACKWARD[placement](Formula("g"), [sublayer(1, "attention", "a", Scaled())]))
    expected = {
        "pre": "αg+n1'(a'(λg))",
        "post": "αn1'(g)+a'(λn1'(g))",
        "sandwich": "αg+n1'(a'(o1'(λg)))",
        "parallel": "αg+n1'(a'(λg))",
    }
    assert stages["x"] == expected[placement]


@pytest.mark.parametrize("placement", JOINS)
def test_a_stage_is_computed_when_it_is_asked_for(placement):
    def unreachable(*streams):
        raise AssertionError(streams)

    last_of_all = Sublayer(
        name="feed_forward", norm=Letter("n2"), branch=Letter("f"), norm_out=Letter("o2"), add=unreachable
    )
    stages = JOINS[placement](Formula("x"), [BLOCK[0], last_of_all])
    names = [name for name, _ in ORDER[placement]]
    before = names.index("add_2")
    assert [next(stages)[0] for _ in range(before)] == names[:before]
    with pytest.raises(AssertionError):
        next(stages)


def test_the_last_stage_is_what_the_block_hands_on():
    assert last(iter(ORDER["post"])) == ORDER["post"][-1][1]


def test_no_stage_but_the_last_is_kept_while_they_run():
    alive, kept_before_each = weakref.WeakSet(), []

    def made():
        value = Letter("v")
        alive.add(value)
        return value

    def stages():
        for number in range(4):
            kept_before_each.append(len(alive))
            yield f"stage_{number}", made()

    last(stages())
    assert kept_before_each == [0, 1, 1, 1]


def test_a_sublayer_is_made_by_names_and_cannot_be_changed():
    parts = vars(sublayer(1, "attention", "a"))
    with pytest.raises(TypeError, match="positional"):
        Sublayer(*parts.values())
    with pytest.raises(FrozenInstanceError):
        Sublayer(**parts).name = "feed_forward"
