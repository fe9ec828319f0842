"""Guards: the variables around a function on which a recording depends.

A number in a global variable, an attribute of ``self`` or an item of a dictionary becomes part of a recording, so each
call checks that it is unchanged. Arrays need no guard: their storage is found while the function runs, and read at each
call.
"""

import dis
import os
import random
import sys
import sysconfig
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MappingProxyType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Final
from weakref import ref

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.source_locations import is_user_file

#: The largest container whose items are guarded; larger ones are compared by identity.
_LARGE: Final = 64
#: The largest NumPy array, in bytes, that is compared even if the recording does not use it.
_LARGE_ARRAY: Final = 1 << 16
#: The depth to which nested containers are inspected.
_DEEP: Final = 3
_MISSING: Final = object()
_SLOT: Final = MemberDescriptorType
_GENERATORS: Final = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
#: The folders of installed packages and of the standard library.
_LIBRARIES: Final = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class Guards:
    """The variables that a function, and the objects given to it, depend on when it is recorded.

    Parameters
    ----------
    function : callable
        The function.
    statics : sequence
        Arguments that are objects, which the function may use as variables.
    """

    def __init__(self, function: Callable[..., Any], statics: list[Any]) -> None:
        self._kept: list[tuple[Any, Any, Any]] = []
        """Mappings or sequences, a key, and the value at the key."""
        self._weak: list[tuple[Any, Any, ref[Any]]] = []
        """The same for arrays, which are referred to weakly."""
        self._absent: list[tuple[Any, frozenset[str]]] = []
        """Attributes, and names that must stay absent from them."""
        self._lengths: list[tuple[Any, int]] = []
        self._cells: list[tuple[Any, Any]] = []
        self._is_random = False
        self._streams: list[Any] = []
        self.arrays: list[np.ndarray[Any, Any]] = []
        """NumPy arrays, whose elements may change."""
        self._names: set[str] = set()
        """The attributes that are named in the code of the function and of the functions that it calls."""
        self._owners: list[Any] = []
        """Objects, classes and modules whose named attributes are guarded."""
        self._seen: set[int] = set()
        self._home = _home(function)
        self._function(function)
        for value in statics:
            self._value(value, _DEEP)
        self._guard_owners()
        self._note_absent()
        self._owners.clear()
        self._before = self._random_states()

    def are_same(self) -> bool:
        """Return True if nothing has changed."""
        try:
            for container, key, value in self._kept:
                if container[key] is not value:
                    return False
        except LookupError:
            return False
        return not (self._cells or self._weak or self._absent or self._lengths) or not self._changed()

    def changed(self) -> str:
        """Return a description of a changed variable for messages, or an empty string."""
        for container, key, value in self._kept:
            if _item(container, key) is not value:
                return repr(key)
        if change := self._changed():
            return change
        states, shared = self._random_states()
        # other threads may draw from the shared generators: then only functions that name `random` are refused
        if states != self._before[0] or (
            shared != self._before[1] and (self._is_random or threading.active_count() == 1)
        ):
            return "the state of a random generator of NumPy or Python"
        return ""

    def _changed(self) -> str:
        for cell, value in self._cells:
            if _content(cell) is not (value() if type(value) is ref else value):
                return "a variable of an enclosing function"
        for container, key, weak in self._weak:
            if _item(container, key) is not weak():
                return repr(key)
        for attributes, names in self._absent:
            if not names.isdisjoint(attributes):
                return repr(*sorted(names & {*attributes})[:1])
        for container, length in self._lengths:
            if len(container) != length:
                return "the length of a list or dictionary"
        return ""

    # -- inspection ----------------------------------------------------------------------------------------------------

    def _function(self, function: Any) -> None:
        if isinstance(function, FunctionType):
            self._code(function)
        elif isinstance(function, MethodType):
            self._value(function.__self__, _DEEP)
            self._function(function.__func__)
            return
        elif isinstance(function, partial):
            for value in (function.func, *function.args, *function.keywords.values()):
                self._value(value, _DEEP)
        elif not hasattr(function, "__wrapped__"):  # an object with a ``__call__`` method
            self._names.add("__call__")
            self._value(function, _DEEP)
        if hasattr(function, "__wrapped__"):
            self._function(function.__wrapped__)

    def _code(self, function: FunctionType) -> None:
        if self._is_seen(function) or not self._is_programs(function.__code__.co_filename):
            return
        for cell in function.__closure__ or ():
            value = _content(cell)
            self._cells.append((cell, ref(value) if isinstance(value, GpuArray) else value))
            self._value(value, _DEEP)
        for name, is_global in _named(function.__code__):
            self._is_random |= name == "random"
            if not is_global:
                self._names.add(name)
            elif name in function.__globals__:
                self._item(function.__globals__, name, _DEEP)

    def _item(self, container: Any, key: Any, depth: int) -> None:
        value = container[key]
        if isinstance(value, GpuArray):
            self._weak.append((container, key, ref(value)))
        else:
            self._kept.append((container, key, value))
            self._value(value, depth)

    def _value(self, value: Any, depth: int) -> None:
        if isinstance(value, FunctionType | MethodType | partial | staticmethod | classmethod):
            self._function(value)
        elif isinstance(value, property):
            self._function(value.fget)
        elif callable(value) and hasattr(value, "__wrapped__"):
            self._function(value)
        elif isinstance(value, np.ndarray):
            if value.nbytes <= _LARGE_ARRAY:
                self.arrays.append(value)
        elif isinstance(stream := getattr(value, "__self__", value), _GENERATORS):  # or one of their methods
            self._streams.append(stream)
        elif type(value) in (dict, list, tuple):
            self._container(value, depth)
        elif self._is_owner(value) and not self._is_seen(value):
            self._owners.append(value)

    def _container(self, value: Any, depth: int) -> None:
        if not depth or len(value) > _LARGE or self._is_seen(value):
            return
        if type(value) is not tuple:
            self._lengths.append((value, len(value)))
        for key in [*value] if isinstance(value, dict) else range(len(value)):
            self._item(value, key, depth - 1)

    def _guard_owners(self) -> None:
        """Guard the named attributes, repeatedly, until the values found name no further ones."""
        done: set[tuple[int, int, str]] = set()
        more = True
        while more:
            more = False
            for owner in [*self._owners]:
                for number, attributes in enumerate(_attributes(owner)):
                    for name in sorted(self._names & {*attributes}):
                        if (id(owner), number, name) not in done:
                            done.add((id(owner), number, name))
                            self._item(attributes, name, _DEEP)
                            more = True

    def _note_absent(self) -> None:
        """Record the names that an object lacks and that, if added, would hide the guarded attributes."""
        for owner in self._owners:
            if isinstance(owner, ModuleType):
                continue
            names, *inherited = [*_attributes(owner)] or [{}]
            self._absent.append((names, frozenset(self._names - {*names})))
            for number, attributes in enumerate(inherited):
                behind = {name for others in inherited[number + 1 :] for name in others}
                missing = frozenset(self._names & behind - {*attributes})
                if missing:
                    self._absent.append((attributes, missing))

    def _is_programs(self, file: str | None) -> bool:
        """Whether a file belongs to the program or to the function's package, not to a library or to Python."""
        if file is None or not is_user_file(file):
            return False
        return not file.startswith(_LIBRARIES) or bool(self._home and file.startswith(self._home))

    def _is_owner(self, value: Any) -> bool:
        """Whether a value is a module or class of the program, or an instance of such a class."""
        if isinstance(value, ModuleType):
            return self._is_programs(getattr(value, "__file__", None))
        if isinstance(value, GpuArray):
            return False
        kind = value if isinstance(value, type) else type(value)
        if kind.__module__ == "builtins":
            return False
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)  # None at an interactive prompt
        return kind.__module__ == "__main__" if file is None else self._is_programs(file)

    def _is_seen(self, value: Any) -> bool:
        is_seen = id(value) in self._seen
        self._seen.add(id(value))
        return is_seen

    def _random_states(self) -> tuple[list[str], str]:
        """Return the states of the guarded generators, and of the global ones of NumPy and Python."""
        legacy: Any = np.random.get_state()
        return [*map(_state, self._streams)], repr((legacy[1].tobytes(), *legacy[2:], random.getstate()))


def has_identity(value: Any) -> bool:
    """Whether a weak reference can identify a value; not so for methods, which are created at each access."""
    return type(value) is not MethodType and type(value).__weakrefoffset__ != 0


def _home(function: Any) -> str:
    """Return the folder or file of a function's package if it is installed, else an empty string."""
    while not isinstance(function, FunctionType):
        inner = getattr(function, "__wrapped__", getattr(function, "__func__", getattr(function, "func", None)))
        if inner is None:
            function = type(function).__call__
            if not isinstance(function, FunctionType):
                return ""
        else:
            function = inner
    file = function.__code__.co_filename
    for folder in _LIBRARIES:
        if file.startswith(folder):
            return os.path.join(folder, file[len(folder) + 1 :].partition(os.sep)[0])  # noqa: PTH118  # a name
    return ""


def _attributes(owner: Any) -> Iterator[Any]:
    """Yield the mappings that hold the attributes of an object."""
    attributes = getattr(owner, "__dict__", None)
    if isinstance(attributes, dict | MappingProxyType):
        yield attributes
    slots = {name for kind in type(owner).__mro__ for name, value in vars(kind).items() if type(value) is _SLOT}
    if slots and not isinstance(owner, type | ModuleType):
        yield _Slots(owner, slots)
    if not isinstance(owner, ModuleType):
        for kind in (owner if isinstance(owner, type) else type(owner)).__mro__[:-1]:
            if kind is not owner:
                yield kind.__dict__


class _Slots(Mapping[str, Any]):
    """The attributes of an object that are stored in slots."""

    def __init__(self, owner: Any, names: Collection[str]) -> None:
        self._owner: Callable[[], Any] = ref(owner) if has_identity(owner) else lambda: owner
        self._names = names

    def __getitem__(self, name: str) -> Any:
        if name not in self._names or not hasattr(self._owner(), name):
            raise KeyError(name)
        return getattr(self._owner(), name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if hasattr(self._owner(), name))

    def __len__(self) -> int:
        return len([*self])


def _named(code: CodeType) -> Iterator[tuple[str, bool]]:
    """Yield the names in code and in its nested functions, and whether they are global."""
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.hasname:
            yield str(instruction.argval), instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _named(constant)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _item(container: Any, key: Any) -> Any:
    try:
        return container[key]
    except LookupError:
        return _MISSING


def _state(stream: Any) -> str:
    if isinstance(stream, np.random.RandomState):
        return repr(stream.get_state())
    return repr(stream.state if isinstance(stream, np.random.BitGenerator) else stream.bit_generator.state)
