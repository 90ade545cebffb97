"""Find out what nobody said of a block, by looking at it and by running it."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, cast, get_args

from transformer_block.audit.facts import Facts, MaskAxes, MaskMeans, Placement
from transformer_block.audit.measures import hears_later, hidden_keys_move
from transformer_block.audit.structure import ends_in_norm
from transformer_block.audit.subject import Subject, Unable, arguments, tokens

MASKS = (
    "visible",
    "mask",
    "attn_mask",
    "attention_mask",
    "src_mask",
    "tgt_mask",
    "key_padding_mask",
    "src_key_padding_mask",
)
WIDTHS = ("d_model", "hidden_size", "n_embd", "embed_dim")


def subject_of(block: Any, facts: Facts) -> Subject:
    """The block with what its looks tell: its framework, its width, its mask's name.

    Nothing is run. Raises: TypeError for a block that cannot be called.
    """
    if not callable(block):
        raise TypeError(f"a block is called with tokens; got {type(block).__name__}")
    seen = Facts(d_model=_width(block), mask=_mask(block))
    if seen.mask == "visible":
        seen = replace(seen, mask_means="visible")
    if "cache" in arguments(block) and hasattr(block, "new_cache"):
        seen = replace(seen, new_cache=block.new_cache, call_cached=_call_cached)
    facts = facts.over(seen)
    torch = sys.modules.get("torch")
    module = torch is not None and isinstance(block, torch.nn.Module)
    if module or facts.framework == "torch":
        from transformer_block.audit import torch_subject

        return torch_subject.TorchSubject(
            block, facts, dtype=torch_subject.dtype_of(block)
        )
    held = getattr(block, "parameters", None)
    dtypes = {str(a.dtype) for a in held.values()} if isinstance(held, dict) else set()
    return Subject(block, facts, dtype=next(iter(dtypes), "float64"))


def _call_cached(block: Any, x: Any, cache: Any) -> Any:
    return block(x, cache=cache)


def discovered(subject: Subject) -> Facts:
    """What running the block shows: how its mask is meant, and whether it is causal.

    Raises: what the block raises on tokens alone.
    """
    subject = subject.mode(training=False).stirred()
    subject(tokens(subject))
    facts = subject.facts
    if facts.mask and facts.call is None:
        facts = _with_mask(subject)
    if facts.causal is None:
        facts = replace(facts, causal=_is_causal(subject))
    if facts.placement is None:
        facts = replace(facts, placement=_placement(subject))
    return facts


def _width(block: Any) -> int | None:
    """The width of the stream: said by name, or the most frequent size inside."""
    for owner, name in product((block, getattr(block, "config", None)), WIDTHS):
        if isinstance(getattr(owner, name, None), int):
            return cast(int, getattr(owner, name))
    sizes = Counter(size for shape in _shapes(block) for size in shape)
    return max(sizes, key=sizes.__getitem__) if sizes else None


def _shapes(block: Any) -> Iterator[tuple[int, ...]]:
    held = getattr(block, "parameters", None)
    if isinstance(held, dict):
        yield from (value.shape for value in held.values())
    elif callable(held):
        yield from (tuple(each.shape) for each in held())


def _mask(block: Any) -> str:
    return next((name for name in arguments(block) if name in MASKS), "")


def _with_mask(subject: Subject) -> Facts:
    """The first way to pass a mask of padding after which hidden keys have no effect.

    If there is none, the first that the block takes; and none for one that it refuses.
    """
    taken: list[Facts] = []
    for means, axes in product(_means(subject), _axes(subject)):
        facts = replace(subject.facts, mask_means=means, mask_axes=axes)
        candidate = replace(subject, facts=facts)
        try:
            moved = hidden_keys_move(candidate)
        except Exception:  # a form that the block doesn't take, however it says so
            continue
        if moved.by_hidden <= moved.rounding < moved.by_visible:
            return facts
        taken.append(facts)
    return taken[0] if taken else replace(subject.facts, mask="")


def _means(subject: Subject) -> tuple[MaskMeans, ...]:
    said = subject.facts.mask_means
    return (said,) if said else get_args(MaskMeans)


def _axes(subject: Subject) -> tuple[MaskAxes, ...]:
    said = subject.facts.mask_axes
    return (said,) if said else get_args(MaskAxes)


def _is_causal(subject: Subject) -> bool:
    """Whether it says so, or in one of its modes no position hears a later one."""
    if _says_causal(subject.block):
        return True
    for mode in subject.modes:
        try:
            heard = hears_later(subject.in_mode(mode))
        except Exception:  # a mode that it can't be in, or tokens that it doesn't take
            continue
        if heard.later <= heard.rounding:
            return True
    return False


def _placement(subject: Subject) -> Placement | None:
    try:
        return "post" if ends_in_norm(subject) else "pre"
    except Unable:
        return None


def _says_causal(block: Any) -> bool:
    parts = block.modules() if callable(getattr(block, "modules", None)) else [block]
    owners = [*parts, getattr(block, "config", None)]
    names = ("causal", "is_causal")
    return any(getattr(owner, name, None) is True for owner in owners for name in names)
