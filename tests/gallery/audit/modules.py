"""The block of `audit.mend` as learners write it, with faults left in by name."""

import torch
from torch import nn
from torch.nn import functional


class Norm(nn.Module):
    def __init__(self, d_model, correction=0):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.correction = correction

    def forward(self, x):
        variance = x.var(-1, keepdim=True, correction=self.correction)
        return self.weight * (x - x.mean(-1, keepdim=True)) / (variance + 1e-5).sqrt() + self.bias


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, masked="both"):
        super().__init__()
        self.n_heads, self.masked = n_heads, masked
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (each.view(B, T, self.n_heads, -1).transpose(1, 2) for each in self.qkv(x).chunk(3, -1))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if self.masked in ("both", "training" if self.training else "evaluation"):
            scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    correction, masked, drops = 0, "both", "training"

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.norm_1, self.norm_2 = Norm(d_model, self.correction), Norm(d_model, self.correction)
        self.attention = Attention(d_model, n_heads, self.masked)
        up, down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.feed_forward = nn.ModuleDict({"up": up, "down": down})
        self.rate = dropout

    def forward(self, x):
        h = x + self.attention(self.norm_1(x))
        update = self.feed_forward["down"](self.feed_forward["up"](self.norm_2(h)).relu())
        dropping = self.drops == "always" or (self.drops == "training" and self.training)
        return h + functional.dropout(update, self.rate, training=dropping)


def with_faults(**faults):
    """A class that has them."""
    return type("Faulty", (Block,), faults)


class OfModules(nn.Module):
    """nn.LayerNorm, nn.Dropout, scaled_dot_product_attention."""

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.n_heads = n_heads
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.ModuleDict(
            {"qkv": nn.Linear(d_model, 3 * d_model), "out": nn.Linear(d_model, d_model)}
        )
        self.feed_forward = nn.ModuleDict({"up": nn.Linear(d_model, d_ff), "down": nn.Linear(d_ff, d_model)})
        self.drop = nn.Dropout(dropout)

    def attend(self, x):
        q, k, v = (
            each.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for each in self.attention["qkv"](x).chunk(3, -1)
        )
        z = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attention["out"](z.transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        h = x + self.attend(self.norm_1(x))
        return h + self.drop(self.feed_forward["down"](torch.relu(self.feed_forward["up"](self.norm_2(h)))))


class InAnIf(Block):
    """The mode asked for in the block, not in the function."""

    def forward(self, x):
        h = x + self.attention(self.norm_1(x))
        update = self.feed_forward["down"](self.feed_forward["up"](self.norm_2(h)).clamp(min=0))
        if self.training:
            update = functional.dropout(update, self.rate)
        return h + update


class Einsum(Block):
    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.attention.qkv(self.norm_1(x)).view(B, T, 3, self.attention.n_heads, -1).unbind(2)
        scores = torch.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
        future = torch.full((T, T), -1e30, dtype=x.dtype).triu(1)
        z = torch.einsum("bhts,bshk->bthk", (scores + future).softmax(-1), v)
        h = x + self.attention.out(z.reshape(B, T, D))
        update = self.feed_forward["down"](functional.relu(self.feed_forward["up"](self.norm_2(h))))
        return torch.dropout(update, self.rate, self.training) + h
