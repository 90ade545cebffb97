"""Right parts in wrong places: what the known wrong blocks are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from block_course.exercise import Array
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm

Part = Callable[[Array], Array]


class Parts:
    """The four parts of a block as functions of a stream."""

    def __init__(self, n_heads: int, p: Mapping[str, Array], visible: Array | None = None) -> None:
        """Bind the parameters, and a mask for attention if there is one."""
        self.n_heads, self.p, self.visible = n_heads, p, visible

    def norm_1(self, x: Array) -> Array:
        """The first norm."""
        return layer_norm(x, self.p["norm_1.weight"], self.p["norm_1.bias"])

    def norm_2(self, x: Array) -> Array:
        """The second norm."""
        return layer_norm(x, self.p["norm_2.weight"], self.p["norm_2.bias"])

    def attention(self, x: Array) -> Array:
        """The update of attention."""
        qkv, out = (
            (self.p[f"attention.{name}.weight"], self.p[f"attention.{name}.bias"]) for name in ("qkv", "out")
        )
        return attention(x, *qkv, *out, self.n_heads, self.visible)

    def feed_forward(self, x: Array) -> Array:
        """The update of the feed-forward part."""
        up, down = (
            (self.p[f"feed_forward.{name}.weight"], self.p[f"feed_forward.{name}.bias"])
            for name in ("up", "down")
        )
        return feed_forward(x, *up, *down)


Wiring = Callable[[Parts, Array], Array]


def right(b: Parts, x: Array) -> Array:
    """Compute h = x + MHA(LN₁(x)), y = h + FFN(LN₂(h))."""
    h = x + b.attention(b.norm_1(x))
    return h + b.feed_forward(b.norm_2(h))


def misprint(b: Parts, x: Array) -> Array:
    """Compute x + FFN(LN₂(x + MHA(LN₁(x))))."""
    return x + b.feed_forward(b.norm_2(x + b.attention(b.norm_1(x))))


def one_norm(b: Parts, x: Array) -> Array:
    """The first norm in place of the second."""
    h = x + b.attention(b.norm_1(x))
    return h + b.feed_forward(b.norm_1(h))


def norms_exchanged(b: Parts, x: Array) -> Array:
    """Each norm in the other's place."""
    h = x + b.attention(b.norm_2(x))
    return h + b.feed_forward(b.norm_1(h))


def post_norm(b: Parts, x: Array) -> Array:
    """The order of 2017."""
    h = b.norm_1(x + b.attention(x))
    return b.norm_2(h + b.feed_forward(h))


def around_the_normed(b: Parts, x: Array) -> Array:
    """Each residual begins behind the norm."""
    n = b.norm_1(x)
    h = n + b.attention(n)
    n = b.norm_2(h)
    return n + b.feed_forward(n)


def no_second_norm(b: Parts, x: Array) -> Array:
    """The feed-forward part reads the stream as it is."""
    h = x + b.attention(b.norm_1(x))
    return h + b.feed_forward(h)


def side_by_side(b: Parts, x: Array) -> Array:
    """The feed-forward part reads x, past attention."""
    return x + b.attention(b.norm_1(x)) + b.feed_forward(b.norm_2(x))


def no_skip(b: Parts, x: Array) -> Array:
    """Branches in a row, with nothing beside them."""
    return b.feed_forward(b.norm_2(b.attention(b.norm_1(x))))
