import os
from pathlib import Path

import numpy as np
import pytest

from block_course.grading.secret import Secret, SecretError, create_secret, read_secret

KEY = b"sixteen bytes...and more"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_bytes(KEY + b"\n")
    path.chmod(0o600)
    return path


def test_hidden_cases_are_the_same_for_one_secret_assignment_and_exercise() -> None:
    first, second = (Secret(KEY).generator("03_t", "t.f").integers(1 << 60, size=5) for _ in range(2))

    np.testing.assert_array_equal(first, second)


def test_hidden_cases_differ_by_secret_by_assignment_and_by_exercise() -> None:
    drawn = {
        int(Secret(key).generator(assignment, exercise).integers(1 << 60))
        for key in (KEY, KEY + b"x")
        for assignment, exercise in [
            ("03_t", "t.f"),
            ("04_t", "t.f"),
            ("03_t", "t.g"),
            ("03_tt", ".f"),
            ("03", "_tt.f"),
        ]
    }

    assert len(drawn) == 10


def test_the_seed_has_256_bits() -> None:
    entropy = Secret(KEY).generator("03_t", "t.f").bit_generator.seed_seq.entropy  # type: ignore[attr-defined]

    assert entropy.bit_length() > 240


def test_a_secret_shows_its_fingerprint_and_never_itself() -> None:
    secret = Secret(KEY)

    assert repr(secret) == f"Secret({secret.fingerprint})"
    assert len(secret.fingerprint) == 16
    assert secret.fingerprint != Secret(KEY + b"x").fingerprint
    assert KEY.decode() not in repr(secret)
    assert secret.handed_over() == KEY


def test_a_secret_is_read_without_the_white_space_around_it(file: Path) -> None:
    assert read_secret(file).fingerprint == Secret(KEY).fingerprint


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_secret_that_others_may_use_is_refused_with_the_cure(file: Path, mode: int) -> None:
    file.chmod(mode)

    with pytest.raises(SecretError, match=f"open to other users: chmod 600 {file}"):
        read_secret(file)


def test_a_short_secret_is_refused_with_the_cure(file: Path) -> None:
    file.write_bytes(b"fifteen bytes.. \n")

    with pytest.raises(
        SecretError, match=r"at least 16 bytes; got 15; make one with: \(umask 077; openssl rand"
    ):
        read_secret(file)


def test_a_secret_that_is_no_secret_is_refused(file: Path) -> None:
    file.write_bytes(b"x" * 5000)

    with pytest.raises(SecretError, match="has more than 4096 bytes"):
        read_secret(file)


def test_a_secret_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match="can't be read: No such file"):
        read_secret(tmp_path / "none")


def test_a_new_secret_is_its_owners_alone_and_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "secret"

    made = create_secret(path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert read_secret(path).fingerprint == made.fingerprint
    assert len(made.handed_over()) >= 32
    assert os.listdir(tmp_path) == ["secret"]


def test_a_secret_is_never_replaced(file: Path) -> None:
    with pytest.raises(FileExistsError):
        create_secret(file)

    assert file.read_bytes() == KEY + b"\n"
    assert os.listdir(file.parent) == ["secret"]
