"""What the design notes state about all of the code: complete matches, no lists of operations, few imports."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from gpuarray.fusion import steps
from gpuarray.graph import nodes
from gpuarray.ops import special  # noqa: F401  (declares the operations)
from gpuarray.ops.spec import OPS

PACKAGE = Path(__file__).parents[1] / "gpuarray"
SOURCES = sorted(PACKAGE.rglob("*.py"))
#: The classes of the closed sets, by name.
KINDS = {kind.__name__: kind for kinds in (nodes.Node, steps.Step, steps.Instruction) for kind in get_args(kinds)}
#: Folders that run operations without knowing them.
GENERAL = ("codegen", "fusion", "graph", "jit", "providers", "runtime")
#: Public classes that share a name, because they are one thing in several places.
SHARED_NAMES = {
    "Batch": "what the graph uses of a batch, and the batch of autodiff",
    "GpuArrayBackend": "the backends of dask and of einops",
    "Kernel": "the text of a kernel, while it is written and when it is shown",
    "Program": "what a provider runs for a step, on GPUs and in-process",
    "Tile": "the block that one workgroup or one thread works on",
    "Tiling": "the sizes of tiles",
}


def named(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imported(tree: ast.AST) -> set[str]:
    """Return the names of kinds that a module imports; another class, such as ``ast.Call``, may have the same name."""
    modules = {nodes.__name__, steps.__name__}
    result = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in modules
        for alias in node.names
    }
    return result & set(KINDS)


def matched(pattern: ast.pattern) -> Iterator[str]:
    """Yield the classes that a pattern names."""
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchClass):
            yield ast.unparse(node.cls).rpartition(".")[2]


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_matches_over_kinds_are_complete(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = imported(tree)
    if path == Path(nodes.__file__) or path == Path(steps.__file__):
        kinds = set(KINDS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Match) and kinds & {name for case in node.cases for name in matched(case.pattern)}:
            last = ast.unparse(node.cases[-1])
            assert last.startswith("case _:"), f"line {node.lineno}"
            assert "assert_never(" in last, f"line {node.lineno}"


def strings(node: ast.AST) -> list[str]:
    return [item.value for item in ast.iter_child_nodes(node) if isinstance(item, ast.Constant) and item.value in OPS]


@pytest.mark.parametrize("path", [p for p in SOURCES if named(p).startswith(GENERAL)], ids=named)
def test_no_operation_is_known_by_name(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Set | ast.List | ast.Tuple | ast.Dict):
            assert len(strings(node)) < 2, f"line {node.lineno}: {strings(node)}"
        if isinstance(node, ast.Compare) and ".name" in ast.unparse(node):
            assert strings(node) == [], f"line {node.lineno}: {ast.unparse(node)}"


def test_a_class_name_has_one_meaning() -> None:
    defined = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined[node.name].append(named(path))
    assert {name: paths for name, paths in defined.items() if len(paths) > 1}.keys() == SHARED_NAMES.keys()


def test_import_needs_numpy_and_platformdirs_alone() -> None:
    code = (
        "import sys, gpuarray; "
        "print(*sorted({n.partition('.')[0] for n in sys.modules} - set(sys.stdlib_module_names) - before))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", f"import sys; before = {{n.partition('.')[0] for n in sys.modules}}; {code}"],
        capture_output=True, text=True, cwd=PACKAGE.parent, timeout=300, check=True,
    )  # fmt: skip
    assert {name for name in finished.stdout.split() if name != "cython_runtime" and name[0] != "_"} == {
        "gpuarray",
        "numpy",
        "platformdirs",
    }
