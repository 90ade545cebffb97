import re
from dataclasses import FrozenInstanceError, replace

import pytest

from transformer_block.models import MODELS, ModelConfig, model
from transformer_block.presets import BERT, GPT2, GPT3, LLAMA, LLAMA3, MINILM


def test_every_model_is_found_by_its_name():
    assert list(MODELS) == ["gpt2", "gpt3", "llama", "llama3", "bert", "minilm"]
    assert all(model(name) is found for name, found in MODELS.items())


def test_an_unknown_model_is_refused_with_those_there_are():
    sentence = "model must be one of gpt2, gpt3, llama, llama3, bert, minilm; got 'gpt5'"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        model("gpt5")


@pytest.mark.parametrize(
    ("name", "block", "vocabulary", "context", "output"),
    [
        ("gpt2", GPT2, 50_257, 1024, "tied"),
        ("gpt3", GPT3, 50_257, 2048, "tied"),
        ("llama", LLAMA, 32_000, 2048, "untied"),
        ("llama3", LLAMA3, 128_256, 8192, "untied"),
        ("bert", BERT, 30_522, 512, "pooler"),
        ("minilm", MINILM, 30_522, 512, "pooler"),
    ],
)
def test_a_model_has_the_sizes_of_the_published_one(name, block, vocabulary, context, output):
    found = model(name)
    assert (found.block, found.vocabulary, found.context, found.output) == (
        block,
        vocabulary,
        context,
        output,
    )


def test_what_a_model_adds_before_its_blocks_is_its_own_choice():
    before = {name: (m.learned_positions, m.token_types, m.embedding_norm) for name, m in MODELS.items()}
    gpt, llama, bert = (True, 0, False), (False, 0, False), (True, 2, True)
    assert before == {"gpt2": gpt, "gpt3": gpt, "llama": llama, "llama3": llama, "bert": bert, "minilm": bert}


def test_a_model_that_is_not_told_has_no_token_types_and_no_embedding_norm():
    made = ModelConfig(block=GPT2, vocabulary=1, context=1, learned_positions=True, output="untied")
    assert (made.token_types, made.embedding_norm) == (0, False)


def test_a_model_is_described_by_names_and_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        model("gpt2").context = 2048
    with pytest.raises(TypeError, match="positional"):
        ModelConfig(GPT2, 1, 1, True, "tied")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"vocabulary": 0}, "vocabulary must be at least 1; got 0"),
        ({"context": 0}, "context must be at least 1; got 0"),
        ({"token_types": -1}, "token_types must be at least 0; got -1"),
        ({"output": "none"}, "output must be one of tied, untied, pooler; got 'none'"),
    ],
)
def test_what_no_model_can_have_is_refused(choice, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        replace(model("bert"), **choice)
