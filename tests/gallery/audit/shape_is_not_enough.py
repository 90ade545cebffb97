"""Answers to `audit.shape_is_not_enough`: tests, of which good ones tell right blocks from others."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def close(one, other):
    return np.allclose(one, other, rtol=0, atol=1e-5)


def hidden_places(x):
    hidden = np.zeros(x.shape[:2], dtype=bool)
    for b in range(len(x)):
        hidden[b, 1 + b % (x.shape[1] - 2)] = True
    return hidden


def random_last(block, x):
    other = x.copy()
    other[:, -1] = np.random.default_rng(5).normal(size=other[:, -1].shape)
    return close(block(other)[:, :-1], block(x)[:, :-1])


def shorter(block, x):
    whole = block(x)
    return all(close(block(x[:, :t]), whole[:, :t]) for t in (1, 3, x.shape[1] - 1))


def one_alone(block, x):
    return close(block(x[1:2]), block(x)[1:2])


def hides(block, x, hidden=None):
    hidden = hidden_places(x) if hidden is None else hidden
    other = x.copy()
    other[hidden] = np.random.default_rng(3).normal(size=other[hidden].shape)
    return close(block(other, ~hidden)[~hidden], block(x, ~hidden)[~hidden])


def finite_rows(block, x):
    return np.isfinite(block(x, np.zeros(x.shape[:2], bool))).all()


def single(block, x):
    return block(np.float32(x)).dtype == np.float32


PARTS = (random_last, shorter, one_alone, hides, finite_rows, single)


def without(*left_out, more=()):
    kept = [part for part in PARTS if part not in left_out] + list(more)
    return lambda block, x: all(part(block, x) for part in kept)


whole = without()


def asserts(block, x):
    rng, y = np.random.default_rng(0), block(x)
    B, T, _ = x.shape
    np.testing.assert_allclose(block(x), y, atol=1e-5)
    for t in (1, 2, T - 1):
        np.testing.assert_allclose(block(x[:, :t]), y[:, :t], atol=1e-5)
    np.testing.assert_allclose(block(x[::-1])[::-1], y, atol=1e-5)
    np.testing.assert_allclose(block(x[1:]), y[1:], atol=1e-5)
    for b in range(B):
        visible = np.ones((B, T), dtype=bool)
        visible[b, 2] = False
        other = x.copy()
        other[b, 2] += rng.normal(size=x.shape[2])
        moved = np.abs(block(other, visible) - block(x, visible)).max(-1)
        assert moved[visible].max() < 1e-5
    visible[:] = False
    assert np.isfinite(block(x, visible)).all()
    assert block(x.astype(np.float32)).dtype == "float32"


def by_one_reference_call(block, x):
    """Pads each sequence with tokens of its own and compares with the part alone."""
    B, T, D = x.shape
    rng = np.random.default_rng(8)
    for b, length in enumerate((2, 3, 4)):
        part = x[b : b + 1, :length]
        alone = block(part)
        batch = rng.normal(size=(B, T, D)).astype(x.dtype)
        batch[b, :length] = part
        visible = rng.random((B, T)) < 0.5
        visible[b] = np.arange(T) < length
        gaps = [block(batch)[b, :length] - alone[0], block(batch, visible)[b, :length] - alone[0]]
        if not np.abs(gaps).max() < 2e-5:
            return False
    return hides(block, x) and finite_rows(block, x) and single(block, x)


def counts_faults(block, x):
    return sum(not part(block, x) for part in PARTS) == 0


def of_its_own_tokens(block, x):
    tokens = np.random.default_rng(4).normal(size=(3, 6, x.shape[2])).astype(x.dtype)
    return bool(whole(block, tokens))


class Keeps:
    def __call__(self, block, x):
        return np.bool_(whole(block, x))


RIGHT: dict[str, Answer] = {
    "the whole list": whole,
    "asserts": asserts,
    "a part alone and in a batch": by_one_reference_call,
    "counts what is broken": counts_faults,
    "tokens of its own": of_its_own_tokens,
    "an object with __call__": Keeps(),
    "shorter sequences in place of other tokens": without(random_last),
    "sequences told apart by what they hide": without(one_alone),
    "a lambda": lambda block, x: 1 if whole(block, x) else 0,
}


def bits(block, x):
    other = x.copy()
    other[:, -1] = np.random.default_rng(5).normal(size=other[:, -1].shape)
    return np.array_equal(block(other)[:, :-1], block(x)[:, :-1]) and whole(block, x)


def everywhere(block, x):
    hidden = hidden_places(x)
    other = np.where(hidden[..., None], -x, x)
    return close(block(other, ~hidden), block(x, ~hidden)) and without(hides)(block, x)


def constant(block, x):
    other = x.copy()
    other[:, -1] += 100
    return np.abs(block(other)[:, :-1] - block(x)[:, :-1]).max() < 1e-3


def same_mask(block, x):
    hidden = np.zeros(x.shape[:2], bool)
    hidden[:, 2] = True
    return hides(block, x, hidden)


def forgets(block, x):
    whole(block, x)


WRONG: dict[str, Wrong] = {
    "the same bits": Wrong(bits, "asks for the same bits"),
    "hidden outputs too": Wrong(everywhere, "compares hidden outputs"),
    "causal alone": Wrong(random_last, "causality alone"),
    "adds 100": Wrong(without(random_last, shorter, more=(constant,)), "a change that the norm takes away"),
    "one length": Wrong(without(shorter), "one length"),
    "the same mask": Wrong(without(hides, more=(same_mask,)), "one mask for all"),
    "never hides": Wrong(without(hides, finite_rows), "never hides a token"),
    "no empty row": Wrong(without(finite_rows), "no row without a key"),
    "one dtype": Wrong(without(single), "one dtype"),
    "asks twice": Wrong(lambda block, x: close(block(x), block(x)), "asks twice and no more"),
    "turned over": Wrong(lambda block, x: not whole(block, x), "True and False exchanged"),
    "forgets to return": Wrong(forgets, "accepts every block"),
    "the shape": Wrong(lambda block, x: block(x).shape == x.shape, "accepts every block"),
    "rejects": Wrong(lambda block, x: False, "rejects every block"),
    "an array": Wrong(lambda block, x: np.isclose(block(x), block(x)), None),
}

TRIVIAL: dict[str, Answer] = {
    "accepts": lambda block, x: True,
    "rejects": lambda block, x: False,
    "has the shape": lambda block, x: block(x).shape == x.shape,
    "is finite": lambda block, x: bool(np.isfinite(block(x)).all()),
    "a coin": lambda block, x: bool(np.random.default_rng(0).random() < 0.5),
    "returns None": lambda block, x: None,
}
