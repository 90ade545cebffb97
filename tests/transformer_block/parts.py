"""Arrays for the parts of a block, and the gradients that autograd finds for them."""

from collections.abc import Callable

import numpy as np
import torch

from tests.transformer_block.numerics import B, F, K, S, T, normal

# Six heads of queries, of which each two share one of keys and values; D = H · K.
H, G = 6, 3
D = H * K

Arrays = dict[str, np.ndarray | None]


def attention_arrays(groups: int = G, *, bias: bool = True) -> Arrays:
    rows = D + 2 * groups * K
    return {
        "x": normal(1, B, T, D),
        "qkv": normal(2, rows, D) / 2,
        "qkv_bias": normal(3, rows) if bias else None,
        "out": normal(4, D, D),
        "out_bias": normal(5, D) if bias else None,
    }


def cross_attention_arrays(groups: int = G, *, bias: bool = True) -> Arrays:
    rows = 2 * groups * K
    return {
        "x": normal(1, B, T, D),
        "memory": normal(2, B, S, D),
        "q": normal(3, D, D) / 2,
        "q_bias": normal(4, D) if bias else None,
        "kv": normal(5, rows, D) / 2,
        "kv_bias": normal(6, rows) if bias else None,
        "out": normal(7, D, D),
        "out_bias": normal(8, D) if bias else None,
    }


def feed_forward_arrays(*, bias: bool = True) -> Arrays:
    return {
        "x": normal(1, B, T, D),
        "w1": normal(2, F, D),
        "b1": normal(3, F) if bias else None,
        "w2": normal(4, D, F),
        "b2": normal(5, D) if bias else None,
    }


def gate_arrays(*, bias: bool = True) -> Arrays:
    return {"gate": normal(6, F, D), "gate_bias": normal(7, F) if bias else None}


def gains() -> Arrays:
    return {"q_norm": normal(11, K), "k_norm": normal(12, K)}


def some_kept(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < 0.7


def some_visible(seed: int, *shape: int) -> np.ndarray:
    """A random mask in which every query sees the first key, and so at least one."""
    visible = np.random.default_rng(seed).random(shape) < 0.6
    visible[..., 0] = True
    return visible


def tensors(arrays: Arrays, *, requires_grad: bool = False) -> dict[str, torch.Tensor | None]:
    return {
        name: None if array is None else torch.tensor(array, requires_grad=requires_grad)
        for name, array in arrays.items()
    }


def by_autograd(
    part: Callable[..., torch.Tensor], arrays: Arrays, dy: np.ndarray
) -> tuple[np.ndarray, Arrays]:
    """What the part returns for the arrays as named tensors, and the gradients that dy gives them."""
    inputs = tensors(arrays, requires_grad=True)
    y = part(**inputs)
    y.backward(torch.tensor(dy))
    gradients = {name: None if tensor is None else tensor.grad.numpy() for name, tensor in inputs.items()}
    return y.detach().numpy(), gradients


def largest_gap_in_slope(
    loss: Callable[[np.ndarray], float], at: np.ndarray, gradient: np.ndarray, step: float = 1e-6
) -> float:
    """How far a gradient is from central differences along five random directions of length 1.

    Relative to the length of the gradient. For arrays with too many entries to move one at a time.
    """
    gaps = []
    for direction in normal(13, 5, *at.shape):
        direction /= np.linalg.norm(direction)
        measured = (loss(at + step * direction) - loss(at - step * direction)) / (2 * step)
        gaps.append(abs(measured - np.sum(gradient * direction)))
    return max(gaps) / float(np.linalg.norm(gradient))
