"""The causal block as learners write it in PyTorch."""

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, causal=True):
        super().__init__()
        self.n_heads, self.causal = n_heads, causal
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def cut(self, x):
        B, T, _ = x.shape
        heads = (each.view(B, T, self.n_heads, -1).transpose(1, 2) for each in self.qkv(x).chunk(3, -1))
        return tuple(heads)

    def forward(self, x):
        z = functional.scaled_dot_product_attention(*self.cut(x), is_causal=self.causal)
        return self.out(z.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation=torch.relu):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.up(x)))


class Block(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.feed_forward(self.norm_2(x))


class ByHand(Attention):
    """Scores, a mask and a softmax, one line each."""

    def visible(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril()

    def forward(self, x):
        q, k, v = self.cut(x)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~self.visible(x.shape[1]), float("-inf"))
        z = torch.softmax(scores, -1) @ v
        return self.out(z.transpose(1, 2).flatten(2))


class BlockByHand(Block):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.attention = ByHand(d_model, n_heads)


class Einsum(ByHand):
    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.n_heads, -1).unbind(2)
        scores = torch.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
        future = torch.full((T, T), -1e30, dtype=x.dtype).triu(1)
        z = torch.einsum("bhts,bshk->bthk", (scores + future).softmax(-1), v)
        return functional.linear(z.reshape(B, T, D), self.out.weight, self.out.bias)


class BlockOfEinsum(Block):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.attention = Einsum(d_model, n_heads)


class Norm(nn.Module):
    """Layer norm on parameters of its own."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        centered = x - x.mean(-1, keepdim=True)
        return self.weight * centered / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt() + self.bias


class BlockOfDicts(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.n_heads = n_heads
        self.norm_1, self.norm_2 = Norm(d_model), Norm(d_model)
        self.attention = nn.ModuleDict(
            {"qkv": nn.Linear(d_model, 3 * d_model), "out": nn.Linear(d_model, d_model)}
        )
        up, down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.feed_forward = nn.ModuleDict({"up": up, "down": down})

    def heads(self, read):
        K = read.shape[-1] // self.n_heads
        q, k, v = self.attention["qkv"](read).chunk(3, -1)
        hidden = torch.ones(read.shape[1], read.shape[1]).triu(1) == 1
        for head in range(self.n_heads):
            own = slice(head * K, head * K + K)
            scores = (q[..., own] @ k[..., own].mT / K**0.5).masked_fill(hidden, -torch.inf)
            yield scores.softmax(-1) @ v[..., own]

    def forward(self, x):
        h = x + self.attention["out"](torch.cat([*self.heads(self.norm_1(x))], -1))
        return h + self.feed_forward["down"](self.feed_forward["up"](self.norm_2(h)).clamp(min=0))


class WithABuffer(Block):
    """A mask that state_dict leaves out."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff)
        self.register_buffer("hidden", torch.ones(64, 64, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.attention.cut(self.norm_1(x))
        visible = ~self.hidden[:T, :T]
        z = functional.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        h = x + self.attention.out(z.transpose(1, 2).reshape(B, T, D))
        return h + self.feed_forward(self.norm_2(h))
