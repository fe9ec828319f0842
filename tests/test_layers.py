"""The walls between the layers that import-linter cannot see; its own contracts are in pyproject.toml."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpuarray"
PUBLIC = {"__init__.py", "__main__.py", "linalg.py", "fft.py", "random.py", "special.py", "testing.py"}
SOURCES = sorted(PACKAGE.rglob("*.py"))
OPTIONAL = ("PIL", "cffi", "rich", "scipy", "wgpu", "gpuarray.providers.wgpu")
"""What may be imported inside a function: packages that can be absent or take long, and the one that imports them."""


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module]
    return []


def named(path):
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", [path for path in SOURCES if named(path) not in PUBLIC], ids=named)
def test_no_module_imports_the_public_namespace(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert "gpuarray" not in imported(node)
        if isinstance(node, ast.ImportFrom) and node.module == "gpuarray":
            assert all(
                (PACKAGE / alias.name).is_dir() or (PACKAGE / f"{alias.name}.py").exists() for alias in node.names
            )


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_imports_are_absolute(path):
    relative = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.ImportFrom) and node.level]  # fmt: skip
    assert relative == []


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_functions_import_optional_packages_only(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = {name for function in functions for node in ast.walk(function) for name in imported(node)}
    assert {
        name for name in names if not f"{name}.".startswith(tuple(f"{optional}." for optional in OPTIONAL))
    } == set()


def test_wgpu_is_imported_by_its_provider_only():
    importing = {
        named(path)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if any(name.partition(".")[0] == "wgpu" for name in imported(node))
    }
    assert {name for name in importing if not name.startswith("providers/wgpu/")} == set()
