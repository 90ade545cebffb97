"""What a manifest and its weights look like on disk, and every way they can be bad."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from safetensors import SafetensorError, deserialize

from transformer_block.config import BlockConfig
from transformer_block.parameters import Parameters

MANIFEST = "manifest.json"
VERSION = 1
DTYPES = {"F16": "float16", "F32": "float32", "F64": "float64"}
"""What both safetensors and NumPy hold; NumPy has no bfloat16."""

_FORM: dict[str, dict[str, type]] = {
    "architecture": {"whole": str, "config": dict},
    "weights": {
        "file": str,
        "bytes": int,
        "sha256": str,
        "dtype": str,
        "tensors": dict,
    },
}
_JSON = {str: "string", int: "integer", dict: "object"}
_TOP = {"version": int, "architecture": dict, "weights": dict, "run": dict}


class CheckpointError(ValueError):
    """A checkpoint that isn't what it should be; the message names each fault."""


class Manifest(NamedTuple):
    """A manifest that is sound in itself; whether its weights are is another matter."""

    content: dict[str, Any]
    config: BlockConfig
    path: Path

    @property
    def whole(self) -> str:
        """Block or stack."""
        return str(self.content["architecture"]["whole"])

    @property
    def weights(self) -> dict[str, Any]:
        """What it says of its weights."""
        return dict(self.content["weights"])

    @property
    def file(self) -> str:
        """The name of the weights' file, which lies beside the manifest."""
        return weights_file(self.weights["sha256"])

    @property
    def run(self) -> dict[str, Any]:
        """The state of the run, apart from the architecture."""
        return dict(self.content["run"])


def weights_file(digest: str) -> str:
    """Name a file by what is in it, so that no manifest can mean another one."""
    return f"weights-{digest[:16]}.safetensors"


def parse_manifest(folder: Path) -> Manifest:
    """Read manifest.json.

    Raises: FileNotFoundError; CheckpointError that lists what is wrong with it.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no {MANIFEST}")
    content = _json(path)
    version = content.get("version")
    if version != VERSION:
        raise CheckpointError(
            f"{path} has version {version!r}; this package reads version {VERSION}"
        )
    faults = list(_form_faults(content)) or list(_value_faults(content))
    if faults:
        raise CheckpointError(f"{path}: {'; '.join(faults)}")
    return Manifest(content, _config(path, content["architecture"]["config"]), path)


def parse_weights(manifest: Manifest, data: bytes) -> Parameters:
    """Read the tensors, once the bytes are known to be those that the manifest means.

    Raises: CheckpointError for other bytes, for a file that isn't safetensors, and for
    tensors that aren't those that the manifest lists.
    """
    path, weights = manifest.path.with_name(manifest.file), manifest.weights
    if len(data) != weights["bytes"]:
        raise CheckpointError(
            f"{path} has {len(data):,} bytes; its manifest says {weights['bytes']:,}"
        )
    digest = hashlib.sha256(data).hexdigest()
    if digest != weights["sha256"]:
        raise CheckpointError(
            f"{path} is not the file that its manifest describes: its SHA-256 is "
            f"{digest}, and not {weights['sha256']}"
        )
    try:
        tensors = dict(deserialize(data))  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise CheckpointError(f"{path} is not a safetensors file: {error}") from error
    faults = list(_tensor_faults(weights, tensors))
    if faults:
        raise CheckpointError(f"{path}: {'; '.join(faults)}")
    return {
        name: np.frombuffer(tensors[name]["data"], DTYPES[tensors[name]["dtype"]])
        .reshape(tensors[name]["shape"])
        .copy()
        for name in weights["tensors"]
    }


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(
            path.read_bytes().decode(),
            parse_constant=_refuse,
            object_pairs_hook=_once,
        )
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise CheckpointError(f"{path} must hold an object; got a {kind}")
    return content


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{', '.join(twice)} is there twice")
    return content


def _form_faults(content: Mapping[str, Any]) -> Iterator[str]:
    faults = list(_fields("", content, _TOP))
    yield from faults
    for part in _FORM if not faults else ():
        yield from _fields(f"{part}.", content[part], _FORM[part])


def _fields(
    where: str, given: Mapping[str, Any], expected: Mapping[str, type]
) -> Iterator[str]:
    for name in given:
        if name not in expected:
            yield f"{where}{name} is unknown"
    for name, kind in expected.items():
        if name not in given:
            yield f"{where}{name} is missing"
        elif type(given[name]) is not kind:
            yield f"{where}{name} must be a JSON {_JSON[kind]}; got {given[name]!r}"


def _value_faults(content: Mapping[str, Any]) -> Iterator[str]:
    whole, weights = content["architecture"]["whole"], content["weights"]
    if whole not in ("block", "stack"):
        yield f"architecture.whole must be block or stack; got {whole!r}"
    if not re.fullmatch("[0-9a-f]{64}", weights["sha256"]):
        yield f"weights.sha256 must be 64 hex digits; got {weights['sha256']!r}"
    elif weights["file"] != weights_file(weights["sha256"]):
        expected = weights_file(weights["sha256"])
        yield f"weights.file must be {expected}; got {weights['file']!r}"


def _config(path: Path, given: Mapping[str, Any]) -> BlockConfig:
    known = [field.name for field in fields(BlockConfig)]
    faults = [f"{name} is missing" for name in known if name not in given]
    faults += [f"{name} is unknown" for name in given if name not in known]
    if faults:
        raise CheckpointError(f"{path}, architecture.config: {'; '.join(faults)}")
    try:
        return BlockConfig(**given)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path}, architecture.config: {error}") from error


def _tensor_faults(
    weights: Mapping[str, Any], tensors: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    described = weights["tensors"]
    for name, shape in described.items():
        if name in tensors:
            yield from _tensor_fault(name, tensors[name], shape, weights["dtype"])
        else:
            yield f"{name} is missing"
    for name in tensors:
        if name not in described:
            yield f"{name} is not in the manifest"


def _tensor_fault(
    name: str, tensor: Mapping[str, Any], shape: object, expected: str
) -> Iterator[str]:
    dtype = DTYPES.get(tensor["dtype"], tensor["dtype"])
    if tensor["shape"] != shape:
        yield f"{name} has shape {tensor['shape']}, and not {shape}"
    elif dtype == "BF16":
        yield f"{name} is bfloat16, which NumPy lacks: float32 holds each of them"
    elif dtype != expected:
        yield f"{name} is {dtype}, and not {expected}"
    elif dtype not in DTYPES.values():
        yield f"{name} must be one of {', '.join(DTYPES.values())}; got {dtype}"
