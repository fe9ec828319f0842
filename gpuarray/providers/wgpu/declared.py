"""wgpu-native's C declarations without a C parser: they take most of the time to a process's first result.

wgpu-py has cffi parse a header of 3,800 declarations when it is imported, and every text such as ``"WGPULimits *"`` as
C when it is first asked for. What cffi compiled of the header is therefore kept as a record, of which it makes all of
them in a few milliseconds (:func:`load`). Where there is none yet, or wgpu-py was imported before, simple texts are at
least looked up among the declarations that are parsed (:func:`know_types`). Invariant: types are those that cffi finds
itself. Names below cffi's documented interface are used, and nothing but speed is lost where they are missing. Called
before wgpu-py is first used.
"""

import ast
import atexit
import hashlib
import importlib
import io
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gpuarray import disk_cache
from gpuarray.logs import logger

_SIMPLE: Final = re.compile(r"\s*(\w+)\s*(?:(\*)|\[(\d*)\])\s*")
_NATIVE: Final = "wgpu.backends.wgpu_native"
_KIND: Final = "declarations"


def load() -> None:
    """Import wgpu-py's native backend, with recorded declarations if there are any, else record them at the end."""
    if _NATIVE not in sys.modules:
        try:
            subject = _subject()
            ready = _made(disk_cache.read(_KIND, subject) or {})
            if ready is not None and _import_with(ready):
                return
            ffi = importlib.import_module(_NATIVE).ffi
            if ready is None:
                atexit.register(_record, ffi, subject)
        except (ImportError, AttributeError, OSError):
            pass  # another backend of wgpu-py, or another cffi
    know_types()


# --- recorded declarations ------------------------------------------------------------------------------------------


def _subject() -> str:
    """Return what the declarations depend on: the header and the versions."""
    import cffi
    import wgpu
    from wgpu._coreutils import get_header_filename

    header = Path(get_header_filename("combined_header.h")).read_bytes()
    digest = hashlib.blake2b(header, digest_size=16).hexdigest()
    return f"cffi {cffi.__version__}, wgpu {wgpu.__version__}, {digest}"


def _digest(tables: Mapping[str, Any]) -> str:
    return hashlib.blake2b(repr(sorted(tables.items())).encode(), digest_size=16).hexdigest()


def _record(ffi: Any, subject: str) -> None:
    """Keep what cffi makes of the declarations that it has parsed."""
    from cffi import CDefError, FFIError, VerificationError

    refused = CDefError, FFIError, NotImplementedError, VerificationError
    changed = AttributeError, ImportError, SyntaxError, TypeError, ValueError  # another cffi, or another text of it
    try:
        from cffi import recompiler

        folder = disk_cache.path_of(_KIND, subject).parent
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            return  # each process would do all the work for nothing
        text = io.StringIO()
        recompiler.make_py_source(ffi, "wgpu", text)
        (call,) = (node for node in ast.walk(ast.parse(text.getvalue())) if isinstance(node, ast.Call))
        tables = {str(word.arg): _plain(ast.literal_eval(word.value)) for word in call.keywords}
        disk_cache.write(_KIND, subject, {"digest": _digest(tables), "tables": tables})
    except (OSError, *refused, *changed) as error:
        logger.debug("declarations are not recorded: %s", error)


def _plain(value: Any) -> Any:
    """Return bytes as text of as many characters, and tuples as lists, as JSON has them."""
    return value.decode("latin-1") if isinstance(value, bytes) else _each(_plain, value, list)


def _packed(value: Any) -> Any:
    return value.encode("latin-1") if isinstance(value, str) else _each(_packed, value, tuple)


def _each(convert: Any, value: Any, kind: Any) -> Any:
    return kind(map(convert, value)) if isinstance(value, list | tuple) else value


def _made(kept: Mapping[str, Any]) -> Any:
    """Return cffi's object of recorded declarations; None if they are not what was recorded."""
    backend: Any = importlib.import_module("_cffi_backend")

    class Declared(backend.FFI):  # type: ignore[misc]  # cffi has no types
        def cdef(self, text: str) -> None:
            """Parse nothing."""

        def set_source(self, name: str, source: object) -> None:
            """Compile nothing."""

    tables = kept.get("tables")
    if not isinstance(tables, dict) or kept.get("digest") != _digest(tables):
        return None  # cffi would believe whatever stands there
    return Declared("wgpu", **{name: _packed(table) for name, table in tables.items()})


def _import_with(ready: Any) -> bool:
    """Import wgpu-py's native backend with an object in place of one that would parse the header."""
    import cffi

    plain = cffi.FFI

    class Once(plain):  # type: ignore[misc,valid-type]  # cffi has no types
        def __new__(cls, *arguments: Any) -> Any:
            asks = sys._getframe(1).f_globals.get("__name__")
            return ready if asks == f"{_NATIVE}._ffi" else plain(*arguments)

    cffi.FFI = Once
    try:
        return importlib.import_module(_NATIVE).ffi is ready
    finally:
        cffi.FFI = plain


# --- parsed declarations --------------------------------------------------------------------------------------------


class _Types(dict[str, Any]):
    """cffi's types by text, as its parser leaves them there; simple ones are made when they are first asked for."""

    def __init__(self, known: dict[str, Any], ffi: Any, model: Any) -> None:
        super().__init__(known)
        self._ffi = ffi
        self._model = model

    def __missing__(self, text: str) -> Any:
        ffi, model = self._ffi, self._model
        found = _SIMPLE.fullmatch(text)
        if found is None:
            raise KeyError(text)
        if found[1] in model.PrimitiveType.ALL_PRIMITIVE_TYPES:
            kind, qualifiers = model.PrimitiveType(found[1]), 0
        else:
            kind, qualifiers = ffi._parser._declarations[f"typedef {found[1]}"]
        if found[2]:
            made = model.PointerType(kind, qualifiers)
        else:
            made = model.ArrayType(kind, int(found[3]) if found[3] else None)
        with ffi._lock:
            self[text] = ffi._get_cached_btype(made), False
        return self[text]


def know_types() -> None:
    """Have cffi find wgpu-native's types by their declarations, where it has parsed these."""
    try:
        from cffi import model
        from wgpu.backends.wgpu_native import ffi

        if not isinstance(ffi._parsed_types, _Types) and hasattr(ffi._parser, "_declarations"):
            ffi._parsed_types = _Types(ffi._parsed_types, ffi, model)
    except (ImportError, AttributeError):
        pass  # another backend of wgpu-py, another cffi, or nothing was parsed
