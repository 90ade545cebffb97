"""Answers to `backward.gradient_check`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

H = 1e-6


def drawn(x):
    return np.random.default_rng(3).normal(size=x.shape)


def measured(block, x, dy, h=H):
    """By each entry, all steps in one call as so many items more."""
    steps = h * np.eye(x.size).reshape(-1, *x.shape)
    rows = (x.size, *x.shape)
    up, down = (block((x + s * steps).reshape(-1, *x.shape[1:])).reshape(rows) for s in (1, -1))
    return ((up - down) * dy).sum(axis=(1, 2, 3)).reshape(x.shape) / (2 * h)


def token_by_token(block, x):
    x = x.astype(np.float64)
    dy, slopes = drawn(x), np.zeros(x.shape)
    for b, t in np.ndindex(x.shape[:2]):
        items = np.repeat(x[b : b + 1], 2 * x.shape[-1], axis=0)
        items[:, t] += H * np.concatenate([np.eye(x.shape[-1]), -np.eye(x.shape[-1])])
        up, down = np.split((block(items) * dy[b]).sum(axis=(1, 2)), 2)
        slopes[b, t] = (up - down) / (2 * H)
    return np.allclose(block.gradients(x, dy), slopes, rtol=1e-5, atol=1e-5)


def all_at_once(block, x):
    x = x.astype(np.float64)
    slopes = measured(block, x, drawn(x))
    error = np.abs(slopes - block.gradients(x, drawn(x))).max()
    return error < 1e-5 * max(1, np.abs(slopes).max())


def along_directions(block, x):
    x = x.astype(np.float64)
    rng = np.random.default_rng(0)
    for _ in range(3):
        dy, along = rng.normal(size=x.shape), rng.normal(size=x.shape)
        rise = ((block(x + H * along) - block(x - H * along)) * dy).sum() / (2 * H)
        claimed = block.gradients(x, dy)
        assert abs(rise - (claimed * along).sum()) < 3e-6 * (1 + np.abs(claimed).sum())


def other_tokens(block, x):
    rng = np.random.default_rng(1)
    x = rng.normal(size=x.shape)
    dy = rng.uniform(-1, 1, x.shape)
    claimed = block.gradients(x, dy)
    return np.linalg.norm(claimed - measured(block, x, dy)) < 1e-5 * np.linalg.norm(claimed)


def asserted(block, x):
    x = x.astype(np.float64)
    dy = np.random.default_rng(8).uniform(-2, 2, x.shape)
    np.testing.assert_allclose(block.gradients(x, dy), measured(block, x, dy, 3e-6), 1e-5, 2e-5)


class Judge:
    def __call__(self, block, x):
        return asserted(block, x)


RIGHT: dict[str, Answer] = {
    "token by token": token_by_token,
    "all at once": all_at_once,
    "along directions": along_directions,
    "other tokens": other_tokens,
    "asserted": asserted,
    "an object with __call__": Judge(),
}


def close(block, x, dy, h=H, tolerance=1e-5, where=...):
    gap = block.gradients(x, dy)[where], measured(block, x, dy, h)[where]
    return np.allclose(*gap, rtol=tolerance, atol=tolerance)


def turned(block, x):
    return not all_at_once(block, x)


def comparison_lost(block, x):
    all_at_once(block, x)


def bit_by_bit(block, x):
    return np.array_equal(block.gradients(x, drawn(x)), measured(block, x, drawn(x)))


def in_one_direction(block, x):
    dy = drawn(x)
    rise = ((block(x + H) - block(x - H)) * dy).sum() / (2 * H)
    return abs(rise - block.gradients(x, dy).sum()) < 1e-5


def output_by_output(block, x):
    rise = (block(x + H) - block(x - H)) / (2 * H)
    return np.allclose(rise, block.gradients(x, np.ones_like(x)), rtol=1e-3, atol=1e-4)


WRONG = {
    "turned over": Wrong(turned, "True and False exchanged"),
    "comparison lost": Wrong(comparison_lost, "accepts every block"),
    "shapes": Wrong(lambda block, x: block.gradients(x, drawn(x)).shape == x.shape, "accepts every block"),
    "bit by bit": Wrong(bit_by_bit, "rejects every block"),
    "ones": Wrong(lambda block, x: close(block, x, np.ones_like(x)), "dy of ones"),
    "ones, asserted": Wrong(lambda block, x: close(block, x, x * 0 + 1, h=1e-5), "dy of ones"),
    "a tiny step": Wrong(lambda block, x: close(block, x, drawn(x), h=1e-13), "rejects every block"),
    "a wide step": Wrong(lambda block, x: close(block, x, drawn(x), h=0.2), "step too large"),
    "two digits": Wrong(lambda block, x: close(block, x, drawn(x), tolerance=0.02), "too wide a tolerance"),
    "the first item": Wrong(
        lambda block, x: close(block, x, drawn(x), where=0), "looks at the first item alone"
    ),
    "the first token": Wrong(
        lambda block, x: close(block, x, drawn(x), where=(0, 0)), "looks at one token alone"
    ),
    "outputs one by one": Wrong(output_by_output, "outputs compared one by one"),
    "all entries moved at once": Wrong(in_one_direction, None),
    "asks too often": Wrong(lambda block, x: all(token_by_token(block, x) for _ in range(40)), None),
}

TRIVIAL: dict[str, Answer] = {
    "True": lambda block, x: True,
    "False": lambda block, x: False,
    "None": lambda block, x: None,
    "calls it": lambda block, x: bool(np.isfinite(block(x)).all()),
    "some gradient": lambda block, x: bool(np.abs(block.gradients(x, drawn(x))).max() > 0),
}
