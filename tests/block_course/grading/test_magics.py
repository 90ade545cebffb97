from pathlib import Path

import pytest

import block_course
from block_course.grading.magics import without_magics

REPLACED = {
    "a line magic": ("%matplotlib inline\nx = 1", "pass\nx = 1"),
    "a shell line": ("!pip install numpy\nx = 1", "pass\nx = 1"),
    "a shell line that goes on": ("!ls \\\n  -l\nx = 1", "pass\n\nx = 1"),
    "a magic in a block": ("for i in range(3):\n    %timeit f(i)\n", "for i in range(3):\n    pass\n"),
    "an assigned shell line": ("files = !ls\nx = 1", "files = []\nx = 1"),
    "a shell line assigned to a key": ("d['files', 0] = !ls\nx = 1", "d['files', 0] = []\nx = 1"),
    "a copied session": (
        ">>> x = 1\n>>> for i in x:\n...     i\n...\n%who",
        "x = 1\nfor i in x:\n    i\n\npass",
    ),
    "a copied session of IPython": ("\nIn [12]: x = 1\n    ...: y = 2\n", "\nx = 1\ny = 2\n"),
    "an assigned magic": ("names = %who_ls", "names = None"),
    "a timed statement": ("%time y = f(x)\n", "y = f(x)\n"),
    "an assigned timed expression": ("y = %time f(x)", "y = f(x)"),
    "a bare %time": ("%time\n", "pass\n"),
    "a question before": ("?np.mean\n", "pass\n"),
    "a question after": ("np.mean?\n", "pass\n"),
    "two questions after, with a comment": ("  x = 1\n  np.mean??  # look\n", "x = 1\npass\n"),
    "a timed cell": ("%%time\nx = 1\n%who\n", "\nx = 1\npass\n"),
    "a timed and captured cell": ("%%time\n\n%%capture out\nx = 1\n", "\n\n\nx = 1\n"),
    "a cell that writes a file": ("%%writefile answer.py\ndef f(): pass\n", ""),
    "a cell for another language": ("\n\n  %%bash\nrm -rf /\n", ""),
    "an indented cell": ("    x = 1\n    y = 2\n", "x = 1\ny = 2\n"),
    "the line ends of Windows": ("%who\r\nx = 1\r\n", "pass\nx = 1\n"),
    "a magic after an open bracket that is closed": ("f(1,\n  2)\n%who\n", "f(1,\n  2)\npass\n"),
    "a stray closing bracket": (")\n%who\n", ")\npass\n"),
}

KEPT = {
    "a remainder that begins a line": "x = (7\n% 2)\n",
    "a remainder after a continued line": "x = 7 \\\n% 2\n",
    "a % in a text of several lines": 's = """\n%who\n!ls\nwhat?\n"""\n',
    "a % in a text of several lines, other quotes": "s = '''\n%who \\''' x\n'''\n",
    "a text that goes on": "s = 'a\\\n%b'\n",
    "a text that looks like an assigned shell line": 'd["a = !ls"]\n"a = !ls"\n\'%\' = !x\n',
    "a text that looks like a copied session": 's = """\n>>> x\n... y\n"""\n',
    "a % in place": "x %= 3\ny != x\n",
    "a question in a comment": "x = 1  # why?\n",
    "a question in a text": "print('why?')\n",
    "a format": "print('%d' % 3)\n",
    "a text without an end": "s = 'a\n",
    "a long text without an end": 's = """%\n',
    "a text that ends in a backslash": "s = 'a\\",
}


@pytest.mark.parametrize(("source", "plain"), REPLACED.values(), ids=REPLACED.keys())
def test_what_only_ipython_understands_is_replaced(source: str, plain: str) -> None:
    assert without_magics(source) == plain


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT.keys())
def test_what_python_understands_is_kept(source: str) -> None:
    assert without_magics(source) == source


def test_every_file_of_the_course_comes_back_as_it_is() -> None:
    files = sorted(Path(block_course.__file__).parents[1].rglob("*.py"))
    assert len(files) > 20

    for file in files:
        source = file.read_text(encoding="utf-8")
        assert without_magics(source) == source, file


@pytest.mark.parametrize(
    "piece",
    [
        "%\n",
        "x=\n%",
        "'\\",
        '"""\\',
        "?",
        "\\\n",
        "[ ",
        "\n",
        " \n",
        "%time x\n",
        "a b",
        "%%time\n",
        "=",
        "'a'[",
        ">>> ",
        "...: \n",
    ],
)
def test_a_hostile_cell_of_megabytes_keeps_its_lines_and_is_done(piece: str) -> None:
    cell = piece * 30_000 + "%"  # with work that grows as the square of it, this test would not end

    assert without_magics(cell).count("\n") == cell.count("\n")
