"""Makes minilm.json: what transformers says of one sentence, layer by layer.

    python chapters/data/make_minilm.py

The trained MiniLM runs in float64 as transformers' BertModel, which tests
need and readers don't. After the embeddings and after each of six layers,
four random projections of each token are kept: two states that differ
anywhere differ in all of them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from transformer_block.minilm.files import find, tokenize

SENTENCE = "A cat sat on the mat."
PROJECTIONS = 4
SEED = 0


def hidden_states() -> np.ndarray:
    """Tokens after the embeddings and after each layer: (7, T, 384)."""
    from transformers import BertConfig, BertModel

    weights = find("model.safetensors")
    config = BertConfig.from_json_file(weights.with_name("config.json"))
    config._attn_implementation = "eager"
    model = BertModel(config, add_pooling_layer=False).double().eval()
    tensors = load_file(weights)
    learned = {name: tensors[name].double() for name in model.state_dict()}
    model.load_state_dict(learned)
    ids = torch.from_numpy(tokenize([SENTENCE]).ids)
    with torch.no_grad():
        found = model(ids, output_hidden_states=True).hidden_states
    return torch.cat(found).numpy()


def made() -> dict[str, Any]:
    """What the file holds."""
    states = hidden_states()
    drawn = np.random.default_rng(SEED)
    projection = drawn.normal(size=(states.shape[-1], PROJECTIONS))
    return {
        "sentence": SENTENCE,
        "seed": SEED,
        "states": (states @ projection).tolist(),
    }


def main() -> None:
    """Write the file."""
    path = Path(__file__).with_name("minilm.json")
    path.write_text(json.dumps(made()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
