"""Answers to `block.compose`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def three_lines(x, h, y):
    attention = h - x
    feed_forward = y - h
    return attention, feed_forward, x + feed_forward


def from_the_end(x, h, y):
    attention = h - x
    return attention, y - h, y - attention


def in_a_list(x, h, y):
    return [np.subtract(h, x), np.subtract(y, h), np.add(x, np.subtract(y, h))]


def loops(x, h, y):
    outputs = [np.zeros_like(x) for _ in range(3)]
    for where in np.ndindex(x.shape):
        outputs[0][where] = h[where] - x[where]
        outputs[1][where] = y[where] - h[where]
        outputs[2][where] = x[where] + outputs[1][where]
    return tuple(outputs)


def differences(x, h, y):
    attention, feed_forward = np.diff(np.stack([x, h, y]), axis=0)
    return attention, feed_forward, x + y - h


def in_float64(x, h, y):
    wide = [each.astype(np.float64) for each in (x, h, y)]
    return tuple(each.astype(x.dtype) for each in three_lines(*wide))


class ReadOff:
    def __call__(self, x, h, y):
        return three_lines(x, h, y)


RIGHT: dict[str, Answer] = {
    "three lines": three_lines,
    "the misprint from the end": from_the_end,
    "in a list": in_a_list,
    "loops": loops,
    "np.diff": differences,
    "float64 inside": in_float64,
    "an object with __call__": ReadOff(),
    "a lambda": lambda x, h, y: (-(x - h), -(h - y), x - (h - y)),
}


def no_return(x, h, y):
    three_lines(x, h, y)


def in_place(x, h, y):
    y -= h
    h -= x
    return h, y, x + y


WRONG = {
    "from x": Wrong(lambda x, h, y: (h - x, y - x, y - (h - x)), "feed-forward update from x"),
    "from x, twice": Wrong(lambda x, h, y: (h - x, y - x, x + (y - x)), "feed-forward update from x"),
    "turned": Wrong(lambda x, h, y: (x - h, h - y, x + (h - y)), "signs turned"),
    "two turned": Wrong(lambda x, h, y: (x - h, h - y, x + (y - h)), "signs turned"),
    "exchanged": Wrong(lambda x, h, y: (y - h, h - x, x + (y - h)), "updates exchanged"),
    "y": Wrong(lambda x, h, y: (h - x, y - h, y), "misprint is the block"),
    "h": Wrong(lambda x, h, y: (h - x, y - h, x + (h - x)), "misprint keeps attention alone"),
    "no x": Wrong(lambda x, h, y: (h - x, y - h, y - h), "misprint without x"),
    "the stream": Wrong(lambda x, h, y: (h, y, x + (y - h)), "stream in place of updates"),
    "no return": Wrong(no_return, "no return"),
    "in place": Wrong(in_place, None),
    "two outputs": Wrong(lambda x, h, y: (h - x, y - h), None),
    "always float64": Wrong(lambda *given: tuple(e.astype(np.float64) for e in three_lines(*given)), None),
    "stacked": Wrong(lambda *given: np.stack(three_lines(*given)), None),
}

TRIVIAL: dict[str, Answer] = {
    "as given": lambda x, h, y: (x, h, y),
    "zeros": lambda x, h, y: (np.zeros_like(x),) * 3,
    "ones": lambda x, h, y: (np.ones_like(x),) * 3,
    "y three times": lambda x, h, y: (y, y, y),
    "noise": lambda x, h, y: tuple(np.random.default_rng(0).normal(size=(3, *x.shape)).astype(x.dtype)),
}
