"""Where norms and branches meet the residual stream: one generator for each join rule.

A join rule knows only that its parts can be called, so it serves both twins. It yields
each stage by name, in order; the names are the boxes of the diagram. Beside it stands
its backward, which walks the stages from the last to the first and yields the gradient
of a loss with respect to the value of each, and of the input `x` at the end.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

X = TypeVar("X")
PartT = TypeVar("PartT", covariant=True)
AddT = TypeVar("AddT", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Sublayer(Generic[PartT, AddT]):
    """A branch with what stands around it; sublayer i of a block makes its stages _i.

    norm stands before the branch or, post-norm, behind the add; parallel branches share
    that of the first. norm_out, which only a sandwich has, stands between branch and
    add. add(x, update) joins the two.
    """

    name: str
    norm: PartT
    branch: PartT
    norm_out: PartT
    add: AddT


class Part(Protocol):
    """A map of the stream that also knows its own backward."""

    def __call__(self, x: Any, /) -> Any:
        """The part's value."""

    def backward(self, dy: Any, /) -> Any:
        """The gradient by x, from that by the value."""


class Add(Protocol):
    """The joint of stream and update, with the gradients of both."""

    def __call__(self, x: Any, update: Any, /) -> Any:
        """The stream after the branch."""

    def backward(self, dy: Any, /) -> tuple[Any, Any]:
        """The gradients by x and by update, from that by the value."""


Forward = Sequence[Sublayer[Callable[[X], X], Callable[[X, X], X]]]
Reversible = Sequence[Sublayer[Part, Add]]
Stages = Iterator[tuple[str, X]]


def pre_norm(x: X, sublayers: Forward[X]) -> Stages[X]:
    """Normalize what each branch reads; the stream passes from end to end by additions.

    h = x + attention(norm_1(x)),  y = h + feed_forward(norm_2(h))

    Source: Xiong et al., On Layer Normalization in the Transformer Architecture, 2020,
    arXiv:2002.04745.
    """
    for number, sublayer in enumerate(sublayers, start=1):
        read = sublayer.norm(x)
        yield f"norm_{number}", read
        update = sublayer.branch(read)
        yield sublayer.name, update
        x = sublayer.add(x, update)
        yield f"add_{number}", x


def pre_norm_backward(dy: X, sublayers: Reversible) -> Stages[X]:
    """Let the gradient pass each add unchanged, and collect what the branch adds to it.

    dx = dh + norm_1ᵀ(attentionᵀ(dh)), where ᵀ is a part's backward
    """
    dx: Any = dy
    for number, sublayer in _from_the_last(sublayers):
        yield f"add_{number}", dx
        dx, dupdate = sublayer.add.backward(dx)
        yield sublayer.name, dupdate
        dread = sublayer.branch.backward(dupdate)
        yield f"norm_{number}", dread
        dx = dx + sublayer.norm.backward(dread)
    yield "x", dx


def post_norm(x: X, sublayers: Forward[X]) -> Stages[X]:
    """Normalize the sum: each norm stands on the stream's own path.

    h = norm_1(x + attention(x)),  y = norm_2(h + feed_forward(h))

    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    section 3.1.
    """
    for number, sublayer in enumerate(sublayers, start=1):
        update = sublayer.branch(x)
        yield sublayer.name, update
        x = sublayer.add(x, update)
        yield f"add_{number}", x
        x = sublayer.norm(x)
        yield f"norm_{number}", x


def post_norm_backward(dy: X, sublayers: Reversible) -> Stages[X]:
    """Send the gradient through each norm, because no path leads around it.

    ds = norm_1ᵀ(dh),  dx = ds + attentionᵀ(ds)
    """
    dx: Any = dy
    for number, sublayer in _from_the_last(sublayers):
        yield f"norm_{number}", dx
        dx = sublayer.norm.backward(dx)
        yield f"add_{number}", dx
        dx, dupdate = sublayer.add.backward(dx)
        yield sublayer.name, dupdate
        dx = dx + sublayer.branch.backward(dupdate)
    yield "x", dx


def sandwich_norm(x: X, sublayers: Forward[X]) -> Stages[X]:
    """Normalize what each branch reads, and again what it is about to add.

    h = x + norm_1_out(attention(norm_1(x))),
    y = h + norm_2_out(feed_forward(norm_2(h)))

    Source: Ding et al., CogView, 2021, arXiv:2105.13290, section 2.4.
    """
    for number, sublayer in enumerate(sublayers, start=1):
        read = sublayer.norm(x)
        yield f"norm_{number}", read
        update = sublayer.branch(read)
        yield sublayer.name, update
        update = sublayer.norm_out(update)
        yield f"norm_{number}_out", update
        x = sublayer.add(x, update)
        yield f"add_{number}", x


def sandwich_norm_backward(dy: X, sublayers: Reversible) -> Stages[X]:
    """Let the gradient pass each add unchanged; the branch lies between two norms.

    dx = dh + norm_1ᵀ(attentionᵀ(norm_1_outᵀ(dh)))
    """
    dx: Any = dy
    for number, sublayer in _from_the_last(sublayers):
        yield f"add_{number}", dx
        dx, dupdate = sublayer.add.backward(dx)
        yield f"norm_{number}_out", dupdate
        dupdate = sublayer.norm_out.backward(dupdate)
        yield sublayer.name, dupdate
        dread = sublayer.branch.backward(dupdate)
        yield f"norm_{number}", dread
        dx = dx + sublayer.norm.backward(dread)
    yield "x", dx


def parallel(x: X, sublayers: Forward[X]) -> Stages[X]:
    """Let all branches read one norm of the same stream, side by side.

    n = norm_1(x),  y = x + attention(n) + feed_forward(n)

    Source: Wang and Komatsuzaki, GPT-J-6B, 2021; Chowdhery et al., PaLM, 2022,
    arXiv:2204.02311, section 2.
    """
    read = sublayers[0].norm(x)
    yield "norm_1", read
    for number, sublayer in enumerate(sublayers, start=1):
        update = sublayer.branch(read)
        yield sublayer.name, update
        x = sublayer.add(x, update)
        yield f"add_{number}", x


def parallel_backward(dy: X, sublayers: Reversible) -> Stages[X]:
    """Add up what the branches send back before it passes the one norm.

    dx = dy + norm_1ᵀ(attentionᵀ(dy) + feed_forwardᵀ(dy))
    """
    dx: Any = dy
    dread: Any = 0
    for number, sublayer in _from_the_last(sublayers):
        yield f"add_{number}", dx
        dx, dupdate = sublayer.add.backward(dx)
        yield sublayer.name, dupdate
        dread = dread + sublayer.branch.backward(dupdate)
    yield "norm_1", dread
    yield "x", dx + sublayers[0].norm.backward(dread)


JOINS = {
    "pre": pre_norm,
    "post": post_norm,
    "sandwich": sandwich_norm,
    "parallel": parallel,
}
BACKWARD = {
    "pre": pre_norm_backward,
    "post": post_norm_backward,
    "sandwich": sandwich_norm_backward,
    "parallel": parallel_backward,
}


def last(stages: Iterable[tuple[str, X]]) -> X:
    """Run all stages and keep the value of the last: what the block hands on."""
    _, x = deque(stages, maxlen=1).pop()
    return x


def _from_the_last(sublayers: Reversible) -> Iterator[tuple[int, Sublayer[Part, Add]]]:
    return reversed([*enumerate(sublayers, start=1)])
