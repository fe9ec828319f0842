"""`jit`: functions that are recorded once for each signature of a call, and then run from the recording."""

import functools
import inspect
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import MethodType
from typing import Any, Final, Generic, NamedTuple, ParamSpec, TypeVar, overload
from weakref import ref

from gpuarray import logs
from gpuarray.array import GpuArray
from gpuarray.functions.evaluation import evaluate
from gpuarray.graph import tape, tracing
from gpuarray.jit.compiled import Replay, replay_of
from gpuarray.jit.guards import has_identity
from gpuarray.jit.recorder import record
from gpuarray.jit.recording import Recording
from gpuarray.jit.signature import BoundCall, rebuilt

P = ParamSpec("P")
R = TypeVar("R")

#: After this many recordings for views that differ only in their offsets, calls use copies of the views.
_OFFSETS: Final = 3
#: After this many recordings for new sizes in a row, without a call that uses one again, calls are not recorded.
_PASSING: Final = 8
#: The maximum number of recordings with replays, which each call tries in turn.
_REPLAYS: Final = 4
#: The maximum number of recordings of one signature, for different values of variables around the function.
_VARIANTS: Final = 8


class CacheInfo(NamedTuple):
    """The result of :meth:`Jitted.cache_info`, as that of :func:`functools.lru_cache`; misses are recordings."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


class Jitted(Generic[P, R]):
    """A function that is recorded once for each signature, and then run from the recording. Made by :func:`jit`."""

    def __init__(
        self,
        function: Callable[P, R],
        static_argnames: str | Iterable[str],
        static_argnums: int | Iterable[int],
        maxsize: int,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._name = getattr(function, "__qualname__", repr(function))
        self._names = _names(function)
        self._static_names, self._static_places = _static(function, self._names, static_argnames, static_argnums)
        self._maxsize = maxsize
        self._lock = threading.Lock()
        self._recordings: OrderedDict[Hashable, list[Recording]] = OrderedDict()
        self._replays: tuple[tuple[Hashable, Replay], ...] = ()
        """The replays of recordings, and their signatures, the last one first."""
        self._kept: dict[Hashable, list[Any]] = {}
        self._offsets: dict[Hashable, int] = {}
        """How many recordings were made, by the signature without the offsets of views; -1 if copies will not do."""
        self._sizes: dict[Hashable, tuple[int, int]] = {}
        """How many recordings were made in a row that no call used again, and how many calls had used any by then, by
        the signature without sizes."""
        self._unrecorded: Hashable = None
        """The signature of the last call that was not recorded."""
        self._hits = 0
        self._misses = 0

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self._name}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        value: Any = sys.modules.get(self.__module__)
        for name in self._name.split("."):
            value = getattr(value, name, None)
        if value is self:
            return str(self._name)  # as functions are pickled
        return Jitted, (self._function, self._static_names, self._static_places, self._maxsize)

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R:
        """Call the function, or replay its recording if there is one for such a call."""
        if not keywords:
            for key, replay in self._replays:
                result: R = replay(*args)
                if result is not NotImplemented:
                    self._hits += 1
                    if len(self._recordings) > 1:
                        self._use(key)
                    return result
        if tracing.mode().is_replayed:
            return self._function(*args, **keywords)  # the recording of the caller includes this call
        if tape.state.tapes and tape.active() is not None:
            return self._function(*args, **keywords)  # a derivative is that of the function's operations
        call = self._call(args, keywords, "=")
        key = call.finished()
        if tape.state.tapes and any(tape.varying(cell.node) for cell in call.argument_cells):
            return self._function(*args, **keywords)  # another thread differentiates it
        known = self._recordings.get(key)
        if known is not None:
            for recording in known:
                if recording.fits(call):
                    self._hits += 1
                    if len(self._recordings) > 1:
                        self._use(key)
                    if not (keywords or recording.had_replay or self._static_places):
                        self._add_replay(key, recording, args)
                    replayed: R = recording.play(call)
                    return replayed
        if (copied := self._with_copies(call, args, keywords)) is not None:
            return copied[0]
        if self._has_passing_sizes(key, call):
            result = self._function(*args, **keywords)
            evaluate(*call.arrays, *_arrays(result))
            return result
        recorded: R = self._record(key, call, args, keywords).play(call)
        return recorded

    def _call(self, args: Sequence[Any], keywords: dict[str, Any], how: str) -> BoundCall:
        """Return the parsed arguments of a call. Its key contains ``how`` they were passed if some are keywords."""
        call = BoundCall()
        take = call.take
        if self._static_places:
            for number, value in enumerate(args):
                (call.take_static if number in self._static_places else take)(value)
        else:
            for value in args:
                take(value)
        if keywords or how != "=":
            names = sorted(keywords)
            call.key += (how, *names)
            for name in names:
                (call.take_static if name in self._static_names else take)(keywords[name])
        return call

    def _has_passing_sizes(self, key: Hashable, call: BoundCall) -> bool:
        """Return whether not to record a call, because all recent calls had different sizes.

        A loop over parts that grow or shrink would make a recording for each size. Its plans serve all sizes.
        """
        sizeless = call.without_sizes()
        with self._lock:
            if len(self._sizes) >= self._maxsize:
                self._sizes.clear()
            count, hits = self._sizes.get(sizeless, (0, self._hits))
            count = count + 1 if hits == self._hits else 1
            if count > _PASSING and key != self._unrecorded:
                self._unrecorded = key
                return True
            self._sizes[sizeless] = count, self._hits
            return False

    def _with_copies(self, call: BoundCall, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[R] | None:
        """Return the result of a call with copies of the arguments that are views, or None.

        Copies of different rows have the same signature. Return None while there are few recordings for other offsets
        of the views, or if the function writes to its arguments or returns views of them.
        """
        views = call.without_offsets()
        if views is None:
            return None
        with self._lock:
            if views not in self._offsets and len(self._offsets) >= self._maxsize:
                self._offsets.clear()
            count = self._offsets.setdefault(views, 0)
            if count >= 0:
                self._offsets[views] = count + 1
        if count < _OFFSETS:
            return None
        arguments = [value if number in self._static_places else _copied(value) for number, value in enumerate(args)]
        named = {name: value if name in self._static_names else _copied(value) for name, value in keywords.items()}
        call = self._call(arguments, named, "copies")
        key = call.finished()
        for recording in self._recordings.get(key, ()):
            if recording.fits(call):
                self._hits += 1
                break
        else:
            recording = self._record(key, call, tuple(arguments), named)
        if not recording.takes_copies:
            self._offsets[views] = -1
            return None
        replayed: R = recording.play(call)
        return (replayed,)

    def _add_replay(self, key: Hashable, recording: Recording, args: tuple[Any, ...]) -> None:
        """Have the next calls like this one replayed without a step in Python, if its recording is plain."""
        recording.had_replay = True
        replay = replay_of(recording, args)
        if replay is not None:
            with self._lock:
                if key in self._recordings:
                    self._replays = ((key, replay), *self._replays[: _REPLAYS - 1])

    def _use(self, key: Hashable) -> None:
        """Mark a signature as the most recently used one."""
        with self._lock:
            if key in self._recordings:
                self._recordings.move_to_end(key)

    def _record(self, key: Hashable, call: BoundCall, args: tuple[Any, ...], keywords: dict[str, Any]) -> Recording:
        names = [*self._names[: len(args)], *[f"argument {n}" for n in range(len(self._names), len(args))]]
        recording = record(
            self._function,
            self._name,
            call,
            [(value, n in self._static_places, names[n]) for n, value in enumerate(args)],
            [(name, keywords[name], name in self._static_names) for name in sorted(keywords)],
        )
        with self._lock:
            self._misses += 1
            known = self._recordings.setdefault(key, [])
            known[:] = [recording, *(one for one in known if not one.is_stale)]
            if len(known) > _VARIANTS:
                known.pop()
                logs.logger.warning(
                    "%s was recorded %d times for one signature, as variables around it change; pass them as arguments",
                    self._name,
                    _VARIANTS + 1,
                )
            self._recordings.move_to_end(key)
            while len(self._recordings) > self._maxsize:
                self._forget(next(iter(self._recordings)))
            self._watch(key, call)
        return recording

    def _watch(self, key: Hashable, call: BoundCall) -> None:
        """Drop recordings for objects when the objects are deleted."""
        self_ref = ref(self)

        def gone(_: Any) -> None:
            jitted = self_ref()
            if jitted is not None:
                jitted._forget(key)

        self._kept[key] = [ref(value, gone) if has_identity(value) else value for value in call.statics]

    def _forget(self, key: Hashable) -> None:
        self._replays = tuple([known for known in self._replays if known[0] != key])
        self._recordings.pop(key, None)
        self._kept.pop(key, None)

    def cache_info(self) -> CacheInfo:
        """Return how many calls ran from a recording, and how many recordings were made and are kept."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, self._maxsize, sum(map(len, self._recordings.values())))

    def clear_cache(self) -> None:
        """Forget all recordings."""
        with self._lock:
            self._recordings.clear()
            self._replays = ()
            self._kept.clear()
            self._hits = self._misses = 0


def _copied(value: Any) -> Any:
    """Return an argument with copies of its views."""
    return rebuilt(value, lambda leaf: leaf.copy() if type(leaf) is GpuArray and leaf._layout is not None else leaf)


def _arrays(value: Any) -> list[GpuArray]:
    """Return the arrays of a result."""
    arrays: list[GpuArray] = []
    rebuilt(value, lambda leaf: arrays.append(leaf) if type(leaf) is GpuArray else None)
    return arrays


def _names(function: Callable[..., Any]) -> list[str]:
    """Return the names of positional parameters."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in positional]


def _static(
    function: Callable[..., Any],
    names: list[str],
    static_names: str | Iterable[str],
    static_places: int | Iterable[int],
) -> tuple[frozenset[str], frozenset[int]]:
    """Return names and positions of the arguments whose values are part of the signature."""
    called = {static_names} if isinstance(static_names, str) else {*static_names}
    positions = {static_places} if isinstance(static_places, int) else {*static_places}
    positions = {position + len(names) if position < 0 else position for position in positions}
    known = inspect.signature(function).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
    unknown = called - {*known}
    if unknown and not takes_any:
        raise ValueError(
            f"static_argnames has {sorted(unknown)}, but {getattr(function, '__qualname__', function)} takes "
            f"{[*known]}; give names of these"
        )
    positions |= {names.index(name) for name in called if name in names}
    return frozenset(called | {names[position] for position in positions if position < len(names)}), frozenset(
        positions
    )


@overload
def jit(
    function: Callable[P, R],
    *,
    static_argnames: str | Iterable[str] = (),
    static_argnums: int | Iterable[int] = (),
    maxsize: int = 128,
) -> Jitted[P, R]: ...


@overload
def jit(
    *, static_argnames: str | Iterable[str] = (), static_argnums: int | Iterable[int] = (), maxsize: int = 128
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnames: str | Iterable[str] = (),
    static_argnums: int | Iterable[int] = (),
    maxsize: int = 128,
) -> Any:
    """Return a function that records ``function`` once for each signature, and runs the recording in later calls.

    Parameters
    ----------
    function : callable, optional
        NumPy code. Without it the result is a decorator with these options.
    static_argnames : str or iterable of str
        Arguments whose values decide how the function runs, such as axes, and are part of the signature.
    static_argnums : int or iterable of int
        The same, by position.
    maxsize : int
        The number of signatures whose recordings are kept.

    Returns
    -------
    callable
        The function. When a call returns, its work has been submitted to the device.

    Raises
    ------
    ValueError
        If the function has no argument of the given name or position.
    """
    if function is None:
        return functools.partial(jit, static_argnames=static_argnames, static_argnums=static_argnums, maxsize=maxsize)
    if isinstance(function, Jitted):
        function = function._function
    if not callable(function):
        raise TypeError(f"jit takes a function, not a {type(function).__name__}")
    return Jitted(function, static_argnames, static_argnums, maxsize)
