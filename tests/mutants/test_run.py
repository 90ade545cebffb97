"""A mutation run from end to end, over a package of one file."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.mutants.__main__ import PACKAGE, files_to_break, target_of
from tests.mutants.judge import Baseline
from tests.mutants.mutate import Mutant

pytestmark = pytest.mark.needs("fork")

CODE = """
    LIMIT = 2

    def clip(x):
        if x > LIMIT:
            return LIMIT
        while x < 0:
            x += 1
        return x
"""
TESTS = """
    import os
    from house.clip import clip

    def test_much_is_clipped():
        assert clip(5) == 2

    def test_little_is_kept():
        assert clip(1) == 1 and clip(-1) == 0

    def test_code_is_loaded_in_a_fork_alone():
        with open("forks", "a") as file:
            file.write(f"{os.getpid()}\\n")
"""
RUN = """
    import sys
    from pathlib import Path
    import pytest
    from tests.mutants.judge import Target
    from tests.mutants.ledger import Memory, read_equivalents
    from tests.mutants.run import Run

    target = Target("clip.py", Path("house/clip.py").absolute(), "house.clip", [Path("test_clip.py")])
    equivalents, memory = read_equivalents(Path("equivalent.toml")), Memory(Path("verdicts.jsonl"))
    run = Run([target], equivalents, memory, patience=1)
    code = pytest.main(["-s", "-pno:terminal", "-pno:cacheprovider", "--rootdir=."], plugins=[run])
    print(*run.faults, sep="\\n")
    print(code == pytest.ExitCode.NO_TESTS_COLLECTED, "house" in sys.modules)
"""
# What no test above notices: 2 clips to 2, too.
EQUIVALENT = """
    [[equivalent]]
    file = "clip.py"
    function = "clip"
    before = "if x > LIMIT:"
    after = "if x >= LIMIT:"
    reason = "x = LIMIT comes back as LIMIT on both ways"
"""


@pytest.fixture
def house(tmp_path):
    (tmp_path / "house").mkdir()
    files = {"house/__init__.py": "", "house/clip.py": CODE, "test_clip.py": TESTS, "run.py": RUN}
    for name, text in (files | {"equivalent.toml": EQUIVALENT}).items():
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path


def run(house):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-B", "run.py"]
    environment = {"PYTHONPATH": f"{root}:{house}", "PATH": ""}
    done = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_every_fault_is_noticed_or_known_to_be_none_and_a_second_run_judges_nothing_anew(house):
    first = heading, row, total, fault, end = run(house)
    assert heading.split() == ["file", "mutants", "noticed", "equal", "missed", "seconds"]
    mutants, noticed, equal, missed = map(int, row.split()[1:5])
    assert (equal, missed, noticed) == (1, 0, mutants - 1)
    assert total.split() == ["all", *row.split()[1:5]]
    assert (fault, end) == ("", "True False")
    forks = (house / "forks").read_text()
    assert [line.split()[:5] for line in run(house)] == [line.split()[:5] for line in first]
    assert (house / "forks").read_text() == forks


@pytest.mark.slow
def test_another_test_is_tried_on_what_went_unnoticed_alone(house):
    first = run(house)
    before = (house / "verdicts.jsonl").read_text().splitlines()
    more = RUN.replace('[Path("test_clip.py")', '[Path("test_clip.py"), Path("test_more.py")')
    (house / "run.py").write_text(textwrap.dedent(more))
    (house / "test_more.py").write_text("def test_nothing():\n    pass\n")
    assert [line.split()[:5] for line in run(house)] == [line.split()[:5] for line in first]
    verdicts = [json.loads(line) for line in (house / "verdicts.jsonl").read_text().splitlines()]
    again = {each["mutant"] for each in verdicts[len(before) :]}
    # One survived, and one ran for ever, so that no test could say that it had noticed it.
    assert again == {"clip: if x > LIMIT: → if x >= LIMIT: #1", "clip: x += 1 → x -= 1 #1"}


@pytest.mark.slow
def test_a_fault_that_no_test_notices_is_named(house):
    (house / "equivalent.toml").write_text("")
    *_, fault, _ = run(house)
    assert fault == "no test notices clip.py: clip: if x > LIMIT: → if x >= LIMIT: #1"


@pytest.mark.slow
def test_tests_that_fail_without_a_fault_prove_nothing(house):
    (house / "test_clip.py").write_text("def test_wrong():\n    assert False\n")
    *_, total, fault, _ = run(house)
    assert total.split() == ["all", "0", "0", "0", "0"]
    assert fault == "clip.py is not judged: test_clip.py::test_wrong fails without any fault"


def mutant(lines, scope):
    return Mutant("f", lines, scope, "", "", 1, "")


def test_the_quick_tests_of_the_very_line_come_first():
    measured = Baseline(
        seconds={"slow": 2.0, "quick": 0.1, "near": 3.0, "elsewhere": 0.0},
        tests_of_line={2: ["slow", "quick", "near"], 3: ["near", ""], 9: ["elsewhere"]},
    )
    assert measured.order_for(mutant(range(3, 4), range(2, 4))) == ["near", "quick", "slow"]
    assert measured.order_for(mutant(range(1, 2), None)) == ["elsewhere", "quick", "slow", "near"]


def test_what_no_test_was_seen_to_run_may_be_noticed_by_all_of_them():
    measured = Baseline(seconds={"slow": 2.0, "quick": 0.1}, tests_of_line={2: ["slow"]})
    assert measured.order_for(mutant(range(7, 8), range(6, 9))) == ["quick", "slow"]


def test_every_file_that_is_broken_has_tests_of_its_own():
    files = files_to_break()
    assert {"config.py", "parameters.py", "joins.py", "in_numpy/masks.py", "in_torch/masks.py"} <= set(files)
    for file in files:
        target = target_of(file)
        assert target.path == PACKAGE / file
        assert target.tests


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("layer_norm", ["in_numpy/test_layer_norm.py", "in_numpy/test_layer_norm_backward.py"]),
        ("_call", ["in_numpy/test_block.py", "in_numpy/test_block_backward.py", "test_block_agrees.py"]),
    ],
)
def test_a_file_has_its_tests_by_its_stem_beside_it_and_where_the_twins_meet(file, tests):
    target = target_of(f"in_numpy/{file}.py")
    assert target.module == f"transformer_block.in_numpy.{file}"
    root = Path(__file__).parents[1] / "transformer_block"
    assert [path.relative_to(root).as_posix() for path in target.tests] == tests


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("minilm/in_numpy.py", ["minilm/test_encoders.py", "minilm/test_encoders_parts.py"]),
        (
            "audit/layers.py",
            [
                *("audit/test_ours.py", "audit/test_ours_known.py", "peers/test_audit.py"),
                *("peers/test_audit_hugging_face.py", "peers/test_audit_pytorch.py"),
            ],
        ),
        ("_audit_command.py", ["test_audit_command.py", "test_audit_command_shown.py"]),
        ("_manifest_form.py", [f"test_manifest{end}.py" for end in ("", "_file", "_form", "_killed")]),
    ],
)
def test_what_has_no_tests_of_its_name_is_judged_by_those_that_use_it(file, tests):
    root = Path(__file__).parents[1] / "transformer_block"
    assert [path.relative_to(root).as_posix() for path in target_of(file).tests] == tests


@pytest.mark.parametrize(
    ("file", "what"),
    [("in_numpy/nothing.py", "there is no"), ("axes.py", None), ("__init__.py", "has no tests")],
)
def test_a_file_that_is_missing_or_has_no_tests_is_refused(file, what):
    if what is None:
        assert target_of(file).tests
    else:
        with pytest.raises(FileNotFoundError, match=what):
            target_of(file)
