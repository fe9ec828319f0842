"""C types by name, without a C parser: what wgpu-py asks cffi for as it opens a device and compiles its first kernel.

cffi parses every new text such as ``"WGPULimits *"`` as C, together with all names that wgpu-native declares. That
takes 10 milliseconds a text, for about fifty texts: most of the time from the start of a process to its first result.
Invariant: types are those that cffi finds itself, since they are made of the declarations that it has parsed; what is
no pointer to, or array of, a declared type is left to it. Private names of cffi are used, and nothing but speed is
lost where they are missing. Called before wgpu-py is first used.
"""

import re
from typing import Any, Final

_SIMPLE: Final = re.compile(r"\s*(\w+)\s*(?:(\*)|\[(\d*)\])\s*")


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
    """Have cffi find wgpu-native's types by their declarations."""
    try:
        from cffi import model
        from wgpu.backends.wgpu_native import ffi

        if not isinstance(ffi._parsed_types, _Types) and hasattr(ffi._parser, "_declarations"):
            ffi._parsed_types = _Types(ffi._parsed_types, ffi, model)
    except (ImportError, AttributeError):
        pass  # another backend of wgpu-py, or another cffi
