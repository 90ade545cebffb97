"""The reference of a package, from its source: signatures with shapes, docstrings with their equations.

A page says:

    ```{api} package.module
    :only: name other_name
    :values: CONSTANT TypeAlias
    ```

It shows the module's docstring and every public function and class (or those in `only`), and of the named
values those in `values`. Nothing is imported: a page is read again when a source file that it shows changes,
and the build needs neither the package nor what it stands on. A type of the package that is shown nowhere is
a reference without a target, which `-n` reports.

In a docstring, a paragraph that does not end as a sentence does is an equation, and keeps its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.domains import python
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from block_course.book.signatures import Entry, Module, read

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_DIRECTIVES = {
    "function": python.PyFunction,
    "class": python.PyClasslike,
    "method": python.PyMethod,
    "property": python.PyProperty,
    "data": python.PyVariable,
}
_SENTENCE_ENDS = (".", ":", "?")
_LABELED = re.compile(r"^(Raises|Source): ", re.MULTILINE)
_MARKED = re.compile(r"`(?P<code>[^`]+)`|(?P<item>\w+(?:\[\"\w+\"\])+)|arXiv:(?P<arxiv>\d{4}\.\d{4,5})")


def documented(doc: str, module: str) -> list[nodes.Element]:
    """A docstring as nodes: paragraphs, equations line by line, what it raises and where it comes from."""
    return [node for block in re.split(r"\n\s*\n", doc) for node in _block(block, module)]


def _block(block: str, module: str) -> Iterator[nodes.Element]:
    labeled = [match.start() for match in _LABELED.finditer(block)]
    if not labeled and block.strip() and not block.rstrip().endswith(_SENTENCE_ENDS):
        lines = [nodes.line("", "", nodes.literal(text=line.strip())) for line in block.splitlines()]
        yield nodes.line_block("", *lines, classes=["api-equation"])
        return
    for start, end in zip([0, *labeled], [*labeled, len(block)], strict=True):
        text = " ".join(block[start:end].split())
        if not text:
            continue
        paragraph = nodes.paragraph()
        if _LABELED.match(text):
            label, text = text.split(": ", 1)
            paragraph += [nodes.strong(text=label), nodes.Text(": ")]
        paragraph += list(_inline(text, module))
        yield paragraph


def _inline(text: str, module: str) -> Iterator[nodes.Node]:
    end = 0
    for match in _MARKED.finditer(text):
        yield nodes.Text(text[end : match.start()])
        end = match.end()
        if paper := match["arxiv"]:
            yield nodes.reference("", match[0], refuri=f"https://arxiv.org/abs/{paper}", internal=False)
        elif item := match["item"]:
            yield nodes.literal(text=item)
        else:
            code = nodes.literal(text=match["code"])
            where = {"refdomain": "py", "reftype": "obj", "reftarget": match["code"], "py:module": module}
            yield addnodes.pending_xref("", code, api_optional=True, **where)
    yield nodes.Text(text[end:])


class Api(SphinxDirective):
    """The directive `api`."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"only": directives.unchanged, "values": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Show a module."""
        module = self._read(self.arguments[0])
        shown = {entry.name: entry for entry in module.entries if entry.kind != "data"}
        only, values = (self.options.get(name, "").split() for name in ("only", "values"))
        known = {entry.name: entry for entry in module.entries}
        if unknown := [name for name in (*only, *values) if name not in known]:
            raise self.error(f"{module.name} has no {', '.join(unknown)}")
        if only:
            shown = {name: known[name] for name in only}
        entries = [*(known[name] for name in values), *shown.values()]
        path = nodes.paragraph("", "", nodes.literal(text=module.name), classes=["api-path"])
        intro = nodes.container("", path, *documented(module.doc, module.name), classes=["no-glossary"])
        before = dict(self.env.ref_context)
        self.env.ref_context["py:module"] = module.name
        described = [node for entry in entries for node in self._described(entry)]
        self.env.ref_context.clear()
        self.env.ref_context.update(before)
        return [intro, *described]

    def _read(self, name: str) -> Module:
        path = Path(self.env.srcdir, self.config.api_source, *name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not path.exists():
            raise self.error(f"no module {name} below {self.config.api_source}/")
        self.env.note_dependency(str(path))
        return read(path, name)

    def _described(self, entry: Entry) -> list[nodes.Node]:
        options: dict[str, Any] = {}
        signature = entry.name + entry.signature
        if entry.kind == "data":
            signature, options = entry.name, {"value": entry.signature}
        elif entry.kind == "property":
            signature, options = entry.name, {"type": entry.signature} if entry.signature else {}
        described: list[Any] = self._directive(entry.kind, signature, options).run()
        content = described[-1][-1]
        content += documented(entry.doc, self.env.ref_context["py:module"])
        if entry.members:
            # what Sphinx's own directives leave while the content of a class is read
            self.env.ref_context |= {"py:class": entry.name, "py:classes": [entry.name]}
            content += [node for member in entry.members for node in self._described(member)]
            self.env.ref_context |= {"py:class": None, "py:classes": []}
        return described

    def _directive(self, kind: str, signature: str, options: dict[str, Any]) -> Any:
        return _DIRECTIVES[kind](
            f"py:{kind}", [signature], options, StringList(), self.lineno, self.content_offset, "",
            self.state, self.state_machine,
        )  # fmt: skip


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> nodes.Node | None:
    """Link a type that is a named value; leave as text what is no entry, and types of other packages."""
    if node.get("refdomain") != "py" or not node.get("py:module"):
        return None
    target = str(node["reftarget"])
    named = env.get_domain("py").data["objects"].get(target)
    if named and named.objtype == "data":
        shown = nodes.Text(target.rpartition(".")[2])
        page = node.get("refdoc", env.docname)
        return make_refnode(app.builder, page, named.docname, named.node_id, shown, target)
    ours = target.partition(".")[0] in app.config.api_packages
    return None if ours and not node.get("api_optional") else content


def _start(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.config.html_static_path.append(str(Path(__file__).parent / "assets" / "reference"))
        app.add_css_file("reference.css")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive; `api_source` holds the packages, of which `api_packages` are shown."""
    app.add_config_value("api_source", "src", "env", types=(str,))
    app.add_config_value("api_packages", [], "env", types=(list,))
    app.add_directive("api", Api)
    app.connect("builder-inited", _start)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
