"""Answers to `masks.padding`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def mask_of(scores, lengths):
    return np.arange(scores.shape[-1]) < lengths[:, None, None]


def masked(scores, lengths):
    return softmax(np.where(mask_of(scores, lengths), scores, -np.inf))


def a_billion(scores, lengths):
    return softmax(np.where(mask_of(scores, lengths), scores, scores.dtype.type(-1e9)))


def lowered(scores, lengths):
    hidden = scores.copy()
    for b, length in enumerate(lengths):
        hidden[b, :, length:] = -np.inf
    return softmax(hidden)


def item_by_item(scores, lengths):
    weights = np.zeros_like(scores)
    for item, length, out in zip(scores, lengths, weights, strict=True):
        out[:, :length] = softmax(item[:, :length])
    return weights


def loops(scores, lengths):
    weights = np.zeros(scores.shape, scores.dtype)
    for b in range(len(scores)):
        for t in range(scores.shape[1]):
            real = scores[b, t, : lengths[b]]
            e = np.exp(real - max(real))
            for s in range(lengths[b]):
                weights[b, t, s] = e[s] / sum(e)
    return weights


def padded_again(scores, lengths):
    parts = [softmax(item[:, :n]) for item, n in zip(scores, lengths, strict=True)]
    return np.stack([np.pad(p, ((0, 0), (0, scores.shape[-1] - p.shape[-1]))) for p in parts])


def einsum(scores, lengths):
    mask = mask_of(scores, lengths).astype(scores.dtype)
    highest = np.where(mask, scores, -np.inf).max(-1, keepdims=True)
    e = np.exp(np.minimum(scores - highest, 0)) * mask
    return np.einsum("bts,bt->bts", e, 1 / np.einsum("bts->bt", e))


def wider(scores, lengths):
    return masked(scores.astype(np.float64), lengths).astype(scores.dtype)


class Weights:
    def __call__(self, scores, lengths):
        return masked(scores, lengths)


RIGHT: dict[str, Answer] = {
    "a mask of booleans": masked,
    "a billion": a_billion,
    "slices of a copy": lowered,
    "item by item": item_by_item,
    "loops": loops,
    "cut and padded again": padded_again,
    "einsum": einsum,
    "float64 inside": wider,
    "an object with __call__": Weights(),
    "a lambda": lambda a, n: softmax(
        np.where(np.arange(a.shape[2])[None, None] < n[:, None, None], a, -np.inf)
    ),
}


def no_return(scores, lengths):
    masked(scores, lengths)


def without_middle(scores, lengths):
    return softmax(np.where(np.arange(scores.shape[-1]) < lengths[:, None], scores, -np.inf))


def renormalized(scores, lengths):
    cut = softmax(scores) * mask_of(scores, lengths)
    return cut / cut.sum(-1, keepdims=True)


def in_place(scores, lengths):
    for b, length in enumerate(lengths):
        scores[b, :, length:] = -np.inf
    return softmax(scores)


def turned(scores, lengths):
    return softmax(np.where(mask_of(scores, lengths), -np.inf, scores))


def queries_hidden_too(scores, lengths):
    weights = masked(scores, lengths)
    weights[np.broadcast_to((np.arange(scores.shape[1]) >= lengths[:, None])[:, :, None], weights.shape)] = 0
    return weights


def one_maximum(scores, lengths):
    s = np.where(mask_of(scores, lengths), scores, -np.inf)
    e = np.exp(s - s.max())
    return e / e.sum(-1, keepdims=True)


def maximum_of_all_keys(scores, lengths):
    e = np.exp(scores - scores.max(-1, keepdims=True)) * mask_of(scores, lengths)
    return e / e.sum(-1, keepdims=True)


def no_maximum(scores, lengths):
    e = np.exp(scores)
    e[~np.broadcast_to(mask_of(scores, lengths), e.shape)] = 0
    return e / e.sum(-1, keepdims=True)


def filled(fill):
    return lambda scores, lengths: softmax(np.where(mask_of(scores, lengths), scores, fill))


def queries_see_nothing(scores, lengths):
    real = np.arange(scores.shape[1]) < lengths[:, None]
    return softmax(np.where(mask_of(scores, lengths) & real[:, :, None], scores, -np.inf))


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "multiplies after": Wrong(lambda a, n: softmax(a) * mask_of(a, n), "mask applied after the softmax"),
    "multiplies the scores": Wrong(lambda a, n: softmax(a * mask_of(a, n)), "padding filled with 0"),
    "turned over": Wrong(turned, "mask turned over"),
    "turned over, repaired": Wrong(lambda a, n: np.nan_to_num(turned(a, n)), "mask turned over"),
    "up to the length": Wrong(lambda a, n: masked(a, n + 1), "one key of padding too many"),
    "the longest": Wrong(lambda a, n: masked(a, n * 0 + n.max()), "one length for all items"),
    "lengths ignored": Wrong(lambda a, n: softmax(a), "padding not hidden"),
    "no middle axis": Wrong(without_middle, "mask without its middle axis"),
    "cut and shared again": Wrong(renormalized, "cut and divided again after the softmax"),
    "one key too few": Wrong(lambda a, n: masked(a, n - (n > 1)), None),
    "the shortest": Wrong(lambda a, n: masked(a, n * 0 + n.min()), None),
    "changes the scores": Wrong(in_place, None),
    "always float64": Wrong(lambda a, n: masked(a.astype(float), n), None),
    "largest of all keys": Wrong(maximum_of_all_keys, "cut and divided again after the softmax"),
    "padded queries zeroed": Wrong(queries_hidden_too, "padded queries left out"),
    "padded queries see nothing": Wrong(queries_see_nothing, "padded queries left out"),
    "minus a thousand": Wrong(filled(np.float32(-1000)), "padding not low enough"),
    "no maximum": Wrong(no_maximum, "largest score not subtracted"),
    "one maximum": Wrong(one_maximum, "one largest score for all queries"),
    "over the queries": Wrong(
        lambda a, n: softmax(np.where(mask_of(a, n), a, -1e30), axis=-2) * mask_of(a, n), None
    ),
    "cut to the longest": Wrong(lambda a, n: masked(a, n)[..., : n.max()], None),
    "minus ten": Wrong(lambda a, n: softmax(np.where(mask_of(a, n), a, -10)), None),
}

TRIVIAL: dict[str, Answer] = {
    "the scores": lambda a, n: a,
    "zeros": lambda a, n: np.zeros_like(a),
    "an even share": lambda a, n: np.full_like(a, 1 / a.shape[-1]),
    "not a number": lambda a, n: np.full_like(a, np.nan),
    "noise": lambda a, n: np.random.default_rng(0).random(a.shape).astype(a.dtype),
    "the exponentials": lambda a, n: np.exp(a),
}
