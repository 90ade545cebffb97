"""The contract of norms: each norm in a PyTorch block computes one of the known ones.

A norm that is a module can be asked alone. Each is compared, in float64, with layer
norm and RMS norm and with what goes wrong in them; one that is none of these is left
aside.
"""

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from transformer_block.audit.measures import aside, distance
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, tokens

RIGHT = {
    "layer norm": "a layer norm",
    "RMS norm": "an RMS norm",
    "RMS norm with a gain of 1 + w": "an RMS norm with a gain of 1 + w",
}
WRONG = (
    "sample variance",
    "eps outside the root",
    "statistics over time and features",
)
_AGREES = 1e-5
"""Relative: norms that compute in float32 inside agree as well; the faults are at 0.01
and more, for the tokens are as small as √eps."""
_OFFSET = 4096.0
_CANCELED = 0.05


def norms(subject: Subject) -> Row:
    """Each norm inside is a layer norm or an RMS norm, in float64 and far from 0.

    number is the largest relative distance from the one that it is nearest to.
    """
    name = "norms"
    if "train" not in subject.modes:  # a function, or a block in NumPy
        return aside(name, "it has no norms that could be called alone")
    subject = subject.mode(training=False)
    x = tokens(subject)
    found = dict(_norms_of(subject))
    known = {path: kind for path, norm in found.items() if (kind := _kind(norm, x))}
    if not known:
        return aside(name, "it has no norms that could be called alone")
    calls = _calls(subject, known, x)
    wrong = {path: kind for path, (kind, _) in known.items() if kind in WRONG}
    canceled = {p: e for p in known if (e := _canceled(found[p], x)) > _CANCELED}
    uncalled = [path for path, count in calls.items() if count == 0]
    reused = [path for path, count in calls.items() if count > 1]
    evidence: dict[str, Any] = {
        "kinds": {path: kind for path, (kind, _) in known.items()},
        "canceled": canceled,
        "uncalled": uncalled,
        "reused": reused,
    }
    number = max([*canceled.values(), *(number for _, number in known.values())])
    parts = [f"{path} has {kind}" for path, kind in wrong.items()]
    parts += [f"{path} loses its digits far from 0" for path in canceled]
    measured = {"number": number, "threshold": _AGREES} if parts else {}
    if uncalled and reused:
        parts.append(f"{uncalled[0]} is never called, and {reused[0]} more than once")
    if parts:
        return Row(name, "broken", "; ".join(parts), evidence=evidence, **measured)
    told = ", ".join(f"{p} is {RIGHT[k]}" for p, (k, _) in known.items())
    return Row(name, "held", told, number, _AGREES, evidence)


def _norms_of(subject: Subject) -> list[tuple[str, Any]]:
    """Modules without children, called norm or ln, as wide as the stream."""
    found = []
    for path, module in subject.block.named_modules():
        called = f"{path.rpartition('.')[2]} {type(module).__name__}".lower()
        leaf = path and not [*module.children()]
        sizes = [tuple(each.shape) for each in module.parameters()]
        wide = all(size == (subject.width,) for size in sizes)
        if leaf and wide and ("norm" in called or called.startswith("ln")):
            found.append((path, copy.deepcopy(module).double()))
    return found


def _kind(norm: Any, x: np.ndarray) -> tuple[str, float] | None:
    """The formula that a norm computes, and how far it is from a right one."""
    eps = _eps(norm)
    x = x * np.sqrt(eps)
    y = _asked(norm, x)
    if y is None:
        return None
    gain, bias = _vector(norm, "weight", 1.0), _vector(norm, "bias", 0.0)
    errors = {
        kind: _apart(value, y) for kind, value in _formulas(x, eps, gain, bias).items()
    }
    kind = min(errors, key=lambda each: errors[each])
    if not errors[kind] <= _AGREES:
        return None
    return kind, min(errors[right] for right in RIGHT)


def _formulas(
    x: np.ndarray, eps: float, gain: np.ndarray, bias: np.ndarray
) -> dict[str, np.ndarray]:
    """What each known norm, and each known mistake, makes of x."""
    mean = x.mean(axis=-1, keepdims=True)
    centered = x - mean
    variance = x.var(axis=-1, keepdims=True)
    sample = x.var(axis=-1, keepdims=True, ddof=1)
    square = np.square(x).mean(axis=-1, keepdims=True)
    all_tokens = x.var((-2, -1), keepdims=True)
    both = (x - x.mean((-2, -1), keepdims=True)) / np.sqrt(all_tokens + eps)
    scaled = x / np.sqrt(square + eps)
    return {
        "layer norm": gain * centered / np.sqrt(variance + eps) + bias,
        "RMS norm": gain * scaled + bias,
        "RMS norm with a gain of 1 + w": (1 + gain) * scaled,
        "sample variance": gain * centered / np.sqrt(sample + eps) + bias,
        "eps outside the root": gain * centered / (np.sqrt(variance) + eps) + bias,
        "statistics over time and features": gain * both + bias,
    }


def _canceled(norm: Any, x: np.ndarray) -> float:
    """How much of its answer a norm loses in float32 to a mean of 4,096.

    E[x²] − E[x]² subtracts two numbers near 2²⁴, where float32 counts in steps of 1 or
    2; the relative error of a careful one is some thousandths at most.
    """
    far = x + _OFFSET
    y = _asked(copy.deepcopy(norm).float(), far.astype(np.float32))
    careful = _asked(norm, far)
    return 0.0 if y is None or careful is None else _apart(y, careful)


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, relative to the largest of the other's numbers."""
    return distance(one, other) / float(np.abs(other).max())


def _calls(subject: Subject, known: Iterable[str], x: np.ndarray) -> dict[str, int]:
    """How often one call of the block calls each of its norms."""
    counts = dict.fromkeys(known, 0)

    def counted(path: str) -> Any:
        def hook(*_: Any) -> None:
            counts[path] += 1

        return hook

    for path in known:
        subject.block.get_submodule(path).register_forward_hook(counted(path))
    subject(x)
    return counts


def _asked(norm: Any, x: np.ndarray) -> np.ndarray | None:
    """A norm's answer to x; None where it gives none, or nothing but 0."""
    import torch

    try:
        with torch.no_grad():
            y = np.asarray(norm(torch.tensor(x)).double().numpy())
        return y if y.any() else None
    except Exception:  # it wants to be called in another way: it cannot be judged alone
        return None


def _eps(norm: Any) -> float:
    """What a norm adds in its root; None is the ε of float64, as in nn.RMSNorm."""
    names = ("eps", "epsilon", "variance_epsilon")
    said = (getattr(norm, name, None) for name in names)
    unsaid = np.finfo(float).eps if getattr(norm, "eps", norm) is None else 1e-5
    return next((each for each in said if isinstance(each, float)), float(unsaid))


def _vector(norm: Any, name: str, otherwise: float) -> np.ndarray:
    held = getattr(norm, name, None)
    if held is None:
        return np.asarray(otherwise)
    return np.asarray(held.detach().double().numpy())
