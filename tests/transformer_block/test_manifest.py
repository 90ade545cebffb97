"""A checkpoint comes back as it was saved, or is refused with everything about it that differs."""

import json
import os
import threading
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from tests.transformer_block.choices import COVERING, config_of, name_of
from tests.transformer_block.numerics import D, F, random_parameters, small_config
from transformer_block import manifest
from transformer_block.manifest import CheckpointError, load, read, save
from transformer_block.parameters import initialize_stack, perturb

CONFIG = small_config(placement="post", eps=1e-12)
PARAMETERS = random_parameters(CONFIG)
RUN = {"step": 300, "seed": 7, "optimizer": "adamw", "rates": [0.1, 1e-300], "note": "µ", "best": None}


def assert_same(actual, expected):
    assert list(actual) == list(expected)
    for name, value in expected.items():
        assert actual[name].dtype == value.dtype
        np.testing.assert_array_equal(actual[name], value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_what_was_saved_comes_back_to_the_last_bit(tmp_path, dtype):
    parameters = random_parameters(CONFIG, dtype=dtype)
    save(tmp_path / "deep" / "er", CONFIG, parameters, RUN)
    config, back, run = load(tmp_path / "deep" / "er", CONFIG)
    assert config == CONFIG
    assert run == RUN
    assert_same(back, parameters)


@pytest.mark.parametrize("row", COVERING, ids=name_of)
def test_a_stack_of_any_choices_comes_back(tmp_path, row):
    config = config_of(row)
    parameters = perturb(initialize_stack(config, seed=1), seed=2)
    save(tmp_path, config, parameters)
    back = load(tmp_path)
    assert back.config == config
    assert back.run == {}
    assert_same(back.parameters, parameters)


def test_arrays_that_came_back_are_the_callers_own(tmp_path):
    save(tmp_path, CONFIG, PARAMETERS)
    load(tmp_path).parameters["norm_1.bias"] += 1
    assert_same(load(tmp_path).parameters, PARAMETERS)


def test_an_array_is_saved_by_its_entries_and_not_by_how_it_lies_in_memory(tmp_path):
    turned = {name: np.asfortranarray(value) for name, value in PARAMETERS.items()}
    turned["norm_1.bias"] = np.repeat(PARAMETERS["norm_1.bias"], 2)[::2]
    turned["norm_1.weight"] = PARAMETERS["norm_1.weight"].astype(">f8")
    save(tmp_path, CONFIG, turned)
    assert_same(load(tmp_path).parameters, PARAMETERS)


def test_the_manifest_says_what_the_weights_are_and_keeps_the_run_apart(tmp_path):
    save(tmp_path, CONFIG, PARAMETERS, RUN)
    said = read(tmp_path)
    assert said.keys() == {"version", "architecture", "weights", "run"}
    assert said["architecture"] == {"whole": "block", "config": asdict(CONFIG)}
    assert said["run"] == RUN
    weights = said["weights"]
    assert weights["dtype"] == "float64"
    assert weights["tensors"]["feed_forward.up.weight"] == [F, D]
    assert (tmp_path / weights["file"]).stat().st_size == weights["bytes"]


def test_a_new_run_state_leaves_the_architecture_as_it_was(tmp_path):
    save(tmp_path / "a", CONFIG, PARAMETERS, {"step": 1})
    save(tmp_path / "b", CONFIG, random_parameters(CONFIG, seed=9), {"step": 2})
    assert read(tmp_path / "a")["architecture"] == read(tmp_path / "b")["architecture"]


def test_one_checkpoint_stands_in_a_folder_and_other_files_stay(tmp_path):
    (tmp_path / "weights-mine.safetensors").write_text("kept")
    for seed in range(3):
        save(tmp_path, CONFIG, random_parameters(CONFIG, seed=seed))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {".lock", "manifest.json", read(tmp_path)["weights"]["file"], "weights-mine.safetensors"}


def test_a_checkpoint_can_be_read_by_others_as_any_new_file(tmp_path):
    before = os.umask(0o022)
    try:
        save(tmp_path, CONFIG, PARAMETERS)
    finally:
        os.umask(before)
    for name in ("manifest.json", read(tmp_path)["weights"]["file"]):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o644


def test_other_tools_read_the_weights_as_plain_safetensors(tmp_path):
    from safetensors.torch import load_file

    save(tmp_path, CONFIG, PARAMETERS)
    tensors = load_file(tmp_path / read(tmp_path)["weights"]["file"])
    assert_same({name: tensors[name].numpy() for name in PARAMETERS}, PARAMETERS)


def test_post_norm_weights_are_refused_by_a_pre_norm_block(tmp_path):
    save(tmp_path, CONFIG, PARAMETERS)
    with pytest.raises(CheckpointError, match="another architecture") as refusal:
        load(tmp_path, replace(CONFIG, placement="pre"))
    assert str(refusal.value) == (
        f"{tmp_path} is another architecture: placement is 'post' in the checkpoint, and 'pre' is wanted"
    )


def test_every_field_that_differs_is_named():
    wanted = replace(CONFIG, eps=1e-5, causal=True, n_kv_heads=1)
    assert manifest.differences(CONFIG, wanted) == (
        "n_kv_heads is None in the checkpoint, and 1 is wanted; "
        "causal is False in the checkpoint, and True is wanted; "
        "eps is 1e-12 in the checkpoint, and 1e-05 is wanted"
    )
    assert manifest.differences(CONFIG, replace(CONFIG)) == ""


@pytest.mark.parametrize("field", asdict(CONFIG))
def test_each_field_of_a_config_is_kept_and_compared(tmp_path, field):
    other = {
        "d_model": 15,
        "n_heads": 4,
        "n_kv_heads": 1,
        "norm": "rms_norm",
        "norm_bias": False,
        "placement": "sandwich",
        "activation": "swiglu",
        "positions": "rotary",
        "residual_scaling": "rezero",
        "initialization": "normal",
        "d_ff": 11,
        "n_layers": 5,
        "eps": 0.25,
        "rotary_base": 8.5,
        "layer_scale_init": 0.125,
        "attention_dropout": 0.5,
        "residual_dropout": 0.25,
        "feed_forward_dropout": 0.75,
    }
    config = replace(CONFIG, norm_bias=False)
    value = other.get(field, not getattr(config, field))
    changed = replace(config, **{field: True if field == "norm_bias" else value})
    save(tmp_path, changed, random_parameters(changed))
    assert load(tmp_path, changed).config == changed
    with pytest.raises(CheckpointError, match=f"architecture: {field} is ") as refusal:
        load(tmp_path, config)
    assert ";" not in str(refusal.value)


def refuse_to_save(folder, kind, message, parameters=PARAMETERS, run=None):
    """A save that is refused leaves what the folder held."""
    save(folder, CONFIG, PARAMETERS, {"old": True})
    with pytest.raises(kind, match=message):
        save(folder, CONFIG, parameters, run)
    assert load(folder, CONFIG).run == {"old": True}


def changed(**tensors):
    return PARAMETERS | {name.replace("__", "."): value for name, value in tensors.items()}


def test_tensors_that_do_not_belong_are_not_saved(tmp_path):
    parameters = changed(**{"../escape": np.zeros(2)})
    del parameters["norm_2.bias"]
    message = r"norm_2\.bias is missing; \.\./escape is not a parameter of this block"
    refuse_to_save(tmp_path, ValueError, message, parameters)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_not_saved(tmp_path, bad):
    weight = PARAMETERS["norm_1.weight"].copy()
    weight[-1] = bad
    message = r"norm_1\.weight holds entries that are not finite"
    refuse_to_save(tmp_path, ValueError, message, changed(norm_1__weight=weight))


def test_a_dtype_that_safetensors_lacks_is_not_saved(tmp_path):
    wide = {name: value.astype(np.longdouble) for name, value in PARAMETERS.items()}
    message = r"norm_1\.weight must be one of float16, float32, float64; got float"
    refuse_to_save(tmp_path, TypeError, message, wide)


@pytest.mark.usefixtures("unchecked")
def test_a_torch_tensor_is_not_saved(tmp_path):
    tensors = {name: torch.tensor(value).bfloat16() for name, value in PARAMETERS.items()}
    message = r"norm_1\.weight must be a NumPy array; got a Tensor"
    refuse_to_save(tmp_path, TypeError, message, tensors)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("nan"), "not JSON compliant"),
        (np.zeros(2), "not JSON serializable"),
        ((1, 2), r"it would come back as \{'at': \[1, 2\]\}"),
        ({1: "one"}, r"it would come back as"),
    ],
)
def test_a_run_state_that_json_would_change_is_not_saved(tmp_path, value, why):
    refuse_to_save(tmp_path, TypeError, rf"run\['at'\] must be plain JSON: .*{why}", run={"at": value})


def test_a_run_state_without_an_end_is_not_saved(tmp_path):
    endless = []
    endless.append(endless)
    refuse_to_save(tmp_path, TypeError, r"run\['at'\] must be plain JSON", run={"at": endless})


def test_a_folder_without_a_checkpoint_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no manifest\.json"):
        load(tmp_path)


def test_two_threads_that_save_at_once_leave_one_of_their_checkpoints(tmp_path):
    several = [random_parameters(CONFIG, seed=seed) for seed in range(2)]

    def save_often(seed):
        for step in range(10):
            save(tmp_path, CONFIG, several[seed], {"seed": seed, "step": step})

    threads = [threading.Thread(target=save_often, args=[seed]) for seed in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if (tmp_path / "manifest.json").exists():
            back = load(tmp_path)
            assert_same(back.parameters, several[back.run["seed"]])
    assert load(tmp_path).run["step"] == 9


def test_a_load_that_meets_a_save_reads_the_new_checkpoint(tmp_path, monkeypatch):
    new = random_parameters(CONFIG, seed=5)
    save(tmp_path, CONFIG, PARAMETERS, {"step": 1})
    parse = manifest.parse_manifest

    def parse_then_save(folder):
        parsed = parse(folder)
        if parsed.run == {"step": 1}:
            save(tmp_path, CONFIG, new, {"step": 2})
        return parsed

    monkeypatch.setattr(manifest, "parse_manifest", parse_then_save)
    back = load(tmp_path)
    assert back.run == {"step": 2}
    assert_same(back.parameters, new)


def test_a_manifest_without_its_weights_says_which_file_is_missing(tmp_path):
    save(tmp_path, CONFIG, PARAMETERS)
    file = json.loads((tmp_path / "manifest.json").read_text())["weights"]["file"]
    (tmp_path / file).unlink()
    with pytest.raises(FileNotFoundError, match=f"lacks {file}, which its manifest names"):
        load(tmp_path)
