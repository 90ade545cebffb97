"""Answers to `masks.convert`."""

import torch

from tests.gallery.answers import Answer, Wrong


def repeat_interleave(visible, n_heads):
    return visible.unsqueeze(1), (~visible).repeat_interleave(n_heads, dim=0)


def expanded(visible, n_heads):
    B, T, S = visible.shape
    return visible[:, None], ~visible[:, None].expand(B, n_heads, T, S).reshape(B * n_heads, T, S)


def stacked(visible, n_heads):
    rows = [~item for item in visible for _ in range(n_heads)]
    return torch.stack([item[None] for item in visible]), torch.stack(rows)


def indexed(visible, n_heads):
    items = torch.arange(len(visible) * n_heads) // n_heads
    return visible[:, None, :, :], visible.logical_not()[items]


def loops(visible, n_heads):
    B, T, S = visible.shape
    for_function = torch.zeros(B, 1, T, S, dtype=torch.bool)
    for_module = torch.ones(B * n_heads, T, S, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                if visible[b, t, s]:
                    for_function[b, 0, t, s] = True
                    for h in range(n_heads):
                        for_module[b * n_heads + h, t, s] = False
    return [for_function, for_module]


def by_einsum(visible, n_heads):
    hidden = torch.einsum("bts,h->bhts", (~visible).int(), torch.ones(n_heads, dtype=torch.int))
    return visible.view(len(visible), 1, *visible.shape[1:]), hidden.flatten(0, 1) > 0


class Convert:
    def __call__(self, visible, n_heads):
        return expanded(visible, n_heads)


RIGHT: dict[str, Answer] = {
    "repeat_interleave": repeat_interleave,
    "expanded and flattened": expanded,
    "stacked": stacked,
    "indexed": indexed,
    "loops, in a list": loops,
    "einsum": by_einsum,
    "by ones": lambda m, h: (m[:, None], torch.logical_xor(m, torch.tensor(True)).repeat_interleave(h, 0)),
    "an object with __call__": Convert(),
}


def no_return(visible, n_heads):
    repeat_interleave(visible, n_heads)


def in_place(visible, n_heads):
    for_function = visible.clone()[:, None]
    visible ^= True
    return for_function, visible.repeat_interleave(n_heads, 0)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "none turned over": Wrong(
        lambda m, h: (m[:, None], m.repeat_interleave(h, 0)), "one meaning for both calls"
    ),
    "both turned over": Wrong(
        lambda m, h: (~m[:, None], (~m).repeat_interleave(h, 0)), "both masks turned over"
    ),
    "the wrong one turned over": Wrong(
        lambda m, h: (~m[:, None], m.repeat_interleave(h, 0)), "the two meanings exchanged"
    ),
    "repeat": Wrong(lambda m, h: (m[:, None], (~m).repeat(h, 1, 1)), "heads before items"),
    "flattened from heads first": Wrong(
        lambda m, h: (m[:, None], (~m).expand(h, *m.shape).flatten(0, 1)), "heads before items"
    ),
    "no heads": Wrong(lambda m, h: (m[:, None], ~m), "no rows for the heads"),
    "an axis in both": Wrong(lambda m, h: (m[:, None], ~m[:, None]), "an axis for the heads in both"),
    "no axis": Wrong(lambda m, h: (m, (~m).repeat_interleave(h, 0)), "no axis for the heads"),
    "the two exchanged": Wrong(lambda m, h: repeat_interleave(m, h)[::-1], None),
    "to add": Wrong(
        lambda m, h: tuple(
            torch.zeros(each.shape).masked_fill(each, float("-inf"))
            for each in (~m[:, None], (~m).repeat_interleave(h, 0))
        ),
        None,
    ),
    "ones and zeros": Wrong(lambda m, h: tuple(each.int() for each in repeat_interleave(m, h)), None),
    "NumPy arrays": Wrong(lambda m, h: tuple(each.numpy() for each in repeat_interleave(m, h)), None),
    "changes the mask": Wrong(in_place, None),
    "one of the two": Wrong(lambda m, h: repeat_interleave(m, h)[1], None),
    "a row for each head in the first as well": Wrong(
        lambda m, h: (m[:, None].expand(-1, h, -1, -1), (~m).repeat_interleave(h, 0)), None
    ),
}

TRIVIAL: dict[str, Answer] = {
    "the mask twice": lambda m, h: (m, m),
    "all visible": lambda m, h: (torch.ones_like(m[:, None]), torch.zeros_like(m).repeat(h, 1, 1)),
    "all hidden": lambda m, h: (torch.zeros_like(m[:, None]), torch.ones_like(m).repeat(h, 1, 1)),
    "noise": lambda m, h: (torch.rand(m[:, None].shape) < 0.5, torch.rand(m.repeat(h, 1, 1).shape) < 0.5),
    "the heads": lambda m, h: (h, h),
}
