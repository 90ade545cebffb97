"""Small solution notebooks for an assignment of one tiny exercise."""

import ast
import contextlib
import io

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from block_course.exercise import Assignment
from tests.block_course.doubling import EXERCISE

ASSIGNMENT = Assignment(stem="07_tiny", exercises=(EXERCISE,))

STATEMENT = "# Tiny\n\n2 minutes, 2.5 points.\n\n*Warm-up, 2 minutes, 2.5 points.*"
SETUP = "import numpy as np\n\nfrom block_course.check import check, progress"
ANSWER = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
CHECK = 'check("tiny.double", double)'


def code(source, **metadata):
    return new_code_cell(source, metadata=metadata)


def text(source):
    return new_markdown_cell(source)


def notebook(*cells):
    """The given cells; sources that are no cells yet become code."""
    made = new_notebook(cells=[code(each) if isinstance(each, str) else each for each in cells])
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number}"
    return made


def whole():
    return notebook(text(STATEMENT), SETUP, ANSWER, "# scratch", CHECK, text("The end."), "progress()")


def run_here(made, folder, **names):
    """Run a notebook's cells in this process, in place of a kernel; `names` replaces what cells import."""
    space = dict(names)
    for number, cell in enumerate((cell for cell in made.cells if cell.cell_type == "code"), start=1):
        printed = io.StringIO()
        body = ast.parse(cell.source).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed):
            exec(compile(ast.Module(body, []), "cell", "exec"), space)
            space.update(names)
            value = last and eval(compile(ast.Expression(last.value), "cell", "eval"), space)
        cell.execution_count, cell.outputs = number, []
        if printed.getvalue():
            cell.outputs.append(new_output("stream", name="stdout", text=printed.getvalue()))
        if value is not None:
            cell.outputs.append(
                new_output("execute_result", {"text/plain": repr(value)}, execution_count=number)
            )


def write(made, path):
    path.parent.mkdir(exist_ok=True)
    nbformat.write(made, path)
    return path
