"""Which private names of other packages are read, why, and that each is there; that none is assigned or replaced."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuarray as xp

SOURCES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in Path(xp.__file__).parent.rglob("*.py")}
PRIVATE = re.compile(r"_[a-zA-Z]\w*")
#: Names with an underscore that Python's documentation describes.
DOCUMENTED = {"_fields", "_replace", "_thread", "_getframe", "_is_gil_enabled"}
#: The private names that are read, by file and name, with the public fallback where the name is missing.
ALLOWED = {
    (
        "interrupts.py",
        "_signal",
    ): "the functions behind those of signal, in an eighth of their time; falls back to them",
    ("interop/einops.py", "_backends"): "einops' base class of backends; a warning, and einops.array_api still works",
    ("providers/wgpu/native.py", "_api"): "wgpu-py's handler of errors; launches go through the public driver",
    ("providers/wgpu/guard.py", "_is_owned"): "whether this thread has a lock, as threading.Condition asks it",
    ("runtime/places.py", "_is_owned"): "whether this thread evaluates on a device, likewise",
    ("providers/wgpu/native.py", "_internal"): "handles of wgpu-native; launches go through the public driver",
    ("functions/arguments.py", "_NoValue"): "NumPy's default of arguments, also in the signature of numpy.sum",
    ("functions/lapack.py", "_umath_linalg"): "the ufuncs behind numpy.linalg, whose functions replace missing ones",
    ("functions/ufuncs.py", "_core.umath._ones_like"): "the loop behind numpy.ones_like, also public as that function",
    ("functions/ufuncs.py", "_core.umath.clip"): "the ufunc behind numpy.clip, also public as that function",
}


def own_names() -> set[str]:
    """Return the private names that this package defines."""
    result = set()
    for node in (node for tree in SOURCES.values() for node in ast.walk(tree)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                result.add(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                result.add(name)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
                result |= {item.value for item in ast.walk(value) if isinstance(item, ast.Constant)}
            case _:
                pass
    return result


OWN = own_names() | DOCUMENTED


def is_foreign(name: str) -> bool:
    return PRIVATE.fullmatch(name) is not None and name not in OWN


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the private names of other packages that a part of a program names."""
    match node:
        case ast.Attribute(attr=name) if is_foreign(name):
            yield name
        case ast.ImportFrom(module=module, names=names) if not (module or "").startswith("gpuarray"):
            yield from filter(is_foreign, [*(module or "").split("."), *(alias.name for alias in names)])
        case ast.Import(names=names):
            yield from filter(is_foreign, [part for alias in names for part in alias.name.split(".")])
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
            yield from filter(is_foreign, [name])
        case ast.Constant(value=str(text)) if text.startswith("_core."):
            yield text
        case _:
            pass


def test_the_private_names_that_are_read_are_listed():
    root = Path(xp.__file__).parent
    result = {
        (path.relative_to(root).as_posix(), name)
        for path, tree in SOURCES.items()
        for node in ast.walk(tree)
        for name in names_of(node)
    }
    assert result == set(ALLOWED)


def test_none_is_assigned_or_deleted():
    for path, tree in SOURCES.items():
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                    assert not is_foreign(name), f"{path}:{node.lineno} assigns {ast.unparse(node)}"
                case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, *_]):
                    owner = ast.unparse(target)
                    # classes of this package, and its functions that are ufuncs
                    assert owner in {
                        # functions and constraints of users, with attributes that are public
                        "vars(self)['__wrapped__']",
                        "constraints",
                        "GpuArray",
                        "TracedScalar",
                        "Cell",
                        "self",
                        "function",
                        "provider",
                        "RandomState",
                    }, f"{path}:{node.lineno}"
                case _:
                    pass


@pytest.mark.parametrize(
    "client", ["cffi", "wgpu.backends.wgpu_native", "numpy", "dask.array", "einops", "numba", "scipy.ndimage"]
)
def test_modules_of_others_are_what_they_were(client):
    module = import_module(client)
    before = dict(vars(module))
    xp.interop.register()
    xp.asnumpy(xp.ones(3, device="wgpu") + 1)
    assert {name: value for name, value in vars(module).items() if name in before} == before
    assert not any("gpuarray" in type(finder).__module__ for finder in sys.meta_path)


def test_each_is_there_in_the_installed_release():
    einops = pytest.importorskip("einops._backends")
    assert isinstance(einops.NumpyBackend, type)
    native = pytest.importorskip("wgpu.backends.wgpu_native")
    handler: Any = import_module("wgpu.backends.wgpu_native._api").error_handler
    assert callable(handler.capture)
    assert callable(handler.release)
    assert hasattr(native.GPUObjectBase, "_internal") or "_internal" in native.GPUDevice.__init__.__code__.co_names
    assert isinstance(np._core.umath._ones_like, np.ufunc)
    assert isinstance(np._core.umath.clip, np.ufunc)
    assert np._NoValue is not None
