"""Answers to `cache.agrees`: tests, of which good ones tell right cached blocks from others."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def gap(block, x, lengths):
    return np.abs(block(x, np.array(lengths)) - block(x))


def uneven(block, x):
    return gap(block, x, [2, 1, 3, x.shape[1] - 6]).max() < 1e-5


def asserts(block, x):
    whole = block(x)
    for lengths in ([1] * x.shape[1], [3, x.shape[1] - 3], [2, 2, 2, x.shape[1] - 6]):
        np.testing.assert_allclose(block(x, np.array(lengths)), whole, atol=2e-5)


def every_split(block, x):
    T = x.shape[1]
    return all(np.allclose(block(x, np.array([s, T - s])), block(x), atol=1e-5) for s in range(1, T))


def random_lengths(block, x):
    rng, T = np.random.default_rng(4), x.shape[1]
    whole = block(x)
    for _ in range(12):
        cuts = np.sort(rng.choice(np.arange(1, T), size=3, replace=False))
        lengths = np.diff([0, *cuts, T])
        if not np.allclose(block(x, lengths), whole, rtol=0, atol=1e-5):
            return False
    return True


def of_its_own(block, x):
    """Longer sequences than those given, and more of them."""
    tokens = np.random.default_rng(9).normal(size=(4, 12, x.shape[2])).astype(x.dtype)
    for lengths in ([5, 4, 3], [1] * 12):
        if gap(block, tokens, lengths).max() > 3e-5:
            return np.bool_(False)
    return np.bool_(True)


def one_after_the_other(block, x):
    largest = 0.0
    for lengths in ([1, 2, 1, 2, x.shape[1] - 6], [4, 1, x.shape[1] - 5]):
        y, whole = block(x, np.array(lengths)), block(x)
        for n in range(x.shape[0]):
            for t in range(x.shape[1]):
                largest = max(largest, float(np.linalg.norm(y[n, t] - whole[n, t])))
    return 1 if largest < 3e-5 else 0


class Agrees:
    tolerance = 1e-5

    def __call__(self, block, x):
        lengths = np.array([3, 2, 1, x.shape[1] - 6], dtype=np.int32)
        return bool((np.abs(block(x, lengths) - block(x)) < self.tolerance).all())


RIGHT: dict[str, Answer] = {
    "uneven chunks": uneven,
    "asserts": asserts,
    "every split in two": every_split,
    "random lengths": random_lengths,
    "sequences of its own": of_its_own,
    "one after the other": one_after_the_other,
    "an object with a method": Agrees(),
}


def exactly(block, x):
    return np.array_equal(block(x, np.array([2, 1, 3, x.shape[1] - 6])), block(x))


def nearly_exactly(block, x):
    np.testing.assert_allclose(block(x, np.array([1, 3, 2, x.shape[1] - 6])), block(x), rtol=0, atol=1e-10)


def ones(block, x):
    return gap(block, x, [1] * x.shape[1]).max() < 1e-4


def ones_asserted(block, x):
    assert np.allclose(block(x, np.ones(x.shape[1], dtype=int)), block(x), atol=1e-5)


def prompt(block, x):
    return gap(block, x, [4] + [1] * (x.shape[1] - 4)).max() < 1e-5


def half_a_prompt(block, x):
    half = x.shape[1] // 2
    return np.allclose(block(x, np.array([half] + [1] * (x.shape[1] - half))), block(x), atol=1e-5)


def first_sequence(block, x):
    return gap(block, x[:1], [2, 1, 3, x.shape[1] - 6]).max() < 1e-5


def first_of_the_outputs(block, x):
    return gap(block, x, [2, 1, 3, x.shape[1] - 6])[0].max() < 1e-5


def last_output(block, x):
    return gap(block, x, [2, 1, 3, x.shape[1] - 6])[:, -1].max() < 1e-5


def loose(block, x):
    return np.allclose(block(x, np.array([2, 1, 3, x.shape[1] - 6])), block(x), atol=0.3, rtol=0)


def turned(block, x):
    return gap(block, x, [3, 3, x.shape[1] - 6]).max() > 1e-5


def forgets(block, x):
    """It compares and does not say so."""
    np.allclose(block(x, np.array([2, 1, 3, x.shape[1] - 6])), block(x))


def early_chunks(block, x):
    return gap(block, x, [2, 1, x.shape[1] - 3]).max() < 1e-6


def two_chunks(block, x):
    return gap(block, x, [2, 2, x.shape[1] - 4]).max() < 1e-5


WRONG: dict[str, Wrong] = {
    "the same bits": Wrong(exactly, "asks for the same bits"),
    "a tolerance of 1e-10": Wrong(nearly_exactly, "asks for the same bits"),
    "one by one": Wrong(ones, "one token at a time alone"),
    "one by one, asserted": Wrong(ones_asserted, "one token at a time alone"),
    "a prompt first": Wrong(prompt, "a prompt, then one token at a time"),
    "half of it first": Wrong(half_a_prompt, "a prompt, then one token at a time"),
    "the chunks of the example": Wrong(early_chunks, "no chunk behind many tokens"),
    "four held": Wrong(two_chunks, "no chunk behind many tokens"),
    "the first sequence": Wrong(first_sequence, "looks at the first sequence alone"),
    "the first of the outputs": Wrong(first_of_the_outputs, "looks at the first sequence alone"),
    "the last output": Wrong(last_output, "looks at the last output alone"),
    "a loose tolerance": Wrong(loose, "too wide a tolerance"),
    "turned over": Wrong(turned, "True and False exchanged"),
    "forgets to return": Wrong(forgets, "accepts every block"),
    "rejects": Wrong(lambda block, x: False, "rejects every block"),
}

TRIVIAL: dict[str, Answer] = {
    "accepts": lambda block, x: True,
    "rejects": lambda block, x: False,
    "has the shape": lambda block, x: block(x).shape == x.shape,
    "is finite": lambda block, x: bool(np.isfinite(block(x)).all()),
    "answers twice alike": lambda block, x: bool((block(x) == block(x)).all()),
    "a coin": lambda block, x: bool(np.random.default_rng(0).random() < 0.5),
}
