"""What a block is and how it is called, as far as its caller says."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np

from transformer_block._invariants import require_one_of
from transformer_block.config import BlockConfig

Framework = Literal["numpy", "torch"]
MaskMeans = Literal["visible", "hidden", "additive"]
MaskAxes = Literal["BTS", "B1TS", "TS", "BS"]
Positions = Literal["none", "relative", "added"]
Placement = Literal["pre", "post"]

CHOICES: dict[str, tuple[str, ...]] = {
    "framework": get_args(Framework),
    "mask_means": get_args(MaskMeans),
    "mask_axes": get_args(MaskAxes),
    "positions": get_args(Positions),
    "placement": get_args(Placement),
}
LOWEST = np.finfo(np.float32).min
"""What an additive mask holds where a key is hidden, as Hugging Face's masks do."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a block before it is audited; None is found out where it can be.

    d_model is the width of its stream, and framework what its arrays are. causal says
    that later positions are hidden from earlier ones without a mask being passed.
    placement "pre" leaves the stream to additions alone; "post" has a norm at the end.
    positions are "none" inside the block, "relative" (rotary and the like: scores alone
    depend on them) or "added" to the stream.

    mask is the name of the argument that takes a mask, or "" for none. mask_means says
    what True means in it, or that numbers are added to the scores; mask_axes, the axes
    that it must have. call(block, x, visible) replaces all three: it receives arrays of
    the block's own framework, and a boolean (B, T, S) mask that is True where query t
    sees key s, or None.

    memory says that the block attends to a second sequence, passed by that name.
    new_cache() makes an empty cache, and call_cached(block, x, cache) runs the next
    positions behind it; a block that has a method new_cache and an argument cache needs
    neither. A NumPy block is copied with a dict `parameters` of its own, or made by
    remake(parameters). fresh() makes the block anew, with other numbers if it draws
    any.

    Raises: ValueError for a choice that is not known; TypeError for a d_model that is
    not an int.
    """

    d_model: int | None = None
    framework: Framework | None = None
    causal: bool | None = None
    placement: Placement | None = None
    positions: Positions | None = None
    mask: str | None = None
    mask_means: MaskMeans | None = None
    mask_axes: MaskAxes | None = None
    call: Callable[[Any, Any, Any], Any] | None = None
    memory: bool | None = None
    new_cache: Callable[[], Any] | None = None
    call_cached: Callable[[Any, Any, Any], Any] | None = None
    fresh: Callable[[], Any] | None = None
    remake: Callable[[dict[str, np.ndarray]], Any] | None = None

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            value = getattr(self, name)
            if value is not None:
                require_one_of(name, value, known)
        if self.d_model is not None and (
            isinstance(self.d_model, bool) or not isinstance(self.d_model, int)
        ):
            raise TypeError(f"d_model must be an int; got {self.d_model!r}")
        if (self.new_cache is None) != (self.call_cached is None):
            raise ValueError("new_cache and call_cached are given together")

    def over(self, other: "Facts") -> "Facts":
        """These facts where they say something, and the other ones where they don't."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        known = {name: value for name, value in said.items() if value is not None}
        return replace(other, **known)


def of_config(config: BlockConfig) -> Facts:
    """What a configuration of ours says about its block."""
    return Facts(
        d_model=config.d_model,
        causal=config.causal,
        placement="post" if config.placement == "post" else "pre",
        positions="relative" if config.positions == "rotary" else "none",
    )


def in_their_form(visible: np.ndarray, means: MaskMeans, axes: MaskAxes) -> np.ndarray:
    """A (B, T, S) mask, True where visible, as a block's own argument wants it.

    (B, T, S) → the axes asked for. TS takes the first sequence's mask, and BS the last
    query's, which in a mask of padding are those of all.
    """
    cut = {
        "BTS": visible,
        "B1TS": visible[:, None],
        "TS": visible[0],
        "BS": visible[:, -1],
    }[axes]
    forms = {"visible": cut, "hidden": ~cut, "additive": np.where(cut, 0.0, LOWEST)}
    return np.asarray(forms[means])
