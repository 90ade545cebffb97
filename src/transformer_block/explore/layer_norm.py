"""Layer norm of one token: move its features, see what comes out and what is lost."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer_block._stage_formulas import number, vector
from transformer_block.explore._element import Explorable
from transformer_block.in_numpy.layer_norm import layer_norm, statistics

_MAX_FEATURES = 8
_HEAD = ("Token", "Features", "Mean", "Variance", "After layer norm", "Variance after")


def explore_layer_norm(
    token: Sequence[float] | Float[np.ndarray, "D"], eps: float = 1e-5
) -> Explorable:
    """Move the features of a token and see its layer norm, without scale and shift.

    y = (x − mean) / √(variance + eps)

    Without a script, the token stands there as it is, shifted, and scaled.

    Raises: ValueError for fewer than two features or more than eight, or an eps of 0.
    """
    x = np.array(token, dtype=np.float64).round(3)
    if not 2 <= x.size <= _MAX_FEATURES:
        raise ValueError(
            f"a token of 2 to {_MAX_FEATURES} features is explored; got shape {x.shape}"
        )
    if not eps > 0:
        raise ValueError(f"eps must lie above 0; got {eps}")
    examples = {
        "as given": x,
        "all + 100": x + 100,
        "all × 100": x * 100,
        "all ÷ 100": x / 100,
    }
    return Explorable(
        "layer_norm",
        "Layer norm of one token",
        _HEAD,
        [_row(name, each, eps) for name, each in examples.items()],
        {"token": x.tolist(), "eps": eps},
    )


def _row(name: str, x: np.ndarray, eps: float) -> tuple[str, ...]:
    mean, variance = (each.item() for each in statistics(x))
    y = layer_norm(x, eps=eps)
    return (
        name,
        vector(x),
        number(mean),
        f"{variance:.6f}",
        vector(y),
        f"{y.var():.6f}",
    )
