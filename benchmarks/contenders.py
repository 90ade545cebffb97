"""What is timed: blocks and layers of one size and the same weights, in float32, causal, with ReLU."""

import numpy as np
import torch
from torch import Tensor, nn

from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block as NumpyBlock
from transformer_block.in_torch.block import Block as TorchBlock
from transformer_block.parameters import Parameters, initialize, perturb

B, T, D, H, F = 8, 128, 256, 8, 1024
CONFIG = BlockConfig(d_model=D, n_heads=H, d_ff=F, causal=True)

THEIRS = {
    "norm_1": "norm1",
    "attention.qkv.": "self_attn.in_proj_",
    "attention.out": "self_attn.out_proj",
    "norm_2": "norm2",
    "feed_forward.up": "linear1",
    "feed_forward.down": "linear2",
}


def parameters() -> Parameters:
    """The weights that every contender has."""
    drawn = perturb(initialize(CONFIG, seed=0), seed=0)
    return {name: value.astype(np.float32) for name, value in drawn.items()}


def tokens(length: int = T, seed: int = 1) -> np.ndarray:
    """Normal tokens, the same in every run."""
    return np.random.default_rng(seed).standard_normal((B, length, D), dtype=np.float32)


def in_numpy() -> NumpyBlock:
    """The NumPy block with these weights."""
    return NumpyBlock(CONFIG, parameters())


def in_torch() -> TorchBlock:
    """The torch block with these weights."""
    return TorchBlock(CONFIG, parameters())


class EncoderLayer(nn.Module):
    """nn.TransformerEncoderLayer with our weights, and the causal mask it wants made beforehand."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(D, H, F, dropout=0.0, batch_first=True, norm_first=True)
        weights = {name: torch.tensor(value) for name, value in parameters().items()}
        for ours, theirs in THEIRS.items():
            weights = {name.replace(ours, theirs): value for name, value in weights.items()}
        self.layer.load_state_dict(weights)
        self.mask = nn.Transformer.generate_square_subsequent_mask(T)

    def forward(self, x: Tensor) -> Tensor:
        """Run the layer under the causal mask."""
        y: Tensor = self.layer(x, src_mask=self.mask, is_causal=True)
        return y


class Training:
    """Forward and backward of a module: what a training step does before the optimizer."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module.train()
        self.x = torch.tensor(tokens(), requires_grad=True)
        self.dy = torch.tensor(tokens(seed=2))

    def __call__(self) -> None:
        """Leave the gradients of the input and the weights in place."""
        self.module.zero_grad()
        self.x.grad = None
        self.module(self.x).backward(self.dy)


class Evaluation:
    """Forward of a module in evaluation mode, with nothing kept for a backward pass."""

    def __init__(self, module: nn.Module, length: int = T) -> None:
        self.module = module.eval()
        self.x = torch.tensor(tokens(length))

    def __call__(self) -> Tensor:
        """Return the output."""
        with torch.inference_mode():
            y: Tensor = self.module(self.x)
            return y
