"""The secret, and the hidden inputs that come from it: the same for everyone and for every attempt."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path

import numpy as np

FEWEST_BYTES = 16
_FRESH_BYTES = 32
_MOST_BYTES = 4096


class SecretError(Exception):
    """A secret that can't be used; the message says why, and the cure."""


class Secret:
    """A secret key. It is never printed and never leaves the trusted side."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        """Take a key of at least 16 bytes."""
        if len(key) < FEWEST_BYTES:
            raise SecretError(f"a secret needs at least {FEWEST_BYTES} bytes; got {len(key)}")
        self._key = key

    def __repr__(self) -> str:
        return f"Secret({self.fingerprint})"

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that tell two secrets apart and say nothing else about them."""
        return self._derive("fingerprint").hex()[:16]

    def generator(self, assignment: str, exercise: str) -> np.random.Generator:
        """The generator of an exercise's hidden cases, seeded with 256 bits.

        ```
        seed = HMAC-SHA256(secret, "cases" · assignment · exercise)
        ```
        """
        seed = self._derive("cases", assignment, exercise)
        return np.random.default_rng(int.from_bytes(seed, "big"))

    def handed_over(self) -> bytes:
        """The key itself, for another process of the grader's own."""
        return self._key

    def _derive(self, *labels: str) -> bytes:
        # each label carries its length, so that no two lists of labels make one message
        parts = [each.encode() for each in ("block-course grading", *labels)]
        message = b"".join(len(each).to_bytes(4, "big") + each for each in parts)
        return hmac.new(self._key, message, hashlib.sha256).digest()


def read_secret(path: Path) -> Secret:
    """The secret in a file; white space around it doesn't count.

    Raises SecretError if the file can't be read, is open to anyone but its owner, or holds too little.
    """
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(_MOST_BYTES + 1).strip()
    except OSError as error:
        raise SecretError(f"the secret {path} can't be read: {error.strerror}") from None
    if stat.S_IMODE(mode) & (stat.S_IRWXG | stat.S_IRWXO):
        raise SecretError(f"the secret {path} is open to other users: chmod 600 {path}")
    if len(key) > _MOST_BYTES:
        raise SecretError(f"the secret {path} has more than {_MOST_BYTES} bytes")
    try:
        return Secret(key)
    except SecretError as error:
        raise SecretError(
            f"{path}: {error}; make one with: (umask 077; openssl rand -hex 32 > {path})"
        ) from None


def create_secret(path: Path) -> Secret:
    """A new secret in a new file that only its owner can read; a kill leaves all of it or nothing.

    Raises FileExistsError if the file exists.
    """
    key = secrets.token_hex(_FRESH_BYTES).encode()
    descriptor, name = tempfile.mkstemp(prefix=".secret-", dir=path.parent)  # mode 0600
    try:
        with open(descriptor, "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(name, path)
    finally:
        os.unlink(name)
    return Secret(key)
