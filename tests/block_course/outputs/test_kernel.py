import sys
from pathlib import Path

import pytest

from block_course.outputs.kernel import kernel_environment, kernel_manager


def test_a_kernel_has_one_thread_and_nobodys_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("KEPT", "yes")
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)

    environment = kernel_environment(tmp_path)

    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    assert [environment[name] for name in threads] == ["1", "1", "1"]
    assert "MPLBACKEND" not in environment
    assert environment["IPYTHONDIR"] == str(tmp_path)
    assert environment["PYTHONHASHSEED"] == "0"
    assert environment["KEPT"] == "yes"


def test_a_chosen_hash_seed_reaches_the_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "41")

    assert kernel_environment(tmp_path)["PYTHONHASHSEED"] == "41"


def test_the_kernel_is_this_interpreter_whatever_a_home_directory_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernels = tmp_path / "kernels" / "python3"
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text('{"argv": ["other"], "display_name": "", "language": "python"}')
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))

    specification = kernel_manager().kernel_spec

    assert specification is not None
    assert specification.argv[0] == sys.executable
