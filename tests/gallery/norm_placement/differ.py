"""Answers to `norm_placement.differ`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.block.written import block
from tests.gallery.norm_placement.post import in_a_loop


def gap(x, n_heads, *arrays):
    return block(x, n_heads, *arrays) - in_a_loop(x, n_heads, *arrays)


def unraveled(*given):
    apart = np.abs(gap(*given))
    token, feature = np.unravel_index(apart.argmax(), apart.shape)
    return {"largest": apart.max(), "token": token, "feature": feature}


def divided(*given):
    apart = np.abs(gap(*given))
    token, feature = divmod(int(np.argmax(apart)), apart.shape[-1])
    return {"largest": float(apart[token, feature]), "token": token, "feature": feature}


def token_first(*given):
    apart = np.abs(gap(*given))
    token = int(apart.max(axis=1).argmax())
    return {"largest": apart.max(), "token": token, "feature": int(apart[token].argmax())}


def in_loops(*given):
    largest, where = -1.0, (0, 0)
    for (t, d), difference in np.ndenumerate(gap(*given)):
        if abs(difference) > largest:
            largest, where = abs(difference), (t, d)
    return {"largest": largest, "token": where[0], "feature": where[1]}


def both_signs(*given):
    apart = gap(*given)
    largest = max(apart.max(), -apart.min())
    [[token, feature]] = np.argwhere(np.abs(apart) == largest)
    return {"largest": largest, "token": token, "feature": feature}


def by_norm(*given):
    return unraveled(*given) | {"largest": np.linalg.norm(gap(*given).reshape(-1), np.inf)}


class Differ:
    def __call__(self, *given):
        return divided(*given)


RIGHT: dict[str, Answer] = {
    "unraveled": unraveled,
    "divided": divided,
    "token first": token_first,
    "in loops": in_loops,
    "both signs": both_signs,
    "by a norm": by_norm,
    "an object with __call__": Differ(),
}


def at(place, apart):
    token, feature = divmod(int(place), apart.shape[-1])
    return {"token": token, "feature": feature}


def signed(*given):
    apart = gap(*given)
    return {"largest": apart.max(), **at(apart.argmax(), apart)}


def post_less_pre(*given):
    apart = -gap(*given)
    return {"largest": apart.max(), **at(apart.argmax(), apart)}


def but(**entries):
    return lambda *given: unraveled(*given) | {name: made(gap(*given)) for name, made in entries.items()}


def with_itself(*given):
    apart = np.abs(block(*given) - block(*given))
    return {"largest": apart.max(), **at(apart.argmax(), apart)}


def exchanged(*given):
    table = unraveled(*given)
    return table | {"token": table["feature"], "feature": table["token"]}


def no_return(*given):
    unraveled(*given)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "signed": Wrong(signed, "sign forgotten"),
    "post less pre": Wrong(post_less_pre, "sign forgotten"),
    "signed, place right": Wrong(but(largest=np.max), "sign forgotten"),
    "mean": Wrong(but(largest=lambda apart: np.abs(apart).mean()), "mean in place of the largest"),
    "root mean square": Wrong(
        but(largest=lambda apart: (apart**2).mean() ** 0.5), "root mean square in place of the largest"
    ),
    "length": Wrong(but(largest=np.linalg.norm), "length in place of the largest"),
    "with itself": Wrong(with_itself, "a block with itself"),
    "exchanged": Wrong(exchanged, "token and feature exchanged"),
    "flat": Wrong(but(feature=lambda apart: np.abs(apart).argmax()), "place in the flattened array"),
    "no place": Wrong(lambda *given: {"largest": unraveled(*given)["largest"]}, None),
    "a number": Wrong(lambda *given: np.abs(gap(*given)).max(), None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda *given: {"largest": 0.0, "token": 0, "feature": 0},
    "ones": lambda *given: {"largest": 1.0, "token": 1, "feature": 1},
    "of x": lambda x, *given: {"largest": np.abs(x).max(), **at(np.abs(x).argmax(), x)},
    "an empty dict": lambda *given: {},
    "x": lambda x, *given: x,
}
