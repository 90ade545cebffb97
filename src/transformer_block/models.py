"""What well-known models have around their blocks: embeddings, positions, an output."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from transformer_block._invariants import require_at_least, require_one_of
from transformer_block.config import BlockConfig
from transformer_block.presets import BERT, GPT2, GPT3, LLAMA, LLAMA3, MINILM

Output = Literal["tied", "untied", "pooler"]


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """A stack of blocks, what turns tokens into its stream, and what reads its end.

    logits = norm(blocks(embedding[tokens] + positions)) · outputᵀ

    vocabulary is V, the tokens that have an embedding of D features; context is P, the
    most positions that the model reads. With learned_positions each of these has a
    vector of its own, and so has each of the token_types. embedding_norm is a norm
    before the first block. The norm after the last block is the stack's, and a
    post-norm stack has none.

    Output. A tied one is the matrix of embeddings once more, an untied one a matrix
    (V, D) of its own; both are without a bias. A pooler has no logits: it is a linear
    map (D, D) with a bias, read at the first token.

    Raises: ValueError that names the choice at fault and what was given.
    """

    block: BlockConfig
    vocabulary: int
    context: int
    learned_positions: bool
    output: Output
    token_types: int = 0
    embedding_norm: bool = False

    def __post_init__(self) -> None:
        require_at_least("vocabulary", self.vocabulary, 1)
        require_at_least("context", self.context, 1)
        require_at_least("token_types", self.token_types, 0)
        require_one_of("output", self.output, get_args(Output))


def model(name: str) -> ModelConfig:
    """Look a model up by the name of its blocks' preset.

    Raises: ValueError for an unknown name.
    """
    require_one_of("model", name, MODELS)
    return MODELS[name]


# The sources are those of the blocks, in presets; a size that a paper rounds is that of
# the published weights.
MODELS: Mapping[str, ModelConfig] = MappingProxyType(
    {
        "gpt2": ModelConfig(
            block=GPT2,
            vocabulary=50_257,
            context=1024,
            learned_positions=True,
            output="tied",
        ),
        "gpt3": ModelConfig(
            block=GPT3,
            vocabulary=50_257,
            context=2048,
            learned_positions=True,
            output="tied",
        ),
        "llama": ModelConfig(
            block=LLAMA,
            vocabulary=32_000,
            context=2048,
            learned_positions=False,
            output="untied",
        ),
        "llama3": ModelConfig(
            block=LLAMA3,
            vocabulary=128_256,
            context=8192,
            learned_positions=False,
            output="untied",
        ),
        "bert": ModelConfig(
            block=BERT,
            vocabulary=30_522,
            context=512,
            learned_positions=True,
            output="pooler",
            token_types=2,
            embedding_norm=True,
        ),
        "minilm": ModelConfig(
            block=MINILM,
            vocabulary=30_522,
            context=512,
            learned_positions=True,
            output="pooler",
            token_types=2,
            embedding_norm=True,
        ),
    }
)
