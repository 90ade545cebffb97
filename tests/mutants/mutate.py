"""The mutants of a source file: each is the file with one small fault.

mutmut says which faults are worth making; two more are made here. mutmut itself leaves decorated functions,
properties and module constants as they are, so only its operators are used, on every node.
"""

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

# Nothing at run time depends on them.
TYPES_ALONE = {"TypeVar", "cast"}


@dataclass(frozen=True)
class Mutant:
    """One fault: where it is, how the lines read before and after, and the whole file with it."""

    function: str  # dotted; "" outside any function
    lines: range  # of the mutated node
    scope: range | None  # of the body that runs when the function is called; None: it runs on import
    before: str
    after: str
    number: int  # tells faults apart that read the same
    source: str

    @property
    def key(self) -> str:
        return f"{self.function}: {self.before} → {self.after} #{self.number}"


@dataclass(frozen=True)
class _Site:
    node: cst.CSTNode
    function: str
    lines: range
    scope: range | None


def mutants_of(path: Path, function: str | None = None) -> Iterator[Mutant]:
    """Every mutant of a file, or of one of its functions, that compiles and is not the file itself."""
    source = path.read_text(encoding="utf-8")
    original = ast.dump(ast.parse(source))
    alike: Counter[tuple[str, str, str]] = Counter()
    for site, mutated in _mutated(source, function):
        if _differs(mutated, original):
            reads = (site.function, *_changed_lines(source, mutated))
            alike[reads] += 1
            _, before, after = reads
            yield Mutant(site.function, site.lines, site.scope, before, after, alike[reads], mutated)


def _mutated(source: str, function: str | None) -> Iterator[tuple[_Site, str]]:
    """Each fault's place and the file with it; only the statement around it is written anew."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    module, positions = wrapper.module, wrapper.resolve(PositionProvider)
    code = [module.code_for_node(each) for each in (*module.header, *module.body, *module.footer)]
    for index, statement in enumerate(module.body, start=len(module.header)):
        if function is not None and not _defines(statement, function):
            continue
        visitor = _Sites(positions)
        statement.visit(visitor)
        for site in visitor.sites:
            for faulty in _faults(site.node):
                changed = cast(cst.CSTNode, statement.deep_replace(site.node, faulty))
                yield site, "".join((*code[:index], module.code_for_node(changed), *code[index + 1 :]))


def _defines(statement: cst.CSTNode, function: str) -> bool:
    return isinstance(statement, cst.FunctionDef) and statement.name.value == function


class _Sites(cst.CSTVisitor):
    """Every node where a fault would be one: no annotations, no overloads, no docstrings."""

    def __init__(self, positions: Mapping[cst.CSTNode, CodeRange]) -> None:
        super().__init__()
        self._positions = positions
        self.sites: list[_Site] = []
        self._names: list[str] = []
        self._bodies: list[range] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation) or _is_overload(node) or _is_of_types_alone(node):
            return False
        if not self._names and _is_alias(node):
            return False
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._names.append(node.name.value)
        if isinstance(node, cst.FunctionDef):
            self._bodies.append(self._lines(node.body))
        lines = self._lines(node)
        scope = self._bodies[0] if self._bodies and lines.start in self._bodies[0] else None
        self.sites.append(_Site(node, ".".join(self._names), lines, scope))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef) and not _is_overload(original_node):
            self._names.pop()
        if isinstance(original_node, cst.FunctionDef) and not _is_overload(original_node):
            self._bodies.pop()

    def _lines(self, node: cst.CSTNode) -> range:
        place = self._positions.get(node)
        return range(0) if place is None else range(place.start.line, place.end.line + 1)


def _faults(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in mutation_operators:
        if isinstance(node, kind):
            yield from operator(node)
    if isinstance(node, cst.If):
        inner = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        yield node.with_changes(test=cst.UnaryOperation(cst.Not(), inner))
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        yield cst.Pass()


def _differs(mutated: str, original: str) -> bool:
    try:
        compile(mutated, "mutant", "exec")
    except SyntaxError:
        return False
    return ast.dump(ast.parse(mutated)) != original


def _changed_lines(source: str, mutated: str) -> tuple[str, str]:
    diff = [*difflib.unified_diff(source.splitlines(), mutated.splitlines(), lineterm="", n=0)][2:]
    sides = ([line[1:].strip() for line in diff if line.startswith(sign)] for sign in ("-", "+"))
    before, after = (" ⏎ ".join(side) for side in sides)
    return before, after


def _is_overload(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.FunctionDef) and any(
        isinstance(each.decorator, cst.Name) and each.decorator.value == "overload"
        for each in node.decorators
    )


def _is_of_types_alone(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in TYPES_ALONE


def _is_alias(node: cst.CSTNode) -> bool:
    """Whether this names a type, as Rows = list[Row] does; a Literal's words are read at run time."""
    if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.Subscript):
        return False
    name, kind = node.targets[0].target, node.value.value
    named = isinstance(name, cst.Name) and re.fullmatch(r"[A-Z][a-z]\w*", name.value) is not None
    return named and not (isinstance(kind, cst.Name) and kind.value == "Literal")
