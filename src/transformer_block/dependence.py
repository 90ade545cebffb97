"""Which output position depends on which input position: by changing, and by gradients.

Nothing here knows a block. What is measured comes as a function of arrays, so that one
measurement serves both twins and models that are not ours. Row t of a table is output
position t, column s is input position s, and an exact 0 says that t did not hear s.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from transformer_block._invariants import require_at_least, require_shape


def by_perturbation(
    function: Callable[[np.ndarray], np.ndarray],
    x: Float[np.ndarray, "*B S D"],
    *,
    scale: float = 1.0,
    seed: int = 0,
) -> Float[np.ndarray, "*B T S"]:
    """Change one input position at a time, at random; see how far each output moves.

    moved[t, s] = max over features of |f(x + δ) − f(x)| at t, with δ ≠ 0 at s alone

    function maps x to an array (..., T, features) behind the same batch axes. δ is
    normal noise times scale, drawn anew for each position and batch item: a constant
    shift of all features would be lost in a layer norm. All items of a batch change at
    once, so a function that mixes them shows the mixture.

    Raises: ValueError for an output that is not finite, or whose batch axes or shape
    change.
    """
    rng = np.random.default_rng(seed)
    before = _require_finite(function(x))
    require_shape("the function's batch", before[..., 0, 0], x.shape[:-2])
    columns = []
    for position in range(x.shape[-2]):
        changed = x.copy()
        noise = rng.normal(scale=scale, size=x[..., position, :].shape)
        changed[..., position, :] += noise.astype(x.dtype)
        after = _require_finite(function(changed))
        require_shape("the function's output", after, before.shape)
        columns.append(np.abs(after - before).max(axis=-1))
    return np.stack(columns, axis=-1)


def by_gradient(
    backward: Callable[[np.ndarray], np.ndarray],
    y: Float[np.ndarray, "*B T D"],
    *,
    seed: int = 0,
) -> Float[np.ndarray, "*B T S"]:
    """Send a random gradient into one output position at a time; see where it arrives.

    arrived[t, s] = max over features of |∂(g · y_t) / ∂x_s| with random g

    backward is the vector–Jacobian product at y, the value of a function: it maps a
    gradient shaped as y to one by the input (..., S, features). A gradient speaks for
    the neighborhood of one input. Where a ReLU is off or a weight has underflowed it is
    0, and the output may still hear that position elsewhere.

    Raises: ValueError for a gradient that is not finite, or whose batch axes are not
    those of y.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for position in range(y.shape[-2]):
        dy = np.zeros_like(y)
        dy[..., position, :] = rng.normal(size=y[..., position, :].shape)
        dx = _require_finite(backward(dy))
        require_shape("the gradient's batch", dx[..., 0, 0], y.shape[:-2])
        rows.append(np.abs(dx).max(axis=-1))
    return np.stack(rows, axis=-2)


def reachable(
    visible: Bool[np.ndarray, "*B T T"], n_layers: int = 1
) -> Bool[np.ndarray, "*B T T"]:
    """Say what each position can hear through blocks that share one mask.

    reach = (I ∨ visible)^L, with ∨ for sums and ∧ for products

    The residual stream adds I: a position hears itself even where its mask hides it. In
    each further block it hears what those that it sees have heard.

    Raises: ValueError for n_layers below 1.
    """
    require_at_least("n_layers", n_layers, 1)
    step = visible | np.eye(visible.shape[-1], dtype=bool)
    reach = step
    for _ in range(n_layers - 1):
        reach = step @ reach
    return reach


def _require_finite(values: np.ndarray) -> np.ndarray:
    """A comparison with a NaN is always false, and would pass for no dependence."""
    faults = int((~np.isfinite(values)).sum())
    if faults:
        raise ValueError(f"{faults} of {values.size} values are not finite")
    return values
