"""Where norms and branches meet the residual stream: one generator for each join rule.

A join rule knows only that its parts can be called and that streams can be added, so it
serves both twins. It yields each stage by name, in order; the names are the boxes of
the diagram.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

Same = TypeVar("Same")


@runtime_checkable
class Stream(Protocol):
    """What flows through a block: an array of either twin."""

    def __add__(self: Same, other: Same, /) -> Same: ...


X = TypeVar("X", bound=Stream)


def pre_norm(
    x: X,
    norm_1: Callable[[X], X],
    attention: Callable[[X], X],
    norm_2: Callable[[X], X],
    feed_forward: Callable[[X], X],
) -> Iterator[tuple[str, X]]:
    """Normalize what each branch reads; the stream passes from end to end by additions.

    h = x + attention(norm_1(x)),  y = h + feed_forward(norm_2(h))

    Source: Xiong et al., On Layer Normalization in the Transformer Architecture, 2020,
    arXiv:2002.04745.
    """
    branch = norm_1(x)
    yield "norm_1", branch
    branch = attention(branch)
    yield "attention", branch
    x = x + branch
    yield "add_1", x
    branch = norm_2(x)
    yield "norm_2", branch
    branch = feed_forward(branch)
    yield "feed_forward", branch
    x = x + branch
    yield "add_2", x


def last(stages: Iterable[tuple[str, X]]) -> X:
    """Run all stages and keep the value of the last: what the block hands on."""
    _, x = deque(stages, maxlen=1).pop()
    return x
