"""Rules that import-linter cannot state: package fronts, arrow lines, export lists, size budgets."""

import ast
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent / "src" / "doxa"
BENCH = ROOT.parents[1] / "packages" / "doxa-bench" / "src" / "doxa_bench"
FILES = sorted([*ROOT.rglob("*.py"), *BENCH.rglob("*.py")])
FRONTS = [path for path in FILES if path.name == "__init__.py"]
PACKAGES = [*sorted(p.parent for p in ROOT.glob("*/__init__.py")), BENCH]
MAX_FILE_LINES, MAX_FUNCTION_LINES = 600, 50


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("doxa", cache_dir=None)


def name_of(path: Path) -> str:
    return str(path.relative_to((BENCH if path.is_relative_to(BENCH) else ROOT).parent))


def front(module: str) -> str:
    """Return the name through which other packages may import `module`."""
    parts = module.split(".")
    if parts[1] == "core":
        return module
    return ".".join(parts[:3] if parts[1] in ("backends", "language") else parts[:2])


def test_packages_are_imported_through_their_front(graph):
    inside = {
        f"{importer} -> {imported}"
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported != "doxa"
        and importer.split(".")[1:2] != imported.split(".")[1:2]
        and imported != front(imported)
        and importer not in ("doxa", "doxa.__main__")
    }
    assert inside == set()


def test_nobody_inside_imports_the_root_facade(graph):
    assert graph.find_modules_that_directly_import("doxa") <= {"doxa.__main__"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_package_docstring_opens_with_its_arrow_line(package):
    doc = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    assert doc.startswith(f"{package.name}: ")
    assert " -> " in doc.splitlines()[0]


@pytest.mark.parametrize("path", FRONTS, ids=name_of)
def test_a_front_that_exports_anything_lists_it(path):
    body = ast.parse(path.read_text()).body
    exported = {name for node in body for name in bound_names(node) if not name.startswith("_")}
    assert not exported or "__all__" in {name for node in body for name in bound_names(node)}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_size_budget(path):
    source = path.read_text()
    assert source.count("\n") <= MAX_FILE_LINES
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < MAX_FUNCTION_LINES, node.name


def bound_names(node: ast.stmt) -> set[str]:
    """Return the names that a top-level statement gives to others: definitions, assignments, imports of ours."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Assign():
            return {target.id for target in node.targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.ImportFrom() if node.level or (node.module or "").split(".")[0] in ("doxa", "doxa_bench"):
            return {alias.asname or alias.name for alias in node.names}
        case _:
            return set()


UNSAFE_IMPORTS = {"cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "pickle", "pickletools", "shelve"}
UNSAFE_ARGUMENTS = {
    "allow_pickle": True, "shell": True, "ssl": False, "trust_remote_code": True,
    "verify": False, "weights_only": False,
}  # fmt: skip
"""Arguments that load code as data, or trust whoever answers; beside what the S rules of ruff find."""


def test_no_data_is_loaded_as_code_and_no_server_is_trusted_unseen():
    """Nothing unpickles, and nothing turns off what numpy, torch, transformers and TLS check by themselves."""
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [(path.name, name) for name in names if name.partition(".")[0] in UNSAFE_IMPORTS]
            for given in node.keywords if isinstance(node, ast.Call) else ():
                value = getattr(given.value, "value", None)
                if given.arg in UNSAFE_ARGUMENTS and value is UNSAFE_ARGUMENTS[given.arg]:
                    found.append((path.name, f"{given.arg}={value}"))
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("torch.load"):
                safe = any(one.arg == "weights_only" for one in node.keywords)
                found += [] if safe else [(path.name, "torch.load without weights_only")]
    assert found == []
