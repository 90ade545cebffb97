"""Known wrong modules for a causal block."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from block_course.checks.block import wiring
from block_course.checks.block.module_reference import reference
from block_course.checks.block.parameters import first_numbers
from block_course.checks.block.wiring import Parts, Wiring
from block_course.exercise import Argument, Array, Case, Misconception, Outputs, as_outputs
from transformer_block.in_numpy.feed_forward import feed_forward

Visible = Callable[[int], Array]


def _past(T: int) -> Array:
    return np.tri(T, dtype=bool)


class _Gelu(Parts):
    def feed_forward(self, x: Array) -> Array:
        p = self.p
        up, down = (
            (p[f"feed_forward.{name}.weight"], p[f"feed_forward.{name}.bias"]) for name in ("up", "down")
        )
        return feed_forward(x, *up, *down, "gelu")


class _Unusual(Parts):
    """Attention with other heads: cut before q, k and v are told apart, or merged without a swap of axes."""

    heads_first, bare_merge = False, False

    def attention(self, x: Array) -> Array:
        p, H = self.p, self.n_heads
        projected = x @ p["attention.qkv.weight"].T + p["attention.qkv.bias"]
        if self.heads_first:
            parts = np.split(projected.reshape(*x.shape[:-1], H, -1), 3, axis=-1)
        else:
            parts = [each.reshape(*x.shape[:-1], H, -1) for each in np.split(projected, 3, axis=-1)]
        q, k, v = (each.swapaxes(-2, -3) for each in parts)
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        scores = np.where(_past(x.shape[-2]), scores, -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        gathered = shares / shares.sum(-1, keepdims=True) @ v
        merged = gathered if self.bare_merge else gathered.swapaxes(-2, -3)
        return np.asarray(
            merged.reshape(x.shape) @ p["attention.out.weight"].T + p["attention.out.bias"], x.dtype
        )


class _HeadsFirst(_Unusual):
    heads_first = True


class _BareMerge(_Unusual):
    bare_merge = True


def wired(
    rule: Wiring = wiring.right, *, parts: type[Parts] = Parts, visible: Visible | None = _past
) -> Callable[..., Array | Outputs]:
    """A module's outputs with the right parts in the places of a rule, or others, or another mask.

    Where gradients are asked for, they are the right block's: what is told apart is the output.
    """

    def answer(
        init: Mapping[str, Argument], state: Mapping[str, Array], x: Array, dy: Array | None = None
    ) -> Array | Outputs:
        if dy is not None:
            raise ValueError("a wrong block's gradient is not known")
        mask = None if visible is None else visible(x.shape[-2])
        return rule(parts(int(init["n_heads"]), state, mask), x)  # type: ignore[arg-type]

    return answer


def _wrong(name: str, answer: Callable[..., Array | Outputs], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        right = as_outputs(reference(case.init, case.state, np.asarray(case.arguments["x"])))[0]
        numbers = first_numbers(case, outputs, right)
        return f"{numbers[0].upper()}{numbers[1:]}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)


MISCONCEPTIONS = (
    _wrong(
        "no mask",
        wired(visible=None),
        "Each query sees all keys, the later ones too. In a causal block query t sees the keys 0 to t.",
    ),
    _wrong(
        "mask turned over",
        wired(visible=lambda T: _past(T).T),
        "Each query sees itself and the keys after it. It should see itself and those before it.",
    ),
    _wrong(
        "mask one too wide",
        wired(visible=lambda T: np.tri(T, k=1, dtype=bool)),
        "Each query sees one key after its own position. The last key that it sees is its own.",
    ),
    _wrong(
        "first norm reused",
        wired(wiring.one_norm),
        "The feed-forward part reads a norm with the gain and bias of `norm_1`; it has its own, `norm_2`.",
    ),
    _wrong(
        "second residual begins at x",
        wired(wiring.misprint),
        "The second residual begins at x, and attention's update is lost from the stream. It begins at h.",
    ),
    _wrong(
        "post-norm",
        wired(wiring.post_norm),
        "Each norm stands behind its add. In a pre-norm block it stands before the branch.",
    ),
    _wrong(
        "residual around the normed x",
        wired(wiring.around_the_normed),
        "The update was added to what the branch had read. It is added to the stream before the norm.",
    ),
    _wrong(
        "GELU for ReLU",
        wired(parts=_Gelu),
        "The inner features passed a GELU. This block has a ReLU.",
    ),
    _wrong(
        "heads before q, k and v",
        wired(parts=_HeadsFirst),
        "What `qkv` gave was cut into heads first and each head into q, k and v. Its rows are all queries, "
        "then all keys, then all values: cut in three first, then each into heads.",
    ),
    _wrong(
        "heads not transposed back",
        wired(parts=_BareMerge),
        "What the heads gathered, (B, H, T, K), was reshaped as it was, which mixes positions. Swap H and T "
        "first, then lay the heads side by side.",
    ),
)
