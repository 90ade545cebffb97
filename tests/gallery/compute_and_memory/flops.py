"""Answers to `compute_and_memory.flops`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("projections", "scores", "feed_forward", "block")


def of(projections, scores, feed_forward):
    block = projections + scores + scores + feed_forward
    return dict(zip(NAMES, (projections, scores, feed_forward, block), strict=True))


def pairs_of(T, pairs):
    return T**2 if pairs == "all" else T * (T + 1) // 2


def by_rule(B, T, D, H, G, F, pairs):
    return of(
        4 * B * T * D**2 * (H + G) // H,
        2 * B * D * pairs_of(T, pairs),
        4 * B * T * D * F,
    )


def by_shapes(B, T, D, H, G, F, pairs):
    K = D // H
    work = {
        name: sum(2 * B * T * rows * columns for rows, columns in shapes)
        for name, shapes in {
            "projections": [(H * K, D), (G * K, D), (G * K, D), (D, H * K)],
            "feed_forward": [(F, D), (D, F)],
        }.items()
    }
    work["scores"] = H * 2 * B * K * (T * T if pairs == "all" else sum(t + 1 for t in range(T)))
    return work | {"block": sum(work.values()) + work["scores"]}


def by_mask(B, T, D, H, G, F, pairs):
    mask = np.ones((T, T), bool) if pairs == "all" else np.tri(T, dtype=bool)
    return by_rule(B, T, D, H, G, F, pairs) | {"scores": 2 * B * D * int(mask.sum())}


def token_by_token(B, T, D, H, G, F, pairs):
    keys = sum((T if pairs == "all" else t + 1) for t in range(T))
    token = 2 * (2 * D * D + 2 * D * (D // H) * G)
    return of(B * T * token, B * keys * 2 * D, B * T * 2 * 2 * D * F)


class Flops:
    def __call__(self, *sizes):
        return by_shapes(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by shapes": by_shapes,
    "by the mask": by_mask,
    "token by token": token_by_token,
    "in floats": lambda *s: {name: float(n) for name, n in by_rule(*s).items()},
    "NumPy numbers": lambda *s: {name: np.int64(n) for name, n in by_rule(*s).items()},
    "an object with __call__": Flops(),
}


def no_return(B, T, D, H, G, F, pairs):
    by_rule(B, T, D, H, G, F, pairs)


def with_part(**made):
    """One part made in another way, the block added up as it should be."""

    def answer(B, T, D, H, G, F, pairs):
        parts = by_rule(B, T, D, H, G, F, pairs)
        parts |= {name: make(B, T, D, H, G, F, pairs) for name, make in made.items()}
        return of(parts["projections"], parts["scores"], parts["feed_forward"])

    return answer


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "fused": Wrong(
        lambda *s: {name: n // 2 for name, n in by_rule(*s).items()},
        "one operation for a multiplication with its addition",
    ),
    "one sequence": Wrong(lambda B, *s: by_rule(1, *s), "batch left out"),
    "all heads have keys": Wrong(
        with_part(projections=lambda B, T, D, H, G, F, p: 2 * B * T * (2 * D) ** 2),
        "keys and values as wide as queries",
    ),
    "no output": Wrong(
        with_part(projections=lambda B, T, D, H, G, F, p: 2 * B * T * D * (D + D // H * G * 2)),
        "output projection left out",
    ),
    "heads times D": Wrong(
        with_part(scores=lambda B, T, D, H, G, F, p: H * 2 * B * pairs_of(T, p) * D),
        "heads counted once more",
    ),
    "one head": Wrong(
        with_part(scores=lambda B, T, D, H, G, F, p: 2 * B * pairs_of(T, p) * D // H), "one head's scores"
    ),
    "shared scores": Wrong(
        with_part(scores=lambda B, T, D, H, G, F, p: 2 * B * pairs_of(T, p) * D // H * G),
        "shared keys save scores",
    ),
    "one long text": Wrong(
        with_part(scores=lambda B, T, D, H, G, F, p: 2 * pairs_of(T, p) * B * B * D),
        "pairs across sequences",
    ),
    "never causal": Wrong(lambda *s: by_rule(*s[:-1], "all"), "all pairs, whatever is asked"),
    "strictly before": Wrong(
        with_part(scores=lambda B, T, D, H, G, F, p: 2 * B * D * (T * T if p == "all" else T * (T - 1) // 2)),
        "own position not visible",
    ),
    "halved": Wrong(
        with_part(scores=lambda B, T, D, H, G, F, p: 2 * B * D * T * T / (1 if p == "all" else 2)),
        "half of the square",
    ),
    "up alone": Wrong(
        with_part(feed_forward=lambda B, T, D, H, G, F, p: 2 * B * T * F * D),
        "one matrix in the feed-forward part",
    ),
    "no values": Wrong(
        lambda *s: by_rule(*s) | {"block": sum(by_rule(*s)[name] for name in NAMES[:3])},
        "weighted values left out",
    ),
    "an entry missing": Wrong(lambda *s: {"block": by_rule(*s)["block"]}, None),
    "in words": Wrong(lambda *s: by_rule(*s) | {"block": f"{by_rule(*s)['block']:,}"}, None),
    "as if H were G": Wrong(
        lambda B, T, D, H, G, F, p: by_rule(B, T, D, G, G, F, p), "keys and values as wide as queries"
    ),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda *s: dict.fromkeys(NAMES, 0),
    "the sizes": lambda B, T, D, H, G, F, p: dict(zip(NAMES, (D, T, F, B), strict=True)),
    "of GPT-2": lambda *s: by_rule(1, 1024, 768, 12, 12, 3072, "all"),
    "an empty dict": lambda *s: {},
    "a number": lambda B, T, D, *s: 24 * T * D * D,
}

_PROJECTIONS = "projections = 2 * B * T * (2 * D * D + 2 * D * G * (D"
EQUIVALENT = {
    f"flops: {_PROJECTIONS} // H)) → {_PROJECTIONS} / H)) #1": "H divides D",
}
