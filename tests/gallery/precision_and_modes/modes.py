"""Answers to `precision_and_modes.modes`: classes."""

import torch
from torch import nn
from torch.nn import functional

from block_course.diagnosis import NO_RETURN
from tests.gallery.answers import Answer, Wrong


class Parts(nn.Module):
    """The two maps and their dropouts; no mode is looked after."""

    def __init__(self, d_model, rate):
        super().__init__()
        self.body, self.head = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.body_drop, self.head_drop = nn.Dropout(rate), nn.Dropout(rate)

    def forward(self, x):
        h = x + self.body_drop(self.body(x))
        return h + self.head_drop(self.head(h))


class NoDropoutOnTheBody(Parts):
    def forward(self, x):
        h = x + self.body(x)
        return h + self.head_drop(self.head(h))


class QuietedByTrain(Parts):
    def train(self, mode=True):
        super().train(mode)
        self.body_drop.eval()
        return self


class QuietedEachTime(Parts):
    def forward(self, x):
        self.body_drop.eval()
        return super().forward(x)


class ByFunction(Parts):
    def __init__(self, d_model, rate):
        super().__init__(d_model, rate)
        self.rate = rate

    def forward(self, x):
        h = x + functional.dropout(self.body(x), self.rate, training=False)
        return h + functional.dropout(self.head(h), self.rate, self.training)


class Whole(nn.Linear):
    """A linear map with dropout behind it, in one module."""

    def __init__(self, width, rate):
        super().__init__(width, width)
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.drop(super().forward(x))


class OfWholeParts(nn.Module):
    def __init__(self, d_model, rate):
        super().__init__()
        self.body, self.head = Whole(d_model, rate), Whole(d_model, rate)

    def train(self, mode=True):
        super().train(mode)
        self.body.train(False)
        return self

    def forward(self, x):
        h = self.body(x) + x
        return torch.add(self.head(h), h)


class Deaf(nn.Dropout):
    """Dropout that no mode reaches."""

    def train(self, mode=True):
        return super().train(False)


class WithDeafDropout(Parts):
    def __init__(self, d_model, rate):
        super().__init__(d_model, rate)
        self.body_drop = Deaf(rate).eval()


class ForgetsItself(Parts):
    def train(self, mode=True):
        super().train(mode)
        self.body_drop.eval()


RIGHT: dict[str, Answer] = {
    "no dropout on the body": NoDropoutOnTheBody,
    "train overridden": QuietedByTrain,
    "quieted each time": QuietedEachTime,
    "by function": ByFunction,
    "parts with dropout inside": OfWholeParts,
    "a dropout that no mode reaches": WithDeafDropout,
    "a function that builds it": lambda d_model, rate: QuietedByTrain(d_model, rate),
    "train returns nothing": ForgetsItself,
}


def parts(forward):
    """A class with another forward pass."""
    return type("Changed", (Parts,), {"forward": forward})


class QuietedOnce(Parts):
    def __init__(self, d_model, rate):
        super().__init__(d_model, rate)
        self.body_drop.eval()


class AllQuiet(Parts):
    def train(self, mode=True):
        return super().train(False)


class HeadQuiet(Parts):
    def train(self, mode=True):
        super().train(mode)
        self.head_drop.eval()
        return self


class Frozen(Parts):
    def __init__(self, d_model, rate):
        super().__init__(d_model, rate)
        self.body.requires_grad_(False)


def no_return(self, x):
    self.head_drop(self.head(x + self.body(x)))


def without_gradients(self, x):
    with torch.no_grad():
        update = self.body(x)
    h = x + update
    return h + self.head_drop(self.head(h))


def detached(self, x):
    h = x + self.body(x).detach()
    return h + self.head_drop(self.head(h))


def without_skip(self, x):
    h = self.body(x)
    return h + self.head_drop(self.head(h))


def reads_x(self, x):
    return x + self.body(x) + self.head_drop(self.head(x))


def always_drops(self, x):
    h = x + self.body(x)
    return h + functional.dropout(self.head(h), self.head_drop.p)


def one_add(self, x):
    return self.head_drop(self.head(x + self.body(x)))


WRONG: dict[str, Wrong] = {
    "no return": Wrong(parts(no_return), NO_RETURN),
    "no care": Wrong(Parts, "body follows the mode"),
    "eval in the constructor": Wrong(QuietedOnce, "body follows the mode"),
    "frozen, not quiet": Wrong(Frozen, "body follows the mode"),
    "all quiet": Wrong(AllQuiet, "nothing drops"),
    "the head quiet": Wrong(HeadQuiet, "parts exchanged"),
    "no_grad": Wrong(parts(without_gradients), "body without gradients"),
    "detached": Wrong(parts(detached), "body without gradients"),
    "no skip": Wrong(parts(without_skip), "no skip around the body"),
    "parallel": Wrong(parts(reads_x), "head reads x"),
    "drops in evaluation": Wrong(parts(always_drops), None),
    "no skip around the head": Wrong(parts(one_add), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": parts(lambda self, x: x),
    "twice x": parts(lambda self, x: 2 * x),
    "zeros": parts(lambda self, x: 0 * x),
    "a linear map": parts(lambda self, x: self.body(x)),
}
