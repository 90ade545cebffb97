"""Wrong answers to `masks.is_causal`: tests that see too little, or too much."""

import numpy as np

from tests.gallery.answers import Wrong


def noise(x, at):
    changed = x.copy()
    changed[:, at] += np.random.default_rng(5).normal(size=changed[:, at].shape)
    return changed


def adds_a_hundred(block, x):
    changed = x.copy()
    changed[:, -1] += 100
    return np.allclose(block(changed)[:, :-1], block(x)[:, :-1])


def adds_one_everywhere_in_turn(block, x):
    y = block(x)
    for t in range(1, x.shape[1]):
        changed = x.copy()
        changed[:, t, :] += 1.0
        assert (np.abs(block(changed) - y)[:, :t] < 1e-6).all()


def adds_a_hundred_exactly(block, x):
    changed = x.copy()
    changed[:, -1] += 100.0
    return np.array_equal(block(changed)[:, :-1], block(x)[:, :-1])


def last_alone(block, x):
    return np.allclose(block(noise(x, -1))[:, :-1], block(x)[:, :-1], atol=1e-7)


def last_set_to_zero(block, x):
    changed = x.copy()
    changed[:, -1] = 0
    return bool((block(changed)[:, :-1] == block(x)[:, :-1]).all())


def first_output(block, x):
    return all(np.allclose(block(noise(x, t))[:, 0], block(x)[:, 0]) for t in range(1, x.shape[1]))


def last_heard_by_first(block, x):
    assert np.array_equal(block(noise(x, -1))[:, 0], block(x)[:, 0])


def last_heard_by_its_neighbor(block, x):
    return np.array_equal(block(noise(x, -1))[:, -2], block(x)[:, -2])


def first_item(block, x):
    y = block(x)
    return all((block(noise(x, t))[0, :t] == y[0, :t]).all() for t in range(1, x.shape[1]))


def wide(block, x):
    y = block(x)
    return all(np.allclose(block(noise(x, t))[:, :t], y[:, :t], atol=0.05) for t in range(1, x.shape[1]))


def turned(block, x):
    y = block(x)
    return all((block(noise(x, t))[:, t + 1 :] == y[:, t + 1 :]).all() for t in range(x.shape[1]))


def the_changed_one_too(block, x):
    y = block(x)
    return all((block(noise(x, t))[:, : t + 1] == y[:, : t + 1]).all() for t in range(x.shape[1]))


def past_heard(block, x):
    y = block(x)
    for t in range(x.shape[1]):
        moved = np.abs(block(noise(x, t)) - y).max(-1) > 0
        expected = np.arange(x.shape[1]) >= t
        if not (moved == expected).all():
            return False
    return True


def finds_leaks(block, x):
    y = block(x)
    return any((block(noise(x, t))[:, :t] != y[:, :t]).any() for t in range(1, x.shape[1]))


def not_copied(block, x):
    changed = x
    changed[:, -1] += np.arange(x.shape[-1])
    return np.array_equal(block(changed)[:, :-1], block(x)[:, :-1])


def comparison_lost(block, x):
    for t in range(1, x.shape[1]):
        np.array_equal(block(noise(x, t))[:, :t], block(x)[:, :t])


def everything_still(block, x):
    assert np.allclose(block(noise(x, 2)), block(x))


def middle_and_last(block, x):
    y = block(x)
    middle = x.shape[1] // 2
    return all((block(noise(x, t))[:, :t] == y[:, :t]).all() for t in (middle, x.shape[1] - 1))


def a_mask_of_verdicts(block, x):
    return (block(noise(x, -1)) == block(x)).all(-1)


def twice_its_size(block, x):
    changed = x.copy()
    changed[:, -1] *= 2
    return np.allclose(block(changed)[:, :-1], block(x)[:, :-1], atol=1e-3)


def a_neighbor_in_the_wrong_place(block, x):
    return np.array_equal(block(noise(x, 3))[:, 1], block(x)[:, 1])


def asks_too_often(block, x):
    return all(np.array_equal(block(noise(x, -1))[:, :-1], block(x)[:, :-1]) for _ in range(150))


WRONG = {
    "adds 100 to the last token": Wrong(adds_a_hundred, "a change that the norm takes away"),
    "adds 100, compares exactly": Wrong(adds_a_hundred_exactly, "a change that the norm takes away"),
    "adds 1 to each token in turn": Wrong(adds_one_everywhere_in_turn, "a change that the norm takes away"),
    "noise on the last token": Wrong(last_alone, "changes too few positions"),
    "the last token set to zero": Wrong(last_set_to_zero, "changes too few positions"),
    "the first output": Wrong(first_output, "watches the first output alone"),
    "the first output, the last token": Wrong(last_heard_by_first, "watches the first output alone"),
    "the last token and its neighbor": Wrong(last_heard_by_its_neighbor, "changes too few positions"),
    "the first item": Wrong(first_item, "looks at the first item alone"),
    "a wide tolerance": Wrong(wide, "too wide a tolerance"),
    "later outputs": Wrong(turned, "the direction turned over"),
    "the changed position as well": Wrong(the_changed_one_too, "rejects every block"),
    "every output still": Wrong(everything_still, "rejects every block"),
    "the past must be heard": Wrong(past_heard, "asks that the past is heard"),
    "True for a leak": Wrong(finds_leaks, "True and False exchanged"),
    "no copy": Wrong(not_copied, "accepts every block"),
    "comparison lost": Wrong(comparison_lost, "accepts every block"),
    "two positions": Wrong(middle_and_last, "changes too few positions"),
    "an array of verdicts": Wrong(a_mask_of_verdicts, None),
    "twice its size": Wrong(twice_its_size, "a change that the norm takes away"),
    "one pair alone": Wrong(a_neighbor_in_the_wrong_place, None),
    "asks too often": Wrong(asks_too_often, None),
}
