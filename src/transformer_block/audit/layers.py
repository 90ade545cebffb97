"""Layers that many know: what they are and how they are called, without being asked."""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from transformer_block.audit.facts import LOWEST, Facts, of_config
from transformer_block.audit.subject import S

_OURS = ("transformer_block.in_numpy", "transformer_block.in_torch")


def known(block: Any) -> Facts:
    """What the class of a block, or one that it is made from, tells of it."""
    for ancestor in type(block).__mro__:
        root = ancestor.__module__.partition(".")[0]
        name = (root, ancestor.__name__)
        if ancestor.__module__.startswith(_OURS) and hasattr(block, "config"):
            return _ours(block, ancestor)
        if name in _LAYERS:
            return _LAYERS[name](block)
    return Facts()


def _ours(block: Any, ancestor: type) -> Facts:
    config, twin = block.config, ancestor.__module__.rpartition(".")[0]
    stack = ancestor.__name__ == "Stack"
    facts = Facts(
        framework="torch" if twin.endswith("torch") else "numpy",
        mask="visible",
        mask_means="visible",
        mask_axes="BTS",
        memory=config.cross_attention,
    )
    if stack:
        added = config.positions == "sinusoidal"
        inside = Facts(positions="added") if added else Facts()
        whole = Facts(placement="post", remake=lambda given: type(block)(config, given))
        facts = inside.over(whole).over(facts)
    if config.causal:
        facts = _with_cache(facts, twin, config, stack)
    return facts.over(of_config(config))


def _with_cache(facts: Facts, twin: str, config: Any, stack: bool) -> Facts:
    KVCache = importlib.import_module(f"{twin}.cache").KVCache

    def new_cache() -> Any:
        if not stack:
            return KVCache(64)
        return [KVCache(64) for _ in range(config.n_layers)]

    def call_cached(block: Any, x: Any, cache: Any) -> Any:
        held = {"caches" if stack else "cache": cache}
        if config.cross_attention:
            held["memory"] = _memory(x)
        return block(x, **held)

    return Facts(new_cache=new_cache, call_cached=call_cached).over(facts)


def _memory(x: Any) -> Any:
    """The memory that the audit passes: the same for every sequence and call."""
    import numpy as np

    drawn = np.random.default_rng(5).normal(size=(1, S, x.shape[-1]))
    repeated = np.repeat(drawn, len(x), axis=0)
    if isinstance(x, np.ndarray):
        return repeated.astype(x.dtype)
    return x.new_tensor(repeated)


def _encoder_layer(block: Any) -> Facts:
    return _of_pytorch(block, "src_mask")


def _decoder_layer(block: Any) -> Facts:
    return _of_pytorch(block, "tgt_mask", memory=True)


def _of_pytorch(block: Any, argument: str, memory: bool = False) -> Facts:
    """PyTorch's own: True hides, one mask for each head, and maybe positions first."""
    attention = block.self_attn

    def turned(x: Any) -> Any:
        return x if attention.batch_first else x.transpose(0, 1)

    def call(block: Any, x: Any, visible: Any) -> Any:
        given = [turned(_memory(x))] if memory else []
        mask = None
        if visible is not None:
            mask = (~visible).repeat_interleave(attention.num_heads, dim=0)
        return turned(block(turned(x), *given, **{argument: mask}))

    return Facts(
        d_model=attention.embed_dim,
        framework="torch",
        causal=False,
        placement="pre" if block.norm_first else "post",
        positions="none",
        call=call,
    )


def _gpt2(block: Any) -> Facts:
    return _of_hugging_face(block.attn.config, causal=True, positions="none")


def _llama(block: Any) -> Facts:
    config = block.self_attn.config
    return _of_hugging_face(config, causal=True, positions="relative")


def _bert(block: Any) -> Facts:
    config = block.attention.self.config
    return _of_hugging_face(config, causal=False, positions="none")


def _of_hugging_face(config: Any, *, causal: bool, positions: Any) -> Facts:
    """Layers to which the model around them passes an additive mask, and its angles."""
    beside = partial(_beside, config, causal, positions == "relative")

    def call(block: Any, x: Any, visible: Any) -> Any:
        return block(x, **beside(x, visible, 0))

    def call_cached(block: Any, x: Any, cache: Any) -> Any:
        held = cache.get_seq_length()
        return block(x, cache=cache, use_cache=True, **beside(x, None, held))

    facts = Facts(
        d_model=config.hidden_size,
        framework="torch",
        causal=causal,
        placement="pre" if causal else "post",
        positions=positions,
        call=call,
    )
    if not causal:
        return facts
    caches = importlib.import_module("transformers.cache_utils")
    return Facts(new_cache=caches.DynamicCache, call_cached=call_cached).over(facts)


def _beside(
    config: Any, causal: bool, rotary: bool, x: Any, visible: Any, held: int
) -> dict[str, Any]:
    """The mask (B, 1, T, S) and, for rotary positions, their cosines and sines."""
    import torch

    batch, new, _ = x.shape
    if visible is None:
        visible = torch.ones(batch, new, held + new, dtype=torch.bool, device=x.device)
    if causal:
        visible = visible & torch.ones_like(visible).tril(held)
    mask = torch.zeros(visible.shape, dtype=x.dtype, device=x.device)
    lowest = max(float(LOWEST), float(torch.finfo(x.dtype).min))
    given: dict[str, Any] = {
        "attention_mask": mask.masked_fill(~visible, lowest)[:, None]
    }
    if rotary:
        llama = importlib.import_module("transformers.models.llama.modeling_llama")
        places = torch.arange(held, held + new, device=x.device)[None]
        given["position_embeddings"] = llama.LlamaRotaryEmbedding(config)(x, places)
    return given


_LAYERS: Mapping[tuple[str, str], Callable[[Any], Facts]] = {
    ("torch", "TransformerEncoderLayer"): _encoder_layer,
    ("torch", "TransformerDecoderLayer"): _decoder_layer,
    ("transformers", "GPT2Block"): _gpt2,
    ("transformers", "LlamaDecoderLayer"): _llama,
    ("transformers", "BertLayer"): _bert,
}
