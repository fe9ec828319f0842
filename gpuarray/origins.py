"""Where the user's program asked for something: the line, kept as it costs least and told when somebody asks.

Invariant: an origin is a code object and the position of an instruction in it, which one look at the stack gives; it
holds no frame, and so no variable of the program. Files, lines and texts are found when they are shown.
"""

import linecache
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Final, TypeAlias

import numpy as np

Origin: TypeAlias = tuple[CodeType, int]

_HERE: Final = str(Path(__file__).parent) + os.sep
#: Code that is never the user's: this package's, but for the programs in it, and NumPy's.
_OURS: Final = (_HERE, str(Path(np.__file__).parent) + os.sep, "<frozen ", "<__array_function__")
_PROGRAMS: Final = _HERE + "diagnostics" + os.sep

#: By file name, whether its code is the user's: so many at once, as notebooks have a file for each cell.
USERS: Final[dict[str, bool]] = {}
_MOST_FILES: Final = 4096
_frame_at: Final[Callable[[int], FrameType]] = sys._getframe


def origin(frame: FrameType | None = None) -> Origin | None:
    """Return where the user's program is: the innermost place outside this package and NumPy; None if nowhere.

    Looked for from ``frame`` on, or from the caller's caller's caller: two callers of this function are taken to be of
    this package, as each look at a frame costs as much as the rest.
    """
    if frame is None:
        frame = _frame_at(3)
    while frame is not None:
        code = frame.f_code
        try:
            if USERS[code.co_filename]:
                return code, frame.f_lasti
        except KeyError:
            if len(USERS) >= _MOST_FILES:
                USERS.clear()
            USERS[code.co_filename] = is_users(code.co_filename)
            continue
        frame = frame.f_back
    return None


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the user's line, however deep inside of this package there is something to warn of."""
    level = 2
    frame: FrameType | None = _frame_at(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def is_users(file: str) -> bool:
    """Whether the code of a file, as Python names it, is outside this package and NumPy."""
    return file.startswith(_PROGRAMS) or not file.startswith(_OURS)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a program, for people.

    Attributes
    ----------
    file : str
        Its file, as Python names it.
    line : int
        The line, counted from 1.
    function : str
        The function that contains it.
    text : str
        The expression, or as much of it as is on its first line; empty if the file cannot be read.
    """

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{short(self.file)}:{self.line}"


def short(file: str) -> str:
    """Return the name of a file as seen from the current folder, if that is shorter."""
    if not os.path.isabs(file):  # noqa: PTH117  # a name, which need not be a path
        return file
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return relative if len(relative) < len(file) else file


def place(where: Origin) -> Place:
    """Return the file, line and text of an origin."""
    code, instruction = where
    first, _, column, end = next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    line = first or code.co_firstlineno
    text = linecache.getline(code.co_filename, line)
    if column is not None and end is not None:  # positions count bytes
        text = text.encode()[column : end if end > column else None].decode(errors="replace")
    return Place(code.co_filename, line, code.co_qualname, text.strip())
