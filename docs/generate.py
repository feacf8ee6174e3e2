"""What the generated parts of the pages say, read from the code.

The pages call these functions between cog markers; `make docs` runs them, `make check` compares. Every function
returns Markdown, and the same Markdown on every machine: no terminal width, colour or local path gets in.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer

ROOT = Path(__file__).parents[1]
WIDTH = 100


class Setting(NamedTuple):
    """One line of the settings page; `path` is its place in the file, as `llm.timeout_s`."""

    env: str
    path: str
    default: str
    description: str


def cli() -> str:
    """Return one section per command of `doxa`, holding what its `--help` prints."""
    return "\n\n".join(f"## `{name}`\n\n```text\n{text.rstrip()}\n```" for name, text in commands())


def commands() -> Iterator[tuple[str, str]]:
    """Yield the full name and the help text of every command and group, `doxa` first."""
    from doxa.transport.cli import app

    yield from _walk(typer.main.get_command(app), "doxa", None)


def config() -> str:
    """Return one table per group of settings."""
    groups: dict[str, list[Setting]] = {}
    for setting in settings():
        groups.setdefault(setting.path.rpartition(".")[0], []).append(setting)
    return "\n\n".join(_settings_table(group, rows) for group, rows in groups.items())


def settings() -> list[Setting]:
    """Return every setting in the order of the `Config` tree."""
    from doxa.core.config import settings as read

    return [Setting(env, ".".join(path), _default(value), text) for env, path, value, text in read()]


def errors() -> str:
    """Return the tree of exceptions, and a table of what each one means and carries."""
    from doxa.core import errors as module

    drawing = [line[4:] for line in inspect.getdoc(module).splitlines() if line.startswith("    ")]
    rows = [
        [f"`{name}`", f"`{cls.__base__.__name__}`", inspect.getdoc(cls) or "", _attributes(cls)]
        for name, cls in ((name, getattr(module, name)) for name in module.__all__)
    ]
    return "\n".join(["```text", *drawing, "```", "", _table(["exception", "is a", "means", "carries"], rows)])


def schema() -> str:
    """Return the tables of a memory as SQL, each with what its columns hold."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateTable

    from doxa.backends.store import schema as tables

    source = inspect.getsource(tables)
    notes = re.findall(r'^(\w+) = Table\(.*?^\)\n"""(.+?)"""', source, re.M | re.S)
    parts = []
    for name, note in notes:
        statement = str(CreateTable(tables.metadata.tables[name]).compile(dialect=sqlite.dialect())).strip()
        lines = "\n".join(line.replace("\t", "    ").rstrip() for line in statement.splitlines())
        parts.append(f"## `{name}`\n\n{note}\n\n```sql\n{lines}\n```\n")
    return "\n" + "\n".join(parts) + "\n"


def ontology() -> str:
    """Return the relations that come with Doxa, group by group, each with its classes, axioms and phrases."""
    from doxa.logic import builtin_ontology

    known = builtin_ontology()
    groups: dict[str, list[list[str]]] = {name: [] for name, kind in known.relations.items() if kind.abstract}
    for kind in known.relations.values():
        if not kind.abstract:
            group = next(name for name in known.ancestors(kind.name) if name in groups)
            classes = f"{kind.domain or 'any'} -> {kind.range or 'any'}"
            named = {"functional": "one as a rule"} if kind.usual else {}
            axioms = [named.get(name, name) for name in AXIOMS if getattr(kind, name)]
            axioms += [] if kind.nature == "state" else [kind.nature]
            axioms += [f"inverse of `{kind.inverse}`"] if kind.inverse else []
            phrases = ", ".join(kind.phrases[:4])
            groups[group].append([f"`{kind.name}`", classes, ", ".join(axioms).replace("_", " "), phrases])
    head = ["relation", "from -> to", "axioms", "also said"]
    parts = [f"## `{name}`\n\n{_table(head, rows)}\n" for name, rows in groups.items() if rows]
    return "\n" + "\n".join(parts) + "\n"


def packages() -> str:
    """Return the packages of Doxa with the arrow line that each opens with."""
    rows = []
    for front in sorted((ROOT / "src" / "doxa").glob("*/__init__.py")):
        first = (ast.get_docstring(ast.parse(front.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        name, _, arrow = first.partition(": ")
        rows.append([f"`{name}`", arrow.rstrip(".")])
    return _table(["package", "what goes in -> what comes out"], rows)


AXIOMS = ("functional", "inverse_functional", "symmetric", "transitive", "asymmetric", "irreflexive")


def _walk(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    # Plain help: what rich draws depends on its version and on the terminal.
    command.rich_markup_mode = None
    context = command.context_class(command, info_name=name.rpartition(" ")[2], parent=parent, terminal_width=WIDTH)
    yield name, command.get_help(context)
    for child in command.list_commands(context) if hasattr(command, "list_commands") else ():
        sub = command.get_command(context, child)
        if not sub.hidden:
            yield from _walk(sub, f"{name} {child}", context)


def _settings_table(group: str, rows: list[Setting]) -> str:
    title = f"## `[{group}]`" if group else "## Top level"
    cells = [[f"`{row.path}`", f"`{row.env}`", row.default, row.description] for row in rows]
    return f"{title}\n\n{_table(['setting', 'environment', 'default', 'meaning'], cells)}"


def _default(value: Any) -> str:
    if value is None:
        return "unset"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _attributes(cls: type) -> str:
    """The names that the class's own `__init__` sets on `self`."""
    if "__init__" not in vars(cls):
        return ""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls.__init__)))
    targets = (target for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in node.targets)
    names = [t.attr for t in targets if isinstance(t, ast.Attribute) and ast.unparse(t.value) == "self"]
    return ", ".join(f"`{name}`" for name in names)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
