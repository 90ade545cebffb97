"""Blocks that do what no block should: an audit must outlive all of them."""

import os
import sys
import time

import numpy as np


def raises(x):
    raise RuntimeError("no block today\nand a second line")


def sleeps(x):
    time.sleep(3600)


def returns_none(x):
    return None


def returns_words(x):
    return "a block"


def returns_another_rank(x):
    return x[0]


def returns_integers(x):
    return x.astype(int)


def returns_nan(x):
    return x * np.nan


def exits(x):
    sys.exit(7)


def ends_the_process(x):
    os._exit(5)


def kills_itself(x):
    os.kill(os.getpid(), 9)


def floods(x):
    for _ in range(20_000):
        sys.stdout.write("x" * 100)
        sys.stderr.write("y" * 100)
    return x


SAYS = {
    raises: "RuntimeError: no block today",
    sleeps: "the block gave no answer in 0.5 s",
    returns_none: "Nonsense: returned None, not an array",
    returns_words: "Nonsense: returned str, not an array",
    returns_another_rank: "Nonsense: returned shape (7, 8) for an input of (3, 7, 8)",
    returns_integers: "Nonsense: returned int64, which is no floating dtype",
    returns_nan: "344 outputs are NaN or infinite on ordinary tokens",
    exits: "the block ended its process with status 7",
    ends_the_process: "the block ended its process with status 5",
    kills_itself: "the block was ended by SIGKILL",
}
