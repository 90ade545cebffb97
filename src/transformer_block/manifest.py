"""Checkpoints: weights in a safetensors file, and beside it what they are weights of.

A folder holds manifest.json and the weights that it names by their digest:

architecture  whether a block or a stack, and every field of its BlockConfig
weights       the file, its size and SHA-256; the dtype, and each tensor's shape
run           the state of the run: step, seed, optimizer …, whatever the caller says

The names and shapes of two architectures can be the same: post-norm weights fit into a
pre-norm block. That they don't belong there only the manifest can say.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save as in_safetensors

from transformer_block._manifest_form import (
    DTYPES,
    MANIFEST,
    VERSION,
    CheckpointError,
    Manifest,
    parse_manifest,
    parse_weights,
    weights_file,
)
from transformer_block._whole_files import keep_names, only_writer, write_whole
from transformer_block.config import BlockConfig
from transformer_block.parameters import Parameters, check, check_stack

__all__ = ["Checkpoint", "CheckpointError", "differences", "load", "read", "save"]

_OURS = re.compile(r"weights-[0-9a-f]{16}\.safetensors")


class Checkpoint(NamedTuple):
    """What `load` reads back: an architecture, its weights, and the state of a run."""

    config: BlockConfig
    parameters: Parameters
    run: dict[str, Any]


def save(
    path: str | os.PathLike[str],
    config: BlockConfig,
    parameters: Mapping[str, np.ndarray],
    run: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint into a folder, in place of the one that it holds.

    The parameters are those of one block, or of a stack. run is plain JSON, kept apart
    from the architecture. The weights are written first, under a name made from their
    digest; the new manifest then takes the place of the old in one step. Killed at any
    moment, the folder holds the old checkpoint whole or the new one whole, and the next
    save clears away what was left over. Several processes may save at once: they wait
    for each other.

    Raises: ValueError or TypeError that names each tensor that isn't one of config's,
    isn't float16, float32 or float64, or isn't finite; TypeError for a run that JSON
    would change; OSError where the folder can't be written. The old checkpoint stays.
    """
    arrays = {name: _plain_array(name, value) for name, value in parameters.items()}
    whole = "stack" if any(name.startswith("blocks.") for name in arrays) else "block"
    _check(whole, config, arrays)
    data = in_safetensors(arrays)
    weights = _described(arrays, data)
    architecture = {"whole": whole, "config": asdict(config)}
    manifest = {"version": VERSION, "architecture": architecture, "weights": weights}
    manifest["run"] = _plain(run or {})
    text = json.dumps(manifest, indent=1) + "\n"
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    keep_names(folder.parent)
    with only_writer(folder):
        write_whole(folder / weights["file"], data)
        write_whole(folder / MANIFEST, text.encode())
        for each in folder.iterdir():
            if _OURS.fullmatch(each.name) and each.name != weights["file"]:
                each.unlink()


def load(path: str | os.PathLike[str], config: BlockConfig | None = None) -> Checkpoint:
    """Read a checkpoint back, or say everything about it that is wrong.

    With a config, only a checkpoint of exactly this architecture is accepted. The
    arrays are the caller's own.

    Raises: FileNotFoundError without a manifest or its weights; CheckpointError, a
    ValueError, that names each field that differs from config, each tensor that is
    missing, unexpected or misshapen, weights that aren't those of the manifest, or what
    can't be read in either file.
    """
    folder = Path(path)
    manifest, data = _both(folder)
    stored, whole = manifest.config, manifest.whole
    if config is not None:
        differing = differences(stored, config)
        if differing:
            raise CheckpointError(f"{folder} is another architecture: {differing}")
    parameters = parse_weights(manifest, data)
    try:
        _check(whole, stored, parameters)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{folder / manifest.file}: {error}") from error
    return Checkpoint(stored, parameters, manifest.run)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the manifest alone, as it stands in its file, once it is known to be sound.

    Raises: FileNotFoundError; CheckpointError that says what is wrong with it.
    """
    return parse_manifest(Path(path)).content


def differences(stored: BlockConfig, wanted: BlockConfig) -> str:
    """Name each field in which two architectures differ, with both values.

    Empty for two that are the same.
    """
    ours, theirs = asdict(stored), asdict(wanted)
    return "; ".join(
        f"{name} is {ours[name]!r} in the checkpoint, and {theirs[name]!r} is wanted"
        for name in ours
        if ours[name] != theirs[name]
    )


def _both(folder: Path) -> tuple[Manifest, bytes]:
    """Read the manifest and its weights, which a save may replace in between."""
    manifest = parse_manifest(folder)
    while True:
        try:
            return manifest, (folder / manifest.file).read_bytes()
        except FileNotFoundError as error:
            before, manifest = manifest, parse_manifest(folder)
            if manifest.file == before.file:
                missing = f"{folder} lacks {manifest.file}, which its manifest names"
                raise FileNotFoundError(missing) from error


def _described(arrays: Parameters, data: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    return {
        "file": weights_file(digest),
        "bytes": len(data),
        "sha256": digest,
        "dtype": str(next(iter(arrays.values())).dtype),
        "tensors": {name: [*value.shape] for name, value in arrays.items()},
    }


def _plain_array(name: str, value: object) -> np.ndarray:
    """The same entries as safetensors stores them: row by row, in native order."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array; got a {type(value).__name__}")
    return np.ascontiguousarray(value, value.dtype.newbyteorder("="))


def _check(
    whole: str, config: BlockConfig, parameters: Mapping[str, np.ndarray]
) -> None:
    (check_stack if whole == "stack" else check)(config, parameters)
    for name, value in parameters.items():
        if str(value.dtype) not in DTYPES.values():
            known = ", ".join(DTYPES.values())
            raise TypeError(f"{name} must be one of {known}; got {value.dtype}")
        if not np.isfinite(value).all():
            raise ValueError(f"{name} holds entries that are not finite")


def _plain(run: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what JSON can't hold, and what would come back as something else."""
    for key, value in run.items():
        try:
            back = json.loads(json.dumps({key: value}, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"run[{key!r}] must be plain JSON: {error}") from error
        if back != {key: value}:
            raise TypeError(
                f"run[{key!r}] must be plain JSON: it would come back as {back}"
            )
    return dict(run)
