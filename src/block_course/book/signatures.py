"""What a module offers, read from its text: names, signatures, docstrings. Nothing is imported.

A type is written as the source has it, with two changes. `Float[np.ndarray, "*B D"]` becomes `Float["*B D"]`:
which library's array it is, the page says once. A name that comes from a public module of the same package
becomes its full path, so that it can be a link.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SHAPED = ("Float", "Bool", "Int", "Integer", "Shaped")


@dataclass(frozen=True)
class Entry:
    """One documented thing: kind is an object type of Sphinx's Python domain."""

    kind: str
    name: str
    signature: str
    doc: str
    members: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Module:
    """A module's docstring and its public entries, in the order of the file."""

    name: str
    doc: str
    entries: tuple[Entry, ...]


def read(path: Path, name: str) -> Module:
    """Read a module's public functions, classes and named values.

    Raises: OSError for a missing file; SyntaxError for one that is not Python.
    """
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, filename=str(path))
    reader = _Reader(text, name, _full_names(tree, name))
    return Module(name, ast.get_docstring(tree) or "", tuple(reader.entries(tree.body)))


def _full_names(tree: ast.Module, module: str) -> dict[str, str]:
    """Full path of each name that this module defines, or takes from a public one of its package."""
    package = module.partition(".")[0]
    full: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(f"{package}."):
            parts = node.module.split(".")
            if not any(part.startswith("_") for part in parts):
                full |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.ClassDef | ast.Assign | ast.AnnAssign):
            full |= {each: f"{module}.{each}" for each in _defined(node) if not each.startswith("_")}
    return full


def _defined(node: ast.ClassDef | ast.Assign | ast.AnnAssign) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        yield node.name
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _text(node: ast.stmt) -> str:
    """A statement that is a string: what stands below a named value to explain it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return inspect.cleandoc(str(node.value.value))
    return ""


class _Types(ast.NodeTransformer):
    def __init__(self, full: dict[str, str]) -> None:
        self.full = full

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        inner = node.slice
        if isinstance(node.value, ast.Name) and node.value.id in _SHAPED and isinstance(inner, ast.Tuple):
            return ast.Subscript(node.value, inner.elts[1], node.ctx)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        # a class is named in quotes inside itself
        if isinstance(node.value, str) and node.value in self.full:
            return self.visit_Name(ast.Name(node.value))
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.full:
            return node
        return ast.parse(self.full[node.id], mode="eval").body


class _Reader:
    def __init__(self, text: str, module: str, full: dict[str, str]) -> None:
        self.text, self.module, self.types = text, module, _Types(full)
        self.lines = text.encode().split(b"\n")  # ast counts columns in bytes

    def entries(self, body: list[ast.stmt]) -> Iterator[Entry]:
        for node, following in zip(body, [*body[1:], ast.Pass()], strict=True):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield Entry("function", node.name, self.signature(node), ast.get_docstring(node) or "")
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield self.of_class(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for name in _defined(node):
                    if not name.startswith("_"):
                        yield Entry("data", name, self.shapes(node.value), _text(following))

    def of_class(self, node: ast.ClassDef) -> Entry:
        members = tuple(member for each in node.body for member in self.member(each))
        starts = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        if starts:
            signature = self.signature(starts[0], bound=True, returns=False)
        else:
            fields = [
                f"{self.source(each.target)}: {self.type(each.annotation)}"
                + (f" = {self.source(each.value)}" if each.value else "")
                for each in node.body
                if isinstance(each, ast.AnnAssign)
            ]
            keywords = ["*"] if fields and "kw_only=True" in self.decorators(node) else []
            signature = f"({', '.join(keywords + fields)})"
        return Entry("class", node.name, signature, ast.get_docstring(node) or "", members)

    def member(self, node: ast.stmt) -> Iterator[Entry]:
        if not isinstance(node, ast.FunctionDef):
            return
        doc = ast.get_docstring(node)
        if not doc or (node.name.startswith("_") and node.name != "__call__"):
            return
        if any(kind in self.decorators(node) for kind in ("property", "cached_property")):
            yield Entry("property", node.name, self.type(node.returns) if node.returns else "", doc)
        else:
            yield Entry("method", node.name, self.signature(node, bound=True), doc)

    def decorators(self, node: ast.FunctionDef | ast.ClassDef) -> str:
        return " ".join(self.source(each) for each in node.decorator_list)

    def signature(self, node: ast.FunctionDef, *, bound: bool = False, returns: bool = True) -> str:
        given = node.args
        places = [*given.posonlyargs, *given.args]
        plain = [None] * (len(places) - len(given.defaults))
        shown = [self.argument(*pair) for pair in zip(places, [*plain, *given.defaults], strict=True)]
        if given.posonlyargs:
            shown.insert(len(given.posonlyargs), "/")
        if given.vararg:
            shown.append(f"*{self.argument(given.vararg)}")
        elif given.kwonlyargs:
            shown.append("*")
        shown += [self.argument(*pair) for pair in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
        if given.kwarg:
            shown.append(f"**{self.argument(given.kwarg)}")
        result = f" -> {self.type(node.returns)}" if returns and node.returns else ""
        return f"({', '.join(shown[bound:])}){result}"

    def argument(self, argument: ast.arg, default: ast.expr | None = None) -> str:
        shown = argument.arg
        if argument.annotation:
            shown += f": {self.type(argument.annotation)}"
        return f"{shown} = {self.source(default)}" if default else shown

    def type(self, node: ast.expr) -> str:
        return ast.unparse(ast.fix_missing_locations(self.types.visit(copy.deepcopy(node))))

    def shapes(self, node: ast.expr) -> str:
        """A value as it is written, its array types without their library."""
        return _Reader(self.text, self.module, {}).type(node)

    def source(self, node: ast.expr) -> str:
        """An expression as it is written, 1e-5 and not 1e-05; one of several lines may hold comments."""
        if node.lineno != node.end_lineno:
            return ast.unparse(node)
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
