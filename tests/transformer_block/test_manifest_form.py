"""Whatever is wrong with a manifest or its weights is said by name."""

import hashlib
import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transformer_block.numerics import D, random_parameters, small_config
from transformer_block.manifest import CheckpointError, load, read, save

CONFIG = small_config()
PARAMETERS = random_parameters(CONFIG, dtype=np.float32)


@pytest.fixture
def folder(tmp_path):
    save(tmp_path, CONFIG, PARAMETERS, {"step": 3})
    return tmp_path


def rewrite(folder, change):
    """Change what the manifest says, in a dict."""
    said = json.loads((folder / "manifest.json").read_text())
    change(said)
    (folder / "manifest.json").write_text(json.dumps(said))


def weights_of(folder):
    return folder / read(folder)["weights"]["file"]


def put(folder, data):
    """Give the folder other weights, and a manifest that vouches for them."""
    digest = hashlib.sha256(data).hexdigest()
    file = f"weights-{digest[:16]}.safetensors"
    (folder / file).write_bytes(data)
    rewrite(folder, lambda said: said["weights"].update(file=file, sha256=digest, bytes=len(data)))


def header_and_rest(folder):
    data = weights_of(folder).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def put_header(folder, change):
    header, rest = header_and_rest(folder)
    change(header)
    text = json.dumps(header).encode()
    put(folder, struct.pack("<Q", len(text)) + text + rest)


def refusal_of(folder):
    with pytest.raises(CheckpointError) as refusal:
        load(folder)
    return str(refusal.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "manifest.json is not JSON: Expecting property name"),
        (b"", "manifest.json is not JSON: Expecting value"),
        (b"\xff\xfe", "manifest.json is not JSON: 'utf-8' codec can't decode"),
        (b"[" * 100_000, "manifest.json is not JSON: maximum recursion depth"),
        (b'{"version": NaN}', "manifest.json is not JSON: NaN is no number of JSON"),
        (b'{"version": 1, "version": 1}', "manifest.json is not JSON: version is there twice"),
        (b'{"a": 1, "c": 1, "b": 1, "a": 1, "b": 1}', "manifest.json is not JSON: a, b is there twice"),
        (b"[1]", "manifest.json must hold an object; got a list"),
        (b"{}", "manifest.json has version None; this package reads version 1"),
        (b'{"version": 2}', "manifest.json has version 2; this package reads version 1"),
        (
            b'{"version": 1, "run": [], "extra": 1}',
            "manifest.json: extra is unknown; architecture is missing; weights is missing; "
            "run must be a JSON object; got []",
        ),
    ],
)
def test_a_file_that_is_no_manifest_is_refused(folder, text, said):
    (folder / "manifest.json").write_bytes(text)
    assert refusal_of(folder).startswith(said)


@pytest.mark.parametrize(
    ("part", "changes", "said"),
    [
        ("architecture", {"whole": "half"}, "architecture.whole must be block or stack; got 'half'"),
        ("architecture", {"config": 1}, "architecture.config must be a JSON object; got 1"),
        ("weights", {"bytes": True}, "weights.bytes must be a JSON integer; got True"),
        ("weights", {"dtype": None, "age": 3}, "weights.age is unknown; weights.dtype must be a JSON string"),
        ("weights", {"sha256": "a/../b"}, "weights.sha256 must be 64 hex digits; got 'a/../b'"),
        ("weights", {"sha256": "0" * 65}, "weights.sha256 must be 64 hex digits"),
        ("weights", {"file": "../../etc/passwd"}, "weights.file must be weights-"),
        ("weights", {"file": "/etc/passwd"}, "weights.file must be weights-"),
    ],
)
def test_a_field_at_fault_is_named(folder, part, changes, said):
    rewrite(folder, lambda manifest: manifest[part].update(changes))
    assert refusal_of(folder).startswith(f"manifest.json: {said}")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n_heads": 5}, "d_model 12 is not divisible by n_heads 5"),
        ({"d_model": 12.0}, "d_model must be an int; got 12.0"),
        ({"placement": ["pre"]}, "placement must be one of pre, post, sandwich, parallel; got ['pre']"),
        ({"color": "red", "age": 3}, "color is unknown; age is unknown"),
    ],
)
def test_a_config_that_cannot_be_is_refused(folder, changes, said):
    rewrite(folder, lambda manifest: manifest["architecture"]["config"].update(changes))
    assert refusal_of(folder) == f"manifest.json, architecture.config: {said}"


def test_a_config_without_a_field_is_refused_though_the_field_has_a_default(folder):
    rewrite(folder, lambda manifest: manifest["architecture"]["config"].pop("eps"))
    assert refusal_of(folder) == "manifest.json, architecture.config: eps is missing"


def test_truncated_weights_are_refused_by_their_size(folder):
    file = weights_of(folder)
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[:100])
    assert refusal_of(folder) == f"{file.name} has 100 bytes; its manifest says {size:,}"


def test_one_changed_bit_is_seen(folder):
    file = weights_of(folder)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert refusal_of(folder).startswith(f"{file.name} is not the file that its manifest describes")


@pytest.mark.parametrize("length", [0, 7, 100])
def test_a_manifest_that_vouches_for_a_cut_file_does_not_help_it(folder, length):
    put(folder, weights_of(folder).read_bytes()[:length])
    assert "is not a safetensors file: " in refusal_of(folder)


def test_tensors_that_the_manifest_does_not_list_are_named(folder):
    def change(header):
        header["norm_3.bias"] = header.pop("norm_1.bias")

    put_header(folder, change)
    said = refusal_of(folder).partition(": ")[2]
    assert said == "norm_1.bias is missing; norm_3.bias is not in the manifest"


def test_a_tensor_of_another_shape_is_named(folder):
    put_header(folder, lambda header: header["norm_1.bias"].update(shape=[2, 6]))
    assert refusal_of(folder).endswith(": norm_1.bias has shape [2, 6], and not [12]")


@pytest.mark.parametrize(
    ("dtype", "shape", "said"),
    [
        ("BF16", [2 * D], "norm_1.bias is bfloat16, which NumPy lacks: float32 holds each of them"),
        ("F16", [2 * D], "norm_1.bias is float16, and not float32"),
        ("I32", [D], "norm_1.bias is I32, and not float32"),
    ],
)
def test_a_tensor_of_another_dtype_is_named(folder, dtype, shape, said):
    put_header(folder, lambda header: header["norm_1.bias"].update(dtype=dtype, shape=shape))
    rewrite(folder, lambda manifest: manifest["weights"]["tensors"].update({"norm_1.bias": shape}))
    assert refusal_of(folder).endswith(f": {said}")


def test_a_dtype_that_is_not_floating_is_refused_though_all_agree_on_it(folder):
    put_header(folder, lambda header: [header[name].update(dtype="I32") for name in PARAMETERS])
    rewrite(folder, lambda manifest: manifest["weights"].update(dtype="I32"))
    said = refusal_of(folder).partition(": ")[2]
    assert said.startswith("norm_1.weight must be one of float16, float32, float64; got I32")


def test_tensors_that_the_architecture_does_not_have_are_refused(folder):
    def shrink(manifest):
        manifest["architecture"]["config"]["norm_bias"] = False

    rewrite(folder, shrink)
    assert refusal_of(folder).partition(": ")[2] == (
        "norm_1.bias is not a parameter of this block; norm_2.bias is not a parameter of this block"
    )


def test_a_block_is_no_stack(folder):
    rewrite(folder, lambda manifest: manifest["architecture"].update(whole="stack"))
    assert "blocks.0.norm_1.weight is missing" in refusal_of(folder)


def test_weights_that_are_not_finite_are_refused(folder):
    header, rest = header_and_rest(folder)
    start = header["norm_1.bias"]["data_offsets"][0]
    text = json.dumps(header).encode()
    rest = rest[:start] + np.float32("nan").tobytes() + rest[start + 4 :]
    put(folder, struct.pack("<Q", len(text)) + text + rest)
    assert refusal_of(folder).endswith(": norm_1.bias holds entries that are not finite")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_manifest_with_any_part_replaced_loads_or_is_refused(folder, data):
    """No damage to the manifest ends in another exception, or in weights that were not saved."""
    before = (folder / "manifest.json").read_text()
    said = json.loads(before)
    at = data.draw(st.sampled_from(["version", "architecture", "weights", "run"]))
    where = said
    while isinstance(where[at], dict) and where[at] and data.draw(st.booleans()):
        where = where[at]
        at = data.draw(st.sampled_from(sorted(where)))
    leaf = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    where[at] = data.draw(
        st.recursive(leaf, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
    )
    (folder / "manifest.json").write_text(json.dumps(said))
    try:
        back = load(folder, CONFIG)
    except CheckpointError:
        pass
    else:
        for name, value in PARAMETERS.items():
            np.testing.assert_array_equal(back.parameters[name], value)
    finally:
        (folder / "manifest.json").write_text(before)
