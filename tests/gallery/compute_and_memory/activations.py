"""Answers to `compute_and_memory.activations`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("inner", "read", "kept", "megabytes")


def width(dtype):
    return {"float64": 8, "float32": 4}.get(dtype, 2)


def of(inner, read, kept):
    return {"inner": inner, "read": read, "kept": kept, "megabytes": kept / 1_000_000}


def by_rule(B, T, D, F, dtype, activation):
    inner, read = (B * T * features * width(dtype) for features in (F, D))
    return of(inner, read, read + (4 if activation == "swiglu" else 2) * inner)


def by_steps(B, T, D, F, dtype, activation):
    """A list of the tensors that the steps read, each once."""
    features = {"x": D, "a": F, "h": F}
    if activation == "swiglu":
        features |= {"s": F, "u": F}
    sizes = {name: B * T * each * width(dtype) for name, each in features.items()}
    return of(sizes["a"], sizes["x"], sum(sizes.values()))


def by_the_dtype_itself(B, T, D, F, dtype, activation):
    half = dtype == "bfloat16"
    entry = np.dtype("float16" if half else dtype).itemsize
    tokens = B * T * entry
    return of(tokens * F, tokens * D, tokens * (D + F * (2 + 2 * (activation != "gelu"))))


def by_the_letters(B, T, D, F, dtype, activation):
    bits = int(dtype.lstrip("bfloat"))
    return by_rule(B, T, D, F, f"float{bits}", activation)


class Kept:
    def __call__(self, *sizes):
        return by_steps(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by steps": by_steps,
    "by the dtype itself": by_the_dtype_itself,
    "by the letters of its name": by_the_letters,
    "in floats": lambda *s: {name: float(n) for name, n in by_rule(*s).items()},
    "NumPy numbers": lambda *s: {name: np.float64(n) for name, n in by_rule(*s).items()},
    "an object with __call__": Kept(),
}


def no_return(B, T, D, F, dtype, activation):
    by_rule(B, T, D, F, dtype, activation)


def with_entry(entry):
    """Other bytes for a number."""

    def answer(B, T, D, F, dtype, activation):
        table = by_rule(B, T, D, F, dtype, activation)
        scaled = {name: table[name] // width(dtype) * entry(dtype) for name in NAMES[:3]}
        return of(scaled["inner"], scaled["read"], scaled["kept"])

    return answer


def with_tensors(gelu, swiglu, reads=1, gated_reads=1):
    """Other numbers of inner tensors and of inputs."""

    def answer(B, T, D, F, dtype, activation):
        table = by_rule(B, T, D, F, dtype, activation)
        several, inputs = (swiglu, gated_reads) if activation == "swiglu" else (gelu, reads)
        return of(table["inner"], table["read"], inputs * table["read"] + several * table["inner"])

    return answer


def of_weights(B, T, D, F, dtype, activation):
    inner, read = D * F * width(dtype), B * T * D * width(dtype)
    return of(inner, read, read + (4 if activation == "swiglu" else 2) * inner)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "one sequence": Wrong(lambda B, *s: by_rule(1, *s), "batch left out"),
    "always float32": Wrong(with_entry(lambda dtype: 4), "four bytes whatever the dtype"),
    "bits": Wrong(with_entry(lambda dtype: 8 * width(dtype)), "bits for bytes"),
    "numbers": Wrong(with_entry(lambda dtype: 1), "numbers for bytes"),
    "weights": Wrong(of_weights, "weights for activations"),
    "no input": Wrong(with_tensors(2, 4, 0, 0), "input left out"),
    "two inputs": Wrong(with_tensors(2, 4, 1, 2), "input kept twice"),
    "no slope": Wrong(with_tensors(1, 3), "what the activation reads left out"),
    "a gate like GELU": Wrong(with_tensors(2, 2), "a gate that keeps no more"),
    "three": Wrong(with_tensors(2, 3), "three tensors behind a gate"),
    "MiB": Wrong(
        lambda *s: by_rule(*s) | {"megabytes": by_rule(*s)["kept"] / 1024 / 1024}, "megabytes of 1,048,576"
    ),
    "rounded": Wrong(lambda *s: by_rule(*s) | {"megabytes": round(by_rule(*s)["megabytes"], 1)}, None),
    "bfloat16 as 4": Wrong(with_entry(lambda dtype: 4 if "b" in dtype else width(dtype)), None),
    "an entry missing": Wrong(lambda *s: {"kept": by_rule(*s)["kept"]}, None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda *s: dict.fromkeys(NAMES, 0),
    "the sizes": lambda B, T, D, F, *s: dict(zip(NAMES, (F, D, T, B), strict=True)),
    "of GPT-2": lambda *s: by_rule(1, 1024, 768, 3072, "float32", "gelu"),
    "an empty dict": lambda *s: {},
    "a number": lambda B, T, D, F, *s: B * T * F,
}
