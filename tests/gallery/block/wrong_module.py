"""Wrong answers to `block.module`: the right class with one thing exchanged."""

import torch
from torch import nn
from torch.nn import functional

from tests.gallery.answers import Wrong
from tests.gallery.block.modules import Attention, Block, ByHand, FeedForward


def block(forward=None, *, attention=Attention, activation=torch.relu, **options):
    """The right class with one thing exchanged."""

    class Other(Block):
        def __init__(self, d_model, n_heads, d_ff):
            super().__init__(d_model, n_heads, d_ff)
            self.attention = attention(d_model, n_heads, **options)
            self.feed_forward = FeedForward(d_model, d_ff, activation)

    if forward is not None:
        Other.forward = forward
    return Other


def masked(visible):
    class Other(ByHand):
        def visible(self, T):
            return visible(torch.ones(T, T, dtype=torch.bool))

    return block(attention=Other)


class HeadsFirst(Attention):
    def cut(self, x):
        B, T, _ = x.shape
        return self.qkv(x).view(B, T, self.n_heads, -1).transpose(1, 2).chunk(3, -1)


class BareMerge(Attention):
    def forward(self, x):
        z = functional.scaled_dot_product_attention(*self.cut(x), is_causal=True)
        return self.out(z.reshape(x.shape))


def one_norm(self, x):
    x = x + self.attention(self.norm_1(x))
    return x + self.feed_forward(self.norm_1(x))


def misprint(self, x):
    h = x + self.attention(self.norm_1(x))
    return x + self.feed_forward(self.norm_2(h))


def post_norm(self, x):
    x = self.norm_1(x + self.attention(x))
    return self.norm_2(x + self.feed_forward(x))


def around_the_normed(self, x):
    x = self.norm_1(x)
    x = x + self.attention(x)
    x = self.norm_2(x)
    return x + self.feed_forward(x)


def no_return(self, x):
    Block.forward(self, x)


def detached(self, x):
    h = x + self.attention(self.norm_1(x))
    return (h + self.feed_forward(self.norm_2(h))).detach()


def half_detached(self, x):
    h = x + self.attention(self.norm_1(x)).detach()
    return h + self.feed_forward(self.norm_2(h))


def dropping(self, x):
    h = x + functional.dropout(self.attention(self.norm_1(x)), 0.1, self.training)
    return h + functional.dropout(self.feed_forward(self.norm_2(h)), 0.1, self.training)


def dropping_always(self, x):
    return functional.dropout(Block.forward(self, x), 0.1)


class InAList(Block):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        del self.norm_1, self.norm_2
        self.norms = [nn.LayerNorm(d_model), nn.LayerNorm(d_model)]


class PersistentMask(Block):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.register_buffer("mask", torch.ones(64, 64).tril())


def in_float32(self, x):
    return Block.forward(self, x).float()


def in_place(self, x):
    y = Block.forward(self, x.detach().clone().requires_grad_())
    x.data.copy_(y.data)
    return y


WRONG = {
    "no mask": Wrong(block(causal=False), "no mask"),
    "mask turned over": Wrong(masked(torch.triu), "mask turned over"),
    "mask one too wide": Wrong(masked(lambda all: all.tril(1)), "mask one too wide"),
    "one norm": Wrong(block(one_norm), "first norm reused"),
    "misprint": Wrong(block(misprint), "second residual begins at x"),
    "post-norm": Wrong(block(post_norm), "post-norm"),
    "around the normed": Wrong(block(around_the_normed), "residual around the normed x"),
    "GELU": Wrong(block(activation=functional.gelu), "GELU for ReLU"),
    "heads first": Wrong(block(attention=HeadsFirst), "heads before q, k and v"),
    "bare merge": Wrong(block(attention=BareMerge), "heads not transposed back"),
    "no return": Wrong(block(no_return), "no return"),
    "mask shifted": Wrong(masked(lambda all: all.tril(-1)), None),
    "detached": Wrong(block(detached), None),
    "half detached": Wrong(block(half_detached), None),
    "dropout": Wrong(block(dropping), None),
    "dropout in evaluation": Wrong(block(dropping_always), None),
    "norms in a list": Wrong(InAList, None),
    "a mask that is kept": Wrong(PersistentMask, None),
    "always float32": Wrong(block(in_float32), None),
    "changes x": Wrong(block(in_place), None),
    "no module": Wrong(lambda d_model, n_heads, d_ff: lambda x: x, None),
}
