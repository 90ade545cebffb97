"""Contracts of number formats: kept, finite when narrow, careful far from 0."""

import numpy as np

from transformer_block.audit.measures import aside, distance, judged, run
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, Unable, tokens

_OFFSET = 4096.0


def dtype(subject: Subject) -> Row:
    """Outputs have the dtype and the device of the tokens, in each dtype it can be in.

    number counts the dtypes that are not kept.
    """
    found = {}
    for name in ("float64", "float32", "bfloat16", "float16"):
        try:
            other = subject if name == subject.dtype else subject.to(name)
            x = other.native(tokens(other))
            found[name] = _form(other.raw(x)) == _form(x)
        except Exception as error:
            if name == subject.dtype:
                raise
            if not _out_of_reach(error):
                found[name] = False
    lost = [name for name, kept in found.items() if not kept]
    return judged(
        "dtype",
        float(len(lost)),
        0.0,
        good=f"{', '.join(found)} in, the same out",
        bad=f"{', '.join(lost)} in did not give the same dtype and device out",
        changed=lost,
    )


def half(subject: Subject, name: str) -> Row:
    """Outputs are finite in a narrow dtype, on ordinary tokens and on large ones.

    number counts what is not finite.
    """
    sizes = {"ordinary": 1, "large": 300}
    if subject.facts.placement == "post":
        del sizes["large"]  # what post-norm reads is normalized
    try:
        narrow = subject.to(name)
        outputs = {n: narrow(tokens(narrow, scale=s)) for n, s in sizes.items()}
    except Exception as error:
        if not _out_of_reach(error):
            raise
        return aside(name, error)
    faults = {n: int((~np.isfinite(y)).sum()) for n, y in outputs.items()}
    return judged(
        name,
        float(sum(faults.values())),
        0.0,
        good="finite on tokens of size "
        + " and of size ".join(map(str, sizes.values())),
        bad=f"NaN or infinite on tokens of size {1 if faults['ordinary'] else 300}",
        **faults,
    )


def float16(subject: Subject) -> Row:
    """Finite in float16, whose largest number is 65,504."""
    return half(subject, "float16")


def bfloat16(subject: Subject) -> Row:
    """Finite in bfloat16, which has the range of float32 and eight bits of digits."""
    return half(subject, "bfloat16")


def far_from_zero(subject: Subject) -> Row:
    """Float32 stays near float64 on tokens whose mean is 4,096 spreads away from 0.

    Tokens that float32 holds exactly. What a careful norm loses is 4,096 ε; E[x²] −
    E[x]² loses 4,096² ε, which is all of it.
    """
    name = "far from 0"
    try:
        wide, narrow = subject.to("float64"), subject.to("float32")
    except Unable as reason:
        return aside(name, reason)
    x = tokens(subject) + _OFFSET
    wide, narrow = (each.mode(training=False) for each in (wide, narrow))
    exact = run(wide, x)
    moved = distance(run(narrow, x), exact)
    threshold = 32 * float(np.finfo(np.float32).eps) * _OFFSET * 4
    size = max(1.0, min(distance(exact, x), float(np.abs(exact).max())))
    return judged(
        name,
        moved / size,
        threshold,
        good="float32 gave what float64 gave on tokens with a mean of 4,096",
        bad="float32 lost its digits on tokens with a mean of 4,096, "
        "which float64 has not lost",
    )


def _form(array: object) -> tuple[str, str]:
    return str(getattr(array, "dtype", None)), str(getattr(array, "device", None))


def _out_of_reach(error: Exception) -> bool:
    """Whether the machine, and not the block, has no such dtype."""
    return isinstance(error, Unable) or "not implemented for" in str(error)
