"""Hand-ins of learners who know the answer: whatever happened to the file, they earn full marks."""

import codecs

from tests.block_course.grading import hand_ins
from tests.block_course.grading.hand_ins import (
    CHECKS,
    FORWARD,
    STATISTICS,
    after,
    each_cell,
    edited,
    first,
    flags,
    last,
    source,
    without,
)

OPEN = 4 << 20

HONEST = {
    "the checks deleted": edited(without(*CHECKS)),
    "the checks replaced by pass": edited(each_cell(lambda cell: cell.update(source="pass"), *CHECKS)),
    "the checks turned into Markdown": edited(
        each_cell(lambda cell: cell.update(cell_type="markdown"), *CHECKS)
    ),
    "the checks marked as solutions": edited(each_cell(flags(solution=True, locked=False), *CHECKS)),
    "the checks marked as not graded": edited(each_cell(flags(grade=False), *CHECKS)),
    "the setup deleted": edited(without("layer_norm-setup")),
    "the setup emptied": edited(source("layer_norm-setup", "")),
    "all metadata lost": edited(each_cell(lambda cell: cell.update(metadata={}))),
    "the answers in Markdown cells": edited(
        each_cell(lambda cell: cell.update(cell_type="markdown"), STATISTICS, FORWARD)
    ),
    "a kernel that there isn't": edited(
        lambda notebook: notebook["metadata"].update(kernelspec={"name": "julia-1.9", "display_name": "J"})
    ),
    "no kernel": edited(lambda notebook: notebook.update(metadata={})),
    "all cell ids equal": edited(each_cell(lambda cell: cell.update(id="same"))),
    "nbformat 3": edited(hand_ins.as_nbformat_3),
    "a byte order mark": codecs.BOM_UTF8 + edited(),
    "UTF-16": edited().decode().encode("utf-16"),
    "Latin-1": edited(hand_ins.within_latin_1).decode().encode("latin-1"),
    "lines instead of texts": edited(
        each_cell(
            lambda cell: cell.update(source=str(cell["source"] and "".join(cell["source"])).splitlines(True))
        )
    ),
    "a null byte in an answer": edited(
        each_cell(lambda cell: cell.update(source="\x00" + "".join(cell["source"])), STATISTICS)
    ),
    "a leftover input()": edited(after(STATISTICS, "name = input('who? ')")),
    "magics and shell lines": edited(
        after(
            STATISTICS, "%matplotlib inline\n!ls\nstatistics?\nfiles = !ls\n%time statistics(np.ones((2, 3)))"
        )
    ),
    "a cell that writes a file": edited(last("%%writefile layer_norm.py\ndef layer_norm(): pass")),
    "an error in a cell of one's own": edited(after(STATISTICS, "1 / 0"), last("raise SystemExit")),
    "an error after the answer": edited(after(FORWARD, "print(layer_norm(3))")),
    "warnings and words on stderr": edited(
        first("import sys, warnings"),
        after(
            FORWARD,
            "def loud(f):\n"
            "    def g(*a, **k):\n"
            "        print('x'); print('y', file=sys.stderr); warnings.warn('old', DeprecationWarning)\n"
            "        return f(*a, **k)\n"
            "    return g\n"
            "layer_norm, statistics = loud(layer_norm), loud(statistics)",
        ),
    ),
    "warnings as errors": edited(first("import warnings; warnings.simplefilter('error')")),
    "much output": edited(first("for i in range(2000): print('x' * 1000)")),
    "names of builtins used": edited(last("sum = max = list = len = 3; print = None; check = progress = 0")),
    "a large output": edited(
        lambda notebook: notebook["cells"][-1].update(outputs=[{"data": {"image/png": "A" * OPEN}}])
    ),
    "many cells": edited(lambda notebook: notebook["cells"].extend([hand_ins.code("x = 1")] * 600)),
    "a plot": edited(last("import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()")),
    "NumPy's errors as exceptions": edited(last("np.seterr(all='raise'); np.random.seed(3)")),
    "an exercise of an older release": edited(
        each_cell(flags(checksum="0" * 32), "layer_norm-setup", STATISTICS, FORWARD, *CHECKS),
        source("layer_norm-setup", "import numpy as np\nfrom block_course.check import check"),
        source(CHECKS[0], 'check("layer_norm.moments", moments)'),
        after(STATISTICS, "moments = statistics"),
    ),
    "a closed stdout": edited(last("import sys, os; sys.stdout.close(); os.close(1); os.close(2)")),
}
