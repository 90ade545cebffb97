"""Contracts of the residual stream: what a block is when its branches say nothing."""

import numpy as np

from transformer_block.audit.measures import aside, distance, judged
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, Unable, tokens

_SCALE = 30.0
"""Tokens so large that no usual eps is seen beside their variance."""
_NORMALIZED = 0.02
"""How far a token may be from its normalized self: two norms with an eps of 1e-3 in a
row are 0.001 off, and DeepNorm's factor changes nothing."""


def zeroed(subject: Subject) -> Row:
    """With every matrix and bias at 0 the branches add nothing, and the stream is left.

    pre-norm: y = x;  post-norm: y = LN(LN(x)), with gains of 1
    """
    name = "zeroed branches"
    if subject.facts.positions == "added":
        return aside(name, "positions are added to its tokens, which never stay alone")
    try:
        parameters = subject.parameters()
    except Unable as reason:
        return aside(name, reason)
    subject = subject.mode(training=False)
    silent = subject.with_parameters({n: _zero(n, p) for n, p in parameters.items()})
    evidence = _of_silence(silent) | {"ends_in_norm": ends_in_norm(subject)}
    normalized = evidence["normalized"]
    if subject.facts.placement == "post":
        return judged(
            name,
            normalized,
            _NORMALIZED,
            good="with branches at 0 tokens came out normalized, as post-norm has it",
            bad="with branches at 0 a token did not come out normalized, "
            "as post-norm would have it",
            **evidence,
        )
    return judged(
        name,
        evidence["identity"],
        silent.rounding(tokens(silent, scale=_SCALE)) / _SCALE,
        good="with branches at 0 the block returned its input: "
        "the stream runs through by additions alone",
        bad="with branches at 0 the block did not return its input"
        + (": tokens came out normalized" if normalized <= _NORMALIZED else "")
        + (": nothing came out" if evidence["nothing"] else ""),
        **evidence,
    )


def _of_silence(silent: Subject) -> dict[str, float]:
    """What comes out of a block whose branches add nothing, beside what went in."""
    x = tokens(silent, scale=_SCALE)
    y = silent(x)
    return {
        "identity": distance(y, x) / _SCALE,
        "normalized": min(distance(y, standardized(x)), distance(y, scaled(x))),
        "nothing": float(np.abs(y).max()) <= silent.rounding(x) / _SCALE,
    }


def ends_in_norm(subject: Subject) -> bool:
    """Whether outputs are normalized when gains are 1 and biases 0: post-norm is so.

    Raises: Unable where parameters cannot be set.
    """
    live = subject.stirred()
    plain = live.with_parameters(_plain(live.parameters()))
    y = plain.mode(training=False)(tokens(subject))
    if not np.isfinite(y).all():
        return False
    size = np.sqrt(np.square(y).mean(axis=-1))
    return bool(np.abs(size - 1).max() <= _NORMALIZED)


def standardized(x: np.ndarray) -> np.ndarray:
    """Each token with mean 0 and variance 1: a layer norm without eps and gains."""
    centered = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centered).mean(axis=-1, keepdims=True))
    return np.asarray(centered / spread)


def scaled(x: np.ndarray) -> np.ndarray:
    """Each token with a mean square of 1: an RMS norm without eps and gains."""
    return np.asarray(x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True)))


def _zero(name: str, value: np.ndarray) -> np.ndarray:
    """Matrices and biases at 0, gains at 1."""
    silent = value.ndim > 1 or "bias" in name
    return np.zeros_like(value) if silent else np.ones_like(value)


def _plain(parameters: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Gains at 1 and vectors of bias at 0, so that a norm at the end shows as one."""
    return {
        name: value if value.ndim > 1 else _zero(name, value)
        for name, value in parameters.items()
    }
