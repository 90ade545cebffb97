"""Reads the imports of every file of src/ and names each one that breaks the order of the floors.

Imports run downward or stay on their floor, and never in a circle. `docs/ARCHITECTURE.md` says why.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

# Lowest floor first. A room is a file or a folder of files.
FLOORS = {
    "transformer_block": [
        {
            "__init__",
            "_attention_invariants",
            "_block_invariants",
            "_cost_invariants",
            "_invariants",
            "_manifest_form",
            "_whole_files",
            "axes",
            "config",
            "initialization",
            "joins",
            "models",
            "parameters",
            "presets",
            "tasks",
        },
        {"_activation_cost", "in_python", "in_numpy", "in_torch", "cost", "dependence", "graph", "manifest"},
        {
            "_page_table",
            "_stage_formulas",
            "_stage_knowledge",
            "audit",
            "explore",
            "figures",
            "minilm",
            "stepper",
            "training",
        },
        {"_audit_command", "_cost_command", "cli"},
    ],
    "block_course": [
        {
            "__init__",
            "exercise",
            "tolerance",
            "faults",
            "plain",
            "quiet",
            "under_test",
            "withholding",
            "calling",
            "expected",
        },
        {"checks", "advice", "diagnosis", "verdict", "outputs"},
        {"keeping", "panel", "check", "roles", "release", "refresh", "lab", "working", "book"},
        {"grading"},
        {"cli"},
    ],
}
# What a learner's code could reach: all that `in_box` loads, directly or not.
GRADING = "block_course.grading"
IN_BOX = f"{GRADING}.in_box"
BESIDE_THE_LEARNER = {
    "block_course",
    "block_course.calling",
    "block_course.exercise",
    "block_course.faults",
    "block_course.plain",
    "block_course.quiet",
    "block_course.under_test",
    "block_course.withholding",
    GRADING,
    IN_BOX,
    f"{GRADING}.answering",
    f"{GRADING}.inputs",
    f"{GRADING}.stand_in",
    f"{GRADING}.walls",
    f"{GRADING}.walls.descendants",
    f"{GRADING}.walls.forked",
    f"{GRADING}.walls.kernel",
    f"{GRADING}.walls.landlock",
    f"{GRADING}.walls.limits",
    f"{GRADING}.walls.names",
    f"{GRADING}.walls.namespaces",
    f"{GRADING}.walls.own_root",
    f"{GRADING}.walls.plan",
    f"{GRADING}.walls.prepare",
    f"{GRADING}.walls.probe",
    f"{GRADING}.walls.readable",
    f"{GRADING}.walls.seccomp",
    f"{GRADING}.walls.user",
    f"{GRADING}.wire",
}
MAX_FILE_LINES = 250
MAX_FUNCTION_LINES = 40


class Import(NamedTuple):
    """One name that a file imports; `early` if importing the file is enough to load it."""

    target: str
    line: int
    early: bool


class Module(NamedTuple):
    """One file of src/, and what it imports."""

    name: str
    path: Path
    tree: ast.Module
    imports: list[Import]

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def room(self) -> str:
        return room_of(self.name)


def breaches(src: Path) -> list[str]:
    """One sentence for each breach below src, sorted by file."""
    modules = read(src)
    found = [
        f"{module.path.relative_to(src)}:{line}: {what}"
        for module in modules.values()
        for line, what in [
            *_of_floors(module),
            *_of_rooms(module),
            *_of_loading(module, modules),
            *_of_size(module),
        ]
    ]
    return sorted(found) + _circles(modules)


def read(src: Path) -> dict[str, Module]:
    """Every module below src by its dotted name, with imports resolved to modules where there is one."""
    paths = {_dotted(path.relative_to(src)): path for path in sorted(src.rglob("*.py"))}
    modules = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        modules[name] = Module(name, path, tree, list(_imports(tree, package, set(paths))))
    return modules


def room_of(name: str) -> str:
    """The file or folder, right below the package, that a dotted name belongs to."""
    return [*name.split("."), "__init__"][1]


def floor_of(name: str) -> int | None:
    """How high a module lies in its package; None if it has no floor."""
    floors = FLOORS.get(name.partition(".")[0], [])
    return next((height for height, rooms in enumerate(floors) if room_of(name) in rooms), None)


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, package: str, known: set[str]) -> Iterator[Import]:
    for node, early in _statements(tree, early=True):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, early)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                yield Import(submodule if submodule in known else source, node.lineno, early)


def _statements(node: ast.AST, early: bool) -> Iterator[tuple[ast.AST, bool]]:
    for child in ast.iter_child_nodes(node):
        late = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _is_type_checking(
            child
        )
        yield child, early
        yield from _statements(child, early and not late)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _of_floors(module: Module) -> Iterator[tuple[int, str]]:
    height = floor_of(module.name)
    if height is None:
        yield 1, f"{module.name} has no floor: give it one in tests/floors.py and docs/ARCHITECTURE.md"
        return
    for target, line, _ in module.imports:
        package = target.partition(".")[0]
        if package in FLOORS and package != module.package:
            if module.package == "transformer_block":
                yield line, f"transformer_block stands without {target}"
        elif package in FLOORS and (floor_of(target) or 0) > height:
            yield line, f"{module.name} on floor {height} reaches up to {target} on floor {floor_of(target)}"


def _of_rooms(module: Module) -> Iterator[tuple[int, str]]:
    twins = {"in_numpy": "in_torch", "in_torch": "in_numpy"}
    without_torch = module.package == "transformer_block" and (
        module.room == "in_numpy" or floor_of(module.name) == 0
    )
    for target, line, _ in module.imports:
        root = target.partition(".")[0]
        if target.startswith("transformer_block.") and room_of(target) == twins.get(module.room):
            yield line, f"{module.name} imports its twin {target}"
        if root == "matplotlib" and module.room != "figures":
            yield line, f"{module.name} imports {target}; only transformer_block.figures draws"
        if root == "torch" and without_torch:
            yield line, f"{module.name} imports {target} and must work without it"


def _of_loading(module: Module, modules: dict[str, Module]) -> Iterator[tuple[int, str]]:
    if module.name == IN_BOX:
        for name in sorted(loaded_by(module, modules, early=False) - BESIDE_THE_LEARNER):
            yield 1, f"{name} would be loaded beside the learner's code"
    beside = module.name in (IN_BOX, f"{GRADING}.stand_in")
    if module.package == "block_course" and module.room in ("grading", "checks") and not beside:
        for name in sorted(loaded_by(module, modules, early=True)):
            if any(each.early and each.target.partition(".")[0] == "torch" for each in modules[name].imports):
                yield 1, f"{module.name} loads torch through {name}; the judge works without it"


def loaded_by(module: Module, modules: dict[str, Module], *, early: bool) -> set[str]:
    """The module and all of ours that it loads: on import alone if early, else whatever its functions do."""
    loaded: set[str] = set()
    waiting = [module.name]
    while waiting:
        name = waiting.pop()
        if name in modules and name not in loaded:
            loaded.add(name)
            waiting.append(name.rpartition(".")[0])
            waiting += [each.target for each in modules[name].imports if each.early or not early]
    return loaded


def _of_size(module: Module) -> Iterator[tuple[int, str]]:
    lines = len(module.path.read_text(encoding="utf-8").splitlines())
    if lines > MAX_FILE_LINES:
        yield lines, f"{lines} lines in one file; {MAX_FILE_LINES} are the limit"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {length} lines; {MAX_FUNCTION_LINES} are the limit"


def _circles(modules: dict[str, Module]) -> list[str]:
    graph = {
        name: {each.target for each in module.imports} & set(modules) for name, module in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [f"imports run in a circle: {' ← '.join(error.args[1])}"]
    return []
