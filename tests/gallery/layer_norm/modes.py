"""Answers to `layer_norm.modes`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def marked(norm, training, B, T, b, t):
    found = np.zeros((B, T), dtype=bool)
    found[b, t] = True
    if norm == "sequence":
        found[b, :] = True
    elif norm == "batch" and training:
        found[:, :] = True
    return found


def in_loops(norm, training, B, T, b, t):
    def hears(item, position):
        if norm == "layer" or (norm == "batch" and not training):
            return (item, position) == (b, t)
        return norm == "batch" or item == b

    return np.array([[hears(item, position) for position in range(T)] for item in range(B)])


def by_running(norm, training, B, T, b, t):
    """The norms themselves, on random tokens before the change and after it."""
    x = np.random.default_rng(0).normal(size=(B, T, 4))
    changed = x.copy()
    changed[b, t] += [1.0, -2.0, 0.5, 3.0]

    def run(x):
        if norm == "batch" and not training:
            return (x - 0.1) / 1.2
        axes = {"layer": -1, "sequence": (1, 2), "batch": (0, 1)}[norm]
        return (x - x.mean(axes, keepdims=True)) / x.std(axes, keepdims=True)

    return (run(changed) != run(x)).any(axis=-1)


def by_broadcasting(norm, training, B, T, b, t):
    item, position = np.arange(B)[:, None] == b, np.arange(T) == t
    shared = {"layer": item & position, "sequence": item | np.zeros(T, bool), "batch": item & position}
    return shared[norm] | (training and norm == "batch")


def as_integers(*given):
    return marked(*given).astype(np.int64)


class Moved:
    def __call__(self, *given):
        return in_loops(*given)


RIGHT: dict[str, Answer] = {
    "marked": marked,
    "in loops": in_loops,
    "by running": by_running,
    "by broadcasting": by_broadcasting,
    "as integers": as_integers,
    "an object with __call__": Moved(),
    "a lambda": lambda norm, training, B, T, b, t: marked(norm, training, B, T, b, t) > 0,
}


def but(applies, change):
    def answer(norm, training, B, T, b, t):
        found = marked(norm, training, B, T, b, t)
        if applies(norm, training):
            change(found, b, t)
        return found

    return answer


def everything(found, b, t):
    found[...] = True


def nothing(found, b, t):
    found[...] = False


def itself(found, b, t):
    found[...] = False
    found[b, t] = True


def its_item(found, b, t):
    found[...] = False
    found[b] = True


def its_position(found, b, t):
    found[...] = False
    found[:, t] = True


def not_the_past(found, b, t):
    found[b, :t] = False


def is_batch_in_training(norm, training):
    return norm == "batch" and training


def exchanged(norm, training, B, T, b, t):
    return marked(norm, training, T, B, t, b)


def no_return(*given):
    marked(*given)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "batch in evaluation": Wrong(
        but(lambda norm, training: norm == "batch" and not training, everything),
        "batch norm listens in evaluation too",
    ),
    "batch in its item": Wrong(but(is_batch_in_training, its_item), "batch norm within its item"),
    "batch by position": Wrong(but(is_batch_in_training, its_position), "batch norm position by position"),
    "itself alone": Wrong(but(lambda norm, training: True, itself), "no token hears another"),
    "layer in its item": Wrong(
        but(lambda norm, training: norm == "layer", its_item), "layer norm over the sequence"
    ),
    "layer by position": Wrong(
        but(lambda norm, training: norm == "layer", its_position), "layer norm over the batch"
    ),
    "no past": Wrong(but(lambda norm, training: norm == "sequence", not_the_past), "the past can't hear"),
    "sequence at rest": Wrong(
        but(lambda norm, training: norm == "sequence" and not training, itself),
        "sequence norm at rest in evaluation",
    ),
    "nothing in evaluation": Wrong(
        but(lambda norm, training: not training, nothing), "nothing moves in evaluation"
    ),
    "(T, B)": Wrong(exchanged, None),
    "the others": Wrong(lambda *given: ~marked(*given), None),
    "a count": Wrong(lambda *given: marked(*given).sum(), None),
}

TRIVIAL: dict[str, Answer] = {
    "all": lambda norm, training, B, T, b, t: np.ones((B, T), bool),
    "none": lambda norm, training, B, T, b, t: np.zeros((B, T), bool),
    "itself": lambda norm, training, B, T, b, t: marked("layer", True, B, T, b, t),
    "its item": lambda norm, training, B, T, b, t: marked("sequence", True, B, T, b, t),
    "a number": lambda *given: 1,
}

_ZEROS = "moved: hears = np.zeros((B, T), bool) → hears = np.zeros((B, T), {}) #1"
EQUIVALENT = dict.fromkeys((_ZEROS.format(""), _ZEROS.format("None")), "0 and 1 are False and True")
