"""Answers to `precision_and_modes.half`."""

import torch

from block_course.diagnosis import NO_RETURN
from tests.gallery.answers import Answer, Wrong


def wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def norm(x, gamma, eps):
    """In the format of x."""
    return gamma * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)


def widened(x, gamma, eps):
    return norm(wide(x), gamma, eps).to(x.dtype)


def narrowed_before_gamma(x, gamma, eps):
    y = wide(x)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return gamma * y.type_as(x)


def in_float64(x, gamma, eps):
    return norm(x.double(), gamma.double(), eps).to(x.dtype)


def scaled_first(x, gamma, eps):
    """By the largest feature, so that no square is too large or too small."""
    size = wide(x).abs().amax(dim=-1, keepdim=True)
    size = torch.where(size == 0, torch.ones_like(size), size)
    part = wide(x) / size
    root = torch.sqrt((part * part).mean(-1, keepdim=True) + eps / size / size)
    return (gamma * (part / root)).to(x.dtype)


def einsum(x, gamma, eps):
    y = wide(x)
    square = torch.einsum("btd,btd->bt", y, y)[..., None] / x.shape[-1]
    return torch.einsum("btd,d->btd", y / (square + eps).sqrt(), wide(gamma)).to(x.dtype)


def by_length(x, gamma, eps):
    y = wide(x)
    length = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
    return (wide(gamma) * y / (length**2 / x.shape[-1] + eps) ** 0.5).to(x.dtype)


def token_by_token(x, gamma, eps):
    y = torch.empty_like(x)
    for b in range(len(x)):
        for t in range(x.shape[1]):
            token = wide(x[b, t])
            y[b, t] = wide(gamma) * token / (token.dot(token) / len(token) + eps).sqrt()
    return y


class Norm:
    def __call__(self, x, gamma, eps):
        return widened(x, gamma, eps)


RIGHT: dict[str, Answer] = {
    "widened": widened,
    "narrowed before gamma": narrowed_before_gamma,
    "in float64": in_float64,
    "scaled by the largest feature": scaled_first,
    "einsum": einsum,
    "by the length": by_length,
    "token by token": token_by_token,
    "an object with __call__": Norm(),
    "a lambda": lambda x, g, eps: norm(x.double(), g.double(), eps).type(x.dtype),
}


def no_return(x, gamma, eps):
    widened(x, gamma, eps)


def in_wide(change):
    def answer(x, gamma, eps):
        return change(wide(x), wide(gamma), eps).to(x.dtype)

    return answer


def in_place(x, gamma, eps):
    y = widened(x, gamma, eps)
    x *= 2
    return y


def squared_early(x, gamma, eps):
    square = wide(x**2).mean(-1, keepdim=True)
    return (wide(gamma) * wide(x) / (square + eps).sqrt()).to(x.dtype)


def clamped(x, gamma, eps):
    square = (x**2).clamp(max=60_000).mean(-1, keepdim=True)
    return gamma * x / (square + eps).sqrt()


WRONG: dict[str, Wrong] = {
    "no return": Wrong(no_return, NO_RETURN),
    "layer norm": Wrong(
        in_wide(lambda x, gamma, eps: norm(x - x.mean(-1, keepdim=True), gamma, eps)), "mean subtracted"
    ),
    "a sum": Wrong(
        in_wide(lambda x, gamma, eps: gamma * x / ((x**2).sum(-1, keepdim=True) + eps).sqrt()),
        "sum in place of the mean",
    ),
    "not rooted": Wrong(
        in_wide(lambda x, gamma, eps: gamma * x / ((x**2).mean(-1, keepdim=True) + eps)), "no root"
    ),
    "eps behind": Wrong(
        in_wide(lambda x, gamma, eps: gamma * x / ((x**2).mean(-1, keepdim=True).sqrt() + eps)),
        "eps outside the root",
    ),
    "positions": Wrong(
        in_wide(lambda x, gamma, eps: gamma * x / ((x**2).mean(-2, keepdim=True) + eps).sqrt()),
        "over the positions",
    ),
    "no gamma": Wrong(lambda x, gamma, eps: widened(x, torch.ones_like(gamma), eps), "gamma left out"),
    "as it comes": Wrong(norm, "in its own format"),
    "squares, then wide": Wrong(squared_early, "squared before it was widened"),
    "clamped": Wrong(clamped, "in its own format"),
    "left wide": Wrong(lambda x, gamma, eps: norm(wide(x), wide(gamma), eps), None),
    "float32 in between": Wrong(
        lambda x, gamma, eps: norm(x.float(), gamma.float(), eps).to(x.dtype), "float64 made float32"
    ),
    "always float32": Wrong(lambda x, gamma, eps: norm(x.float(), gamma.float(), eps), None),
    "its own eps": Wrong(lambda x, gamma, eps: widened(x, gamma, 1e-6), None),
    "in place": Wrong(in_place, None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, gamma, eps: x.clone(),
    "zeros": lambda x, gamma, eps: torch.zeros_like(x),
    "ones": lambda x, gamma, eps: torch.ones_like(x),
    "gamma times x": lambda x, gamma, eps: gamma * x,
    "signs": lambda x, gamma, eps: torch.sign(x),
}
