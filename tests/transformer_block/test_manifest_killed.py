"""A process that is killed while it saves leaves the old checkpoint whole, or the new one."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.transformer_block.numerics import random_parameters, small_config
from transformer_block.config import BlockConfig
from transformer_block.manifest import load, save

pytestmark = [pytest.mark.slow, pytest.mark.needs("fork"), pytest.mark.usefixtures("unchecked")]

CONFIG = small_config()
OLD, NEW = (random_parameters(CONFIG, seed) for seed in (1, 2))
CALLS = ("open", "write", "fsync", "replace", "unlink", "close")
"""What a save asks of the system, in os, that changes the folder or promises that it is changed."""


def fork(act: Callable[[], None]) -> int:
    """Run something in a child that ends without any cleaning up; give its process id."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def status_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(moment: int, before: bool) -> Iterator[str]:
    """Patch os so that this process dies at one of the calls of a save: before it acts, or after."""
    count = iter(range(10_000))

    def watched(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            now = next(count) == moment
            if now and before:
                if name == "write":  # half of the data is on the disk
                    real(args[0], args[1][: len(args[1]) // 2])
                die()
            try:
                return real(*args, **options)
            finally:  # some calls find nothing to do, and say so by raising
                if now:
                    die()

        return call

    for name in CALLS:
        setattr(os, name, watched(name, getattr(os, name)))
        yield name


def which(folder: Path) -> str:
    """Name the checkpoint that the folder holds, once it is proved whole."""
    config, parameters, run = load(folder, CONFIG)
    assert config == CONFIG
    for name, value in {"old": OLD, "new": NEW}[run["is"]].items():
        np.testing.assert_array_equal(parameters[name], value)
    return run["is"]


@pytest.mark.parametrize("before", [True, False])
def test_killed_at_any_call_a_save_leaves_the_old_or_the_new_checkpoint(tmp_path, before):
    found = []
    for moment in range(100):
        folder = tmp_path / str(moment)
        save(folder, CONFIG, OLD, {"is": "old"})

        def save_and_die(moment: int = moment, folder: Path = folder) -> None:
            list(kill_at(moment, before))
            save(folder, CONFIG, NEW, {"is": "new"})

        status = status_of(fork(save_and_die))
        assert status in (0, -signal.SIGKILL)
        found.append(which(folder))
        save(folder, CONFIG, OLD, {"is": "old"})
        assert len(list(folder.iterdir())) == 3  # nothing of the killed one is left over
        if status == 0:
            break
    assert status == 0
    assert len(found) > 12
    assert found == sorted(found, reverse=True)  # old up to one moment, new from then on
    assert {"old", "new"} == set(found)


def test_killed_at_any_time_a_process_that_saves_without_end_leaves_a_whole_checkpoint(tmp_path):
    rng = np.random.default_rng(0)
    save(tmp_path, CONFIG, OLD, {"is": "old"})

    ready, begun = os.pipe()

    def save_without_end() -> None:
        while True:
            save(tmp_path, CONFIG, NEW, {"is": "new"})
            save(tmp_path, CONFIG, OLD, {"is": "old"})
            os.write(begun, b".")

    found = set()
    for _ in range(40):
        child = fork(save_without_end)
        os.read(ready, 1)
        time.sleep(rng.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        assert status_of(child) == -signal.SIGKILL
        found.add(which(tmp_path))
    os.close(ready)
    os.close(begun)
    assert found == {"old", "new"}


def test_a_killed_writer_keeps_nobody_waiting(tmp_path):
    def save_and_die() -> None:
        os.replace = lambda *args: die()  # it holds the lock
        save(tmp_path, CONFIG, OLD, {"is": "old"})

    assert status_of(fork(save_and_die)) == -signal.SIGKILL
    save(tmp_path, CONFIG, NEW, {"is": "new"})
    assert which(tmp_path) == "new"


def test_a_full_disk_leaves_the_old_checkpoint_and_takes_no_room(tmp_path, monkeypatch):
    save(tmp_path, CONFIG, OLD, {"is": "old"})
    before = sorted(path.name for path in tmp_path.iterdir())

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path, CONFIG, NEW, {"is": "new"})
    monkeypatch.undo()
    assert which(tmp_path) == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_system_that_writes_a_little_at_a_time_is_asked_again(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:1000]))
    save(tmp_path, CONFIG, NEW, {"is": "new"})
    monkeypatch.undo()
    assert which(tmp_path) == "new"


def test_a_name_appears_only_when_what_it_names_is_on_the_disk(tmp_path, monkeypatch):
    """A power cut: each file is synced before its rename, and the folder's names behind it."""
    folder, told = tmp_path / "run", []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        told.append(f"fsync {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name}")
        fsync(descriptor)

    def replaced(source: Path, target: Path) -> None:
        told.append(f"{source.name} → {target.name.partition('-')[0]}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    save(folder, CONFIG, NEW)
    assert told == [
        f"fsync {tmp_path.name}",
        *("fsync .draft", ".draft → weights", "fsync run"),
        *("fsync .draft", ".draft → manifest.json", "fsync run"),
    ]


def test_two_architectures_of_one_shape_never_share_a_manifest(tmp_path):
    """Weights and manifest can't disagree: each save of other weights has other files."""
    post = BlockConfig(**{**vars(CONFIG), "placement": "post"})
    save(tmp_path, CONFIG, OLD)
    save(tmp_path, post, OLD)
    assert load(tmp_path, post).config == post
