"""Which file is read, and what is said when it can't be."""

import hashlib
from types import SimpleNamespace

import pytest

from transformer_block.minilm import files


def test_a_file_that_the_package_does_not_have_is_refused_by_name():
    known = "model.safetensors, tokenizer.json"
    with pytest.raises(ValueError, match=f"^name must be one of {known}; got 'vocab.txt'$"):
        files.find("vocab.txt")


def test_of_two_places_of_a_package_the_first_is_read(monkeypatch, tmp_path):
    places = [tmp_path / "first", tmp_path / "second"]
    for place in places:
        (place / "model").mkdir(parents=True)
        (place / "model" / "tokenizer.json").write_text(place.name)
    spec = SimpleNamespace(submodule_search_locations=[str(place) for place in places])
    monkeypatch.setattr(files, "find_spec", lambda name: spec)
    monkeypatch.setitem(files.DIGESTS, "tokenizer.json", hashlib.sha256(b"first").hexdigest())
    assert files.find("tokenizer.json") == places[0] / "model" / "tokenizer.json"


def test_no_sentence_is_refused_in_these_words():
    with pytest.raises(ValueError, match=r"^there must be at least one sentence; got none$"):
        files.tokenize([])
