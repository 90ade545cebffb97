"""A manifest is read by people, too, and its module offers what a caller needs."""

import json

import numpy as np

from tests.transformer_block.numerics import random_parameters, small_config
from transformer_block.manifest import save


def test_a_manifest_has_a_field_on_each_line_and_ends_its_last(tmp_path):
    config = small_config()
    save(tmp_path, config, random_parameters(config, dtype=np.float32), {"step": 3, "rates": [0.1, 0.2]})
    text = (tmp_path / "manifest.json").read_text()
    assert text.startswith('{\n "version": 1,\n "architecture": {\n  "whole": "block",\n')
    assert text.endswith('\n "run": {\n  "step": 3,\n  "rates": [\n   0.1,\n   0.2\n  ]\n }\n}\n')
    assert list(json.loads(text)) == ["version", "architecture", "weights", "run"]


def test_what_a_caller_needs_is_offered_and_nothing_else():
    offered: dict[str, object] = {}
    exec("from transformer_block.manifest import *", offered)
    offered.pop("__builtins__")
    assert {*offered} == {"Checkpoint", "CheckpointError", "differences", "load", "read", "save"}
