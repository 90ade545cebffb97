"""Answers to `residual.add`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def compared(x, update):
    if x.shape == update.shape:
        return True, x + update
    return False, x


def one_line(x, update):
    return (fits := x.shape == update.shape), x + update if fits else x.copy()


def axis_by_axis(x, update):
    fits = x.ndim == update.ndim and all(a == b for a, b in zip(x.shape, update.shape, strict=True))
    out = np.array(x)
    if fits:
        np.add(out, update, out=out)
    return [fits, out]


def as_bool_array(x, update):
    fits = np.array_equal(x.shape, update.shape)
    return np.bool_(fits), np.add(x, update) if fits else x


def entry_by_entry(x, update):
    if np.shape(x) != np.shape(update):
        return 0 == 1, x
    out = np.empty_like(x)
    for where in np.ndindex(x.shape):
        out[where] = x[where] + update[where]
    return 0 == 0, out


class Add:
    def __call__(self, x, update):
        return compared(x, update)


RIGHT: dict[str, Answer] = {
    "compared": compared,
    "one line": one_line,
    "axis by axis": axis_by_axis,
    "as a bool of NumPy's": as_bool_array,
    "entry by entry": entry_by_entry,
    "an object with __call__": Add(),
    "a lambda": lambda x, update: (True, update + x) if update.shape == x.shape else (False, x),
}


def tried(x, update):
    try:
        total = x + update
    except ValueError:
        return False, x
    return total.shape == x.shape, total if total.shape == x.shape else x


def when(condition):
    return lambda x, update: (True, x + update) if condition(x, update) else (False, x)


def in_place(x, update):
    if x.shape != update.shape:
        return False, x
    x += update
    return True, x


def always_double(x, update):
    fits, out = compared(x, update)
    return fits, out.astype(float)


def appended(x, update):
    fits = x.shape == update.shape
    return fits, np.concatenate([x, update], axis=-1) if fits else x


def stretching(x, update):
    try:
        return np.broadcast_to(update, x.shape).shape == x.shape
    except ValueError:
        return False


def counted(x, update):
    return (True, x + update.reshape(x.shape)) if x.size == update.size else (False, x)


def no_return(x, update):
    compared(x, update)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "tried": Wrong(tried, "whatever NumPy can stretch fits"),
    "last axis": Wrong(
        when(lambda x, update: x.shape[-1] == update.shape[-1] and stretching(x, update)), "last axis alone"
    ),
    "axes counted": Wrong(
        when(lambda x, update: x.ndim == update.ndim and stretching(x, update)), "number of axes alone"
    ),
    "entries counted": Wrong(counted, "number of entries"),
    "the update": Wrong(
        lambda x, update: (True, update) if x.shape == update.shape else (False, x),
        "update in place of the sum",
    ),
    "appended": Wrong(appended, "appended"),
    "never added": Wrong(lambda x, update: (x.shape == update.shape, x), "never added"),
    "turned over": Wrong(lambda x, update: (x.shape != update.shape, compared(x, update)[1]), "turned over"),
    "in place": Wrong(in_place, None),
    "always float64": Wrong(always_double, None),
    "the sum alone": Wrong(lambda x, update: compared(x, update)[1], None),
    "raises": Wrong(lambda x, update: (True, x + update), None),
    "zeros where it doesn't fit": Wrong(
        lambda x, update: (True, x + update) if x.shape == update.shape else (False, 0 * x), None
    ),
}

TRIVIAL: dict[str, Answer] = {
    "False": lambda x, update: (False, x),
    "True": lambda x, update: (True, x),
    "zeros": lambda x, update: (True, np.zeros_like(x)),
    "the given": lambda x, update: (x, update),
    "noise": lambda x, update: (True, np.random.default_rng(0).normal(size=x.shape)),
}
