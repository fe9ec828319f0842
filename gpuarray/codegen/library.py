"""The library of WGSL functions in ``codegen/math``: which exist, what each calls, and the text of any selection.

Invariant: the text of a selection depends on nothing but the selection; it holds each function once, after everything
that it calls. Functions and module constants are found by name; a file named ``*.generic.wgsl`` is read twice, once
for each precision (:data:`PRECISIONS`), with the words FLOAT, COMPLEX, SIGNED and UNSIGNED replaced. A function of a
plain file takes the place of the generic one of its name: single precision has its own, faster forms of the commonest.
The formulas of ``ops`` are functions too, one for each precision.
In kernels made for devices with 64-bit integers a function of a file named ``*.wide.wgsl`` takes the place of either,
and in those made for ``config.math = "fast"`` one of a file named ``*.fast.wgsl``.

Called by the emitter of kernels, and by tests. Pure; needs no GPU.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Final

from gpuarray.codegen import formulas
from gpuarray.codegen.target import has_wide_integers, is_fast

_GENERIC: Final = "generic.wgsl"
_PLAIN: Final = "wgsl"
_WIDE: Final = "wide.wgsl"
_FAST: Final = "fast.wgsl"

#: What the words of a generic file stand for, in each precision.
PRECISIONS: Final = (
    {"FLOAT": "f32", "COMPLEX": "c64", "UNSIGNED": "u32", "SIGNED": "i32"},
    {"FLOAT": "f64", "COMPLEX": "c128", "UNSIGNED": "u64", "SIGNED": "i64"},
)

_DECLARATION: Final = re.compile(r"^(?:fn|const|override|alias|struct)\s+(\w+)", re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


class _FunctionLibrary:
    """Declarations by name.

    The text of a formula is written on first use, because all of them take 0.1 s and most programs use few. No file of
    ``codegen/math`` calls a formula, so a module of formulas may be imported after the library was read.
    """

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._uses: dict[str, tuple[str, ...]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._texts or formulas.is_declared(name)

    def among(self, words: set[str]) -> set[str]:
        """Return the words that are names of declarations."""
        return (words & self._texts.keys()) | (words & formulas.names())

    @property
    def names(self) -> frozenset[str]:
        """The names of all declarations."""
        return formulas.names() | self._texts.keys()

    def text(self, name: str) -> str:
        """Return the text of a declaration."""
        text = self._texts.get(name)
        if text is None:
            if not formulas.is_declared(name):
                raise KeyError(name)
            text = self._texts[name] = formulas.text(name)
        return text

    def uses(self, name: str) -> tuple[str, ...]:
        """Return the names that a declaration mentions, in the order of first use."""
        uses = self._uses.get(name)
        if uses is None:
            words = (word for word in _WORD.findall(self.text(name)) if word in self and word != name)
            uses = self._uses[name] = tuple(dict.fromkeys(words))
        return uses


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text) if "//" in text else text


def _declarations(text: str) -> dict[str, str]:
    """Split a file into its top-level declarations, each with the comment lines above dropped."""
    bare = re.sub(r"\n\s*\n+", "\n", re.sub(r"[ \t]+\n", "\n", _without_comments(text)))
    starts = list(_DECLARATION.finditer(bare))
    ends = [*(m.start() for m in starts[1:]), len(bare)]
    return {m[1]: bare[m.start() : end].strip() for m, end in zip(starts, ends, strict=True)}


def _collected(suffix: str) -> dict[str, str]:
    """Return the declarations of the files with a suffix; of the generic ones, instances of each precision."""
    texts: dict[str, str] = {}
    folder = resources.files("gpuarray.codegen") / "math"
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.partition(".")[2] != suffix:
            continue
        text = file.read_text(encoding="utf-8")
        for words in PRECISIONS if suffix == _GENERIC else ({},):
            instance = text
            for word, replacement in words.items():
                # UNSIGNED stands before SIGNED in the table because it contains it
                instance = instance.replace(word, replacement)
            for name, body in _declarations(instance).items():
                if name in texts:
                    raise ValueError(f"{name} is declared twice in codegen/math, the second time in {file.name}")
                texts[name] = body
    return texts


@lru_cache(maxsize=4)
def _library(fast: bool, wide: bool) -> _FunctionLibrary:
    texts = _collected(_GENERIC) | _collected(_PLAIN)
    return _FunctionLibrary(texts | (_collected(_WIDE) if wide else {}) | (_collected(_FAST) if fast else {}))


def _kind() -> tuple[bool, bool]:
    """Return whether the target's kernels may use the driver's functions, and 64-bit integers."""
    return is_fast(), has_wide_integers()


def names() -> frozenset[str]:
    """Return the names of all functions and constants of the library."""
    return _library(*_kind()).names


def fast_path_names() -> frozenset[str]:
    """Return the names of the functions that have a fast path, ``fast_path_NAME``, right where ``guard_NAME`` is true.

    A guard takes the result of the guards before it, the operands and, if it has one more parameter, the result of the
    fast path.
    """
    return _fast_path_names(*_kind())


def parameter_count(name: str) -> int:
    """Return how many parameters a library function has."""
    return _parameter_count(name, *_kind())


@lru_cache(maxsize=1024)
def _parameter_count(name: str, fast: bool, wide: bool) -> int:
    return _library(fast, wide).text(name).partition(")")[0].count(":")


@lru_cache(maxsize=4)
def _fast_path_names(fast: bool, wide: bool) -> frozenset[str]:
    known = _library(fast, wide).names
    guarded = frozenset(name for name in known if f"fast_path_{name}" in known and f"guard_{name}" in known)
    return guarded - frozenset(_collected(_FAST)) if fast else guarded


def names_in(text: str) -> set[str]:
    """Return the library functions and constants that ``text`` mentions, comments aside."""
    return _library(*_kind()).among(set(_WORD.findall(_without_comments(text))))


def text_of(name: str) -> str:
    """Return the WGSL text of one function or constant."""
    return _library(*_kind()).text(name)


def functions(names: Iterable[str]) -> str:
    """Return the WGSL text of the named functions and of all that they call, callees first.

    Raises
    ------
    KeyError
        If the library has no function of that name.
    """
    return _functions(frozenset(names), *_kind())


@lru_cache(maxsize=4096)
def _functions(names: frozenset[str], fast: bool, wide: bool) -> str:
    known = _library(fast, wide)
    ordered: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in ordered:
            for callee in known.uses(name):
                visit(callee)
            ordered[name] = None

    for name in sorted(names):
        visit(name)
    return "\n".join(known.text(name) for name in ordered)
