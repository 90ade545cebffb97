"""Answers to `precision_and_modes.digits`."""

import math
from fractions import Fraction

import numpy as np

from block_course.diagnosis import NO_RETURN
from tests.gallery.answers import Answer, Wrong


def step_at(value, p):
    return 2.0 ** (math.floor(math.log2(value)) + 1 - p)


def nearest(value, p):
    step = step_at(value, p)
    return round(value / step) * step


def by_rule(value, update, p):
    stored = nearest(value, p)
    heard = nearest(stored + update, p) != stored
    return {
        "digits": p * math.log10(2),
        "step": step_at(value, p),
        "stored": stored,
        "heard": "yes" if heard else "no",
    }


def by_doubling(value, update, p):
    power = 1.0
    while power <= value:
        power *= 2
    table = by_rule(value, update, p)
    return table | {"step": power / 2**p, "digits": -np.log10(0.5**p)}


def in_fractions(value, update, p):
    def put(number):
        whole, e = Fraction(number), 0
        while Fraction(2) ** e <= whole:
            e += 1
        while Fraction(2) ** (e - 1) > whole:
            e -= 1
        step = Fraction(2) ** (e - p)
        return round(whole / step) * step, step

    stored, step = put(value)
    after, _ = put(stored + Fraction(update))
    said = "no" if after == stored else "yes"
    digits = math.log(2**p, 10)
    return {"heard": said, "stored": float(stored), "step": float(step), "digits": digits}


def by_half_a_step(value, update, p):
    table = by_rule(value, update, p)
    half = step_at(table["stored"], p) / 2
    odd = round(table["stored"] / (2 * half)) % 2 == 1
    heard = update > half or (update == half and odd)
    return table | {"heard": ["no", "yes"][heard]}


def with_numpy(value, update, p):
    digits = np.log10(2.0**p)
    _, e = np.frexp(value)
    step = np.ldexp(1.0, e - p)
    stored = np.rint(value / step) * step
    return by_rule(value, update, p) | {"digits": digits, "step": step, "stored": stored}


class Format:
    def __call__(self, value, update, p):
        return by_rule(value, update, p)


RIGHT: dict[str, Answer] = {
    "in fractions that stay so": lambda *given: {
        name: each if isinstance(each, str) else Fraction(each) for name, each in in_fractions(*given).items()
    },
    "by the rule": by_rule,
    "by doubling": by_doubling,
    "in fractions": in_fractions,
    "by half a step": by_half_a_step,
    "with NumPy": with_numpy,
    "an object with __call__": Format(),
    "a lambda": lambda *given: by_rule(*given) | {"more": 1},
}


def no_return(value, update, p):
    by_rule(value, update, p)


def changed(change):
    return lambda value, update, p: by_rule(value, update, p) | change(value, update, p)


def said(heard):
    return {"heard": "yes" if heard else "no"}


def cut(value, p):
    return math.floor(value / step_at(value, p)) * step_at(value, p)


def cut_off(value, update, p):
    stored = cut(value, p)
    return {"stored": stored} | said(nearest(stored + update, p) != stored)


def stored_step(value, p):
    return step_at(nearest(value, p), p)


WRONG: dict[str, Wrong] = {
    "no return": Wrong(no_return, NO_RETURN),
    "bits": Wrong(changed(lambda value, update, p: {"digits": p}), "bits for digits"),
    "eps": Wrong(changed(lambda value, update, p: {"step": 2.0 ** (1 - p)}), "the step at 1"),
    "one bit missing": Wrong(
        changed(lambda value, update, p: {"step": 2 * step_at(value, p)}), "a bit too few"
    ),
    "floor": Wrong(changed(cut_off), "cut off"),
    "not stored": Wrong(changed(lambda value, update, p: {"stored": value}), "value as it is"),
    "a whole step": Wrong(
        changed(lambda value, update, p: said(update >= stored_step(value, p))), "heard from a whole step on"
    ),
    "a tie counts": Wrong(
        changed(lambda value, update, p: said(update >= stored_step(value, p) / 2)), "a tie is heard"
    ),
    "the earlier step": Wrong(
        changed(lambda value, update, p: said(update > step_at(value, p) / 2)),
        "the step of the number before it was stored",
    ),
    "the value, not what is stored": Wrong(
        changed(lambda value, update, p: said(nearest(value + update, p) != nearest(value, p))),
        "added to the value before it was stored",
    ),
    "all heard": Wrong(changed(lambda *given: {"heard": "yes"}), "always heard"),
    "nothing heard": Wrong(changed(lambda *given: {"heard": "no"}), None),
    "True and False": Wrong(changed(lambda *given: {"heard": by_rule(*given)["heard"] == "yes"}), None),
    "natural logarithm": Wrong(changed(lambda value, update, p: {"digits": p * math.log(2)}), None),
    "a tuple": Wrong(lambda *given: tuple(by_rule(*given).values()), None),
}

NAMES = ("digits", "step", "stored", "heard")
TRIVIAL: dict[str, Answer] = {
    "zeros": lambda *given: dict.fromkeys(NAMES, 0.0) | {"heard": "no"},
    "ones": lambda *given: dict.fromkeys(NAMES, 1.0) | {"heard": "yes"},
    "the input": lambda value, update, p: dict(zip(NAMES, (p, update, value, "yes"), strict=True)),
    "an empty dict": lambda *given: {},
}

_AFTER = "after = np.round((stored {} update) / step_there) * step_there"
EQUIVALENT = {
    f"reference: {_AFTER.format('+')} → {_AFTER.format('-')} #1": "half to even rounds the same both ways",
}
