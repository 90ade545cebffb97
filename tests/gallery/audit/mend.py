"""Answers to `audit.mend`: classes."""

import torch

from tests.gallery.answers import Answer, Wrong
from tests.gallery.audit.modules import Block, Einsum, InAnIf, OfModules, with_faults

RIGHT: dict[str, Answer] = {
    "mended in place": Block,
    "modules of PyTorch": OfModules,
    "the mode in an if": InAnIf,
    "einsum": Einsum,
    "a function that builds it": lambda d_model, n_heads, d_ff, dropout: Block(
        d_model, n_heads, d_ff, dropout
    ),
}


def giving(forward):
    """A class with another forward."""
    return type("Other", (Block,), {"forward": forward})


def no_return(self, x):
    self.attention(self.norm_1(x))


LETTERS = "letters of an einsum are names"
EQUIVALENT = {
    'reference: shares = past * np.exp(np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1])) → '
    'shares = past * np.exp(np.einsum("...THK,...SHK->...HTS", q, k) / np.sqrt(q.shape[-1])) #1': LETTERS,
    'reference: merged = np.einsum("...hts,...shk->...thk", shares, v).reshape(x.shape) → '
    'merged = np.einsum("...HTS,...SHK->...THK", shares, v).reshape(x.shape) #1': LETTERS,
}
ALL = {"correction": 1, "masked": "training", "drops": "always"}
WRONG = {
    "broken": Wrong(with_faults(**ALL), "nothing mended"),
    "norm alone": Wrong(with_faults(**ALL | {"correction": 0}), "mask and dropout left"),
    "mask alone": Wrong(with_faults(**ALL | {"masked": "both"}), "dropout and variance left"),
    "dropout alone": Wrong(with_faults(**ALL | {"drops": "training"}), "mask and variance left"),
    "dropout left": Wrong(with_faults(drops="always"), "dropout left on"),
    "mask left": Wrong(with_faults(masked="training"), "mask dropped in evaluation"),
    "variance left": Wrong(with_faults(correction=1), "sample variance"),
    "never drops": Wrong(with_faults(drops="never"), "dropout taken out"),
    "mask turned over": Wrong(with_faults(masked="evaluation"), "mask in evaluation alone"),
    "no return": Wrong(giving(no_return), "no return"),
    "never a mask": Wrong(with_faults(masked="never"), None),
    "float64": Wrong(giving(lambda self, x: Block.forward(self, x).double()), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": giving(lambda self, x: x),
    "zeros": giving(lambda self, x: torch.zeros_like(x)),
    "ones": giving(lambda self, x: torch.ones_like(x)),
    "noise": giving(lambda self, x: torch.randn_like(x)),
    "a norm": giving(lambda self, x: self.norm_1(x)),
    "what was broken": with_faults(**ALL),
}
