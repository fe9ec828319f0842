"""Source locations: which line of the user's program recorded an operation.

Invariant: an origin is a code object and the offset of an instruction in it, which one look at the stack gives. It
holds no frame, and so no variable of the program. Files, lines and texts are looked up when they are shown.
"""

import builtins
import dis
import linecache
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import get_ident
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, TypeAlias, cast

import numpy as np

Origin: TypeAlias = tuple[CodeType, int]


class DerivativeOf(tuple[CodeType, int]):
    """The origin of an operation that computes a part of the derivative of an operation recorded there."""

    __slots__ = ()


def derivative_of(origin: Origin | None) -> DerivativeOf | None:
    """Return the origin of a part of the derivative of an operation with an origin."""
    return origin if origin is None or type(origin) is DerivativeOf else DerivativeOf(origin)


#: By thread, the origin of all that it records at the moment, if that is not found on its stack.
assumed_origins: Final[dict[int, Origin]] = {}

#: By thread, the list of warnings that are not issued but kept; None if they are issued.
_kept: Final[dict[int, list[tuple[str, type[Warning]]] | None]] = {}

_HERE: Final = str(Path(__file__).parent) + os.sep
#: Code that is never the user's: that of this package, except for the programs in it, and NumPy's.
_INTERNAL: Final = (_HERE, str(Path(np.__file__).parent) + os.sep, "<frozen ", "<__array_function__")
_PROGRAMS: Final = _HERE + "diagnostics" + os.sep

#: By file name, whether its code is the user's. Bounded, because notebooks have a file for each cell.
USER_FILES: Final[dict[str, bool]] = {}
_MAX_FILES: Final = 4096


def frame_by_traceback(depth: int = 0) -> FrameType:
    """Return the frame of ``sys._getframe``, on any interpreter, but slower."""
    try:
        raise LookupError
    except LookupError as error:
        frame: FrameType = cast(Any, error.__traceback__).tb_frame
    for _ in range(depth + 1):
        assert frame.f_back is not None
        frame = frame.f_back
    return frame


#: Returns the frame that is ``depth`` calls above the caller's. Not all interpreters have the documented function.
frame_at: Final[Callable[[int], FrameType]] = getattr(sys, "_getframe", frame_by_traceback)


def find_origin(frame: FrameType | None = None) -> Origin | None:
    """Return the innermost place outside this package and NumPy; None if there is none.

    The search begins at ``frame``, or at the caller's caller's caller: two callers of this function are taken to be of
    this package, because each look at a frame costs as much as the rest.
    """
    if assumed_origins and (origin := assumed_origins.get(get_ident())) is not None:
        return origin
    if frame is None:
        frame = frame_at(3)
    while frame is not None:
        code = frame.f_code
        try:
            if USER_FILES[code.co_filename]:
                return code, frame.f_lasti
        except KeyError:
            if len(USER_FILES) >= _MAX_FILES:
                USER_FILES.clear()
            USER_FILES[code.co_filename] = is_user_file(code.co_filename)
            continue
        frame = frame.f_back
    return None


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the user's line, however deep inside this package the caller is."""
    if (caught := _kept.get(get_ident())) is not None:
        caught.append((message, category))
        return
    level = 2
    frame: FrameType | None = frame_at(1)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def keeping_warnings() -> Iterator[list[tuple[str, type[Warning]]]]:
    """Return the arguments of :func:`warn` in this thread as a list, in place of issuing warnings."""
    thread = get_ident()
    before = _kept.get(thread)
    caught: list[tuple[str, type[Warning]]] = []
    _kept[thread] = caught
    try:
        yield caught
    finally:
        _kept[thread] = before


def is_user_file(file: str) -> bool:
    """Return whether the code of a file, as Python names it, is outside this package and NumPy."""
    return file.startswith(_PROGRAMS) or not file.startswith(_INTERNAL)


def name_of_call(frame: FrameType) -> str:
    """Return the name of the function of this package that a frame runs: that of the function itself for a wrapper."""
    code, known = frame.f_code, frame.f_locals
    if code.co_name in ("__init__", "__call__"):
        return type(known["self"]).__name__
    if code.co_name in ("__array_function__", "__array_ufunc__"):
        return getattr(known.get("func", known.get("ufunc")), "__name__", code.co_name)
    wrapped = next(
        (known.get(variable) for variable in ("function", "original", "fun") if variable in code.co_freevars), None
    )
    return getattr(wrapped, "__name__", code.co_name)


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A location in a program, in readable form.

    Attributes
    ----------
    file : str
        The file, as Python names it.
    line : int
        The line, counted from 1.
    function : str
        The function that contains it.
    text : str
        The expression, or the part of it on its first line; empty if the file cannot be read.
    is_derivative : bool
        Whether the operation is a part of the derivative of the expression.
    """

    file: str
    line: int
    function: str
    text: str
    is_derivative: bool = False

    def __str__(self) -> str:
        text = f"{short_name(self.file)}:{self.line}"
        return f"derivative of {text}" if self.is_derivative else text

    @property
    def quoted(self) -> str:
        """The location and its text in parentheses, for the end of a message."""
        return f" ({self}: {self.text})" if self.text else f" ({self})"

    @property
    def note(self) -> str:
        """A note of an error that is raised at another line."""
        return f"recorded at {self}: {self.text}" if self.text else f"recorded at {self}"


def short_name(file: str) -> str:
    """Return a file's name relative to the current folder, if that is shorter."""
    if not os.path.isabs(file):  # noqa: PTH117  # a name, which need not be a path
        return file
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return relative if len(relative) < len(file) else file


def locate(origin: Origin) -> SourceLocation:
    """Return the file, line and text of an origin."""
    code, instruction = origin
    first, _, column, end = next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    line = first or code.co_firstlineno
    text = linecache.getline(code.co_filename, line)
    if column is not None and end is not None:  # positions count bytes
        text = text.encode()[column : end if end > column else None].decode(errors="replace")
    return SourceLocation(code.co_filename, line, code.co_qualname, text.strip(), isinstance(origin, DerivativeOf))


def error_at(error: Callable[[], Exception], origin: Origin | None) -> Exception:
    """Make an error that is raised later than at the line that recorded its operation, with a note of that line."""
    result = error()
    if origin is not None:
        result.add_note(locate(origin).note)
    return result


#: The beginning of a call of a function that names lead to.
_CALLED: Final = re.compile(r"(\w+(?:\.\w+)*)\(")


def called_by(frame: FrameType) -> Any:
    """Return the function that a frame calls; None if it calls none, or the source text does not tell.

    It tells for functions in variables, for attributes of modules, and for methods of arrays of NumPy in variables.
    """
    match = _CALLED.match(locate((frame.f_code, frame.f_lasti)).text)
    if match is None or not _instruction(frame).startswith("CALL"):
        return None
    first, *others = match[1].split(".")
    known = frame.f_locals, frame.f_globals, vars(builtins)
    value: Any = next((names[first] for names in known if first in names), None)
    for name in others:
        if not isinstance(value, ModuleType | np.ndarray):
            return None
        value = getattr(value, name, None)
    return value


def writes_element(frame: FrameType) -> bool:
    """Return whether a frame sets an element of something."""
    return _instruction(frame) == "STORE_SUBSCR"


def _instruction(frame: FrameType) -> str:
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]
