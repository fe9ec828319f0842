"""Definitions of SciPy's functions for the arrays of this package.

Each function has one definition, a composition of recorded operations. It is lazy, fuses with what is before and after
it, runs on any device and has derivatives. Where values are on the host, and the device is the host's, SciPy's own
function may run on them instead, without a copy.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from inspect import Parameter, signature, unwrap
from types import SimpleNamespace
from typing import Any, Final, TypeVar, cast

import numpy as np

from gpuarray.array import GpuArray, default_device, joint_device_of
from gpuarray.config import config
from gpuarray.functions.at_once import at_once
from gpuarray.functions.fallback import among
from gpuarray.functions.registry import COMPOSED, HOST, NATIVE, Implementation
from gpuarray.graph import choices, tape
from gpuarray.scipy._callbacks import called
from gpuarray.scipy._calls import (
    UNLIMITED,
    host_of,
    most_read,
    name_of,
    run_counted,
    run_if_host,
    run_scipy,
    small_at_once,
)
from gpuarray.scipy._derivatives import Partial, with_composition, with_cotangents, with_partials
from gpuarray.scipy._repeats import repeated
from gpuarray.scipy._threads import LEAST

_F = TypeVar("_F", bound=Callable[..., Any])
_R = TypeVar("_R")

#: What is done for each function, by subpackage and name. Filled by the decorators.
IMPLEMENTATIONS: Final[dict[str, dict[str, Implementation]]] = {}
#: The subpackages whose functions record much, and draw no random numbers.
_REPEATED: Final = frozenset(("fft", "ndimage", "signal", "special"))


def mirrors(
    original: Callable[..., Any],
    *,
    kind: str = NATIVE,
    reason: str = "",
    by_scipy: bool | Callable[..., bool] = True,
    on_host: Callable[..., Any] | None = None,
    name: str = "",
    values: tuple[str, ...] | None = None,
) -> Callable[[_F], _F]:
    """Register a function as the definition of one of SciPy's, whose parameters it has.

    Parameters
    ----------
    original : callable
        SciPy's function.
    kind : {"native", "composed"}
        "native" if the whole function is recorded, "composed" if it reads values.
    reason : str
        With which arguments a part of it runs on the host.
    by_scipy : bool or callable
        Whether SciPy's function is taken for values on the host; a callable is asked with the arguments.
    on_host : callable, optional
        What is called there with SciPy's arguments, in place of SciPy's function, if arrays are large.
    name : str
        SciPy's dotted name below ``scipy.``, if the function does not say it.
    values : tuple of str, optional
        Of a function that reads the values of some parameters and no others, which these are.
    """

    def declare(function: _F) -> _F:
        package, _, short = (name or name_of(original)).rpartition(".")
        is_repeated = package in _REPEATED and (kind == NATIVE or values is not None)
        is_read = [name in values for name in signature(function).parameters] if values else []

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if by_scipy is True or (by_scipy and by_scipy(*args, **kwargs)):
                result = run_if_host(original, args, kwargs, most_read(original), on_host)
                if result is not NotImplemented:
                    return result
            if args and type(args[0]) is GpuArray:
                return recorded(args, kwargs)
            joint = joint_device_of(among(args, kwargs))
            if joint is None or joint is default_device():
                return recorded(args, kwargs)
            with config.using(device=str(joint)):  # new arrays are on the device of the others
                return recorded(args, kwargs)

        def recorded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not is_repeated or tape.state.tapes:  # a derivative may be with respect to a value that is read
                return function(*args, **kwargs)
            if values:
                kwargs = {key: _value(item) if key in values else item for key, item in kwargs.items()}
                args = (*(_value(v) if k else v for k, v in zip(is_read, args, strict=False)), *args[len(is_read) :])
            return repeated(function, args, kwargs)

        _name(run, short)
        run.__doc__ = _documented(function.__doc__, package, short)
        cast(Any, run).composition = function
        most = UNLIMITED if on_host is None else LEAST
        most = most if by_scipy is True else min(most, getattr(by_scipy, "size", 0))
        composed = small_at_once(run, original, most) if most else run
        IMPLEMENTATIONS.setdefault(package, {})[short] = Implementation(kind, reason, composed)
        return cast(_F, composed)

    return declare


def below(
    size: int, original: Callable[..., Any] | None = None, unless: Callable[[Any], bool] | None = None
) -> Callable[..., bool]:
    """Return a value of ``by_scipy`` for a composition that takes less time than SciPy from a number of elements on.

    Where the host does not compute, that does not matter, and ``unless`` is not asked: it may read elements.

    Parameters
    ----------
    size : int
        This number, of the first argument.
    original, unless : callable, optional
        SciPy's function, and ``unless(arguments)``, which returns whether that holds for arguments by name.
    """
    parameters = None if original is None else signature(original)

    def is_for_scipy(*args: Any, **kwargs: Any) -> bool:
        first = args[0] if args else next(iter(kwargs.values()), None)
        if type(first) is not GpuArray or first.size < size or host_of(among(args, kwargs)) is None:
            return True
        if parameters is None or unless is None:
            return False
        try:
            bound = parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            return not unless(SimpleNamespace(**bound.arguments))
        except (TypeError, ValueError, IndexError, AttributeError):
            return True  # which says what is wrong

    cast(Any, is_for_scipy).size = size
    return is_for_scipy


def hosted(
    original: Callable[..., Any],
    reason: str,
    *,
    on_host: Callable[..., Any] | None = None,
    name: str = "",
    is_counted: bool = True,
    partials: Sequence[Partial] = (),
    pull: Callable[..., Sequence[GpuArray]] | None = None,
    composition: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Return a function that runs SciPy's on the host.

    Parameters
    ----------
    original : callable
        SciPy's function.
    reason : str
        Why it runs on the host.
    on_host : callable, optional
        What is called with SciPy's arguments, in place of SciPy's function, if arrays are large.
    name : str
        SciPy's dotted name below ``scipy.``, if the function does not say it.
    is_counted : bool
        Whether that counts as a fallback, if the device is another; not of functions that have little work.
    partials : sequence of callable or None
        The partial derivatives, if some are known.
    pull : callable, optional
        What :func:`with_cotangents` takes, if it is known.
    composition : callable, optional
        What :func:`with_composition` takes, if it is known.
    """
    dotted = name or name_of(original)
    package, _, short = dotted.rpartition(".")
    on_values = on_host or original

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_counted:
            return run_counted(on_values, reason, args, kwargs, dotted)
        return run_scipy(on_values, args, kwargs)

    _name(call, short)
    run: Callable[..., Any] = with_partials(call, partials) if partials else call
    if pull is not None:
        run = with_cotangents(call, pull)
    if composition is not None:
        run = with_composition(call, composition)
    what = "counts as a fallback" if is_counted else "has little work"
    _describe(run, original, package, short, f"Run :func:`scipy.{dotted}` on the host, which {what}.")
    if isinstance(ufunc := unwrap(original), np.ufunc):
        run = small_at_once(at_once(run, "elements", ufunc), ufunc, LEAST)
    else:
        run = small_at_once(run, original, UNLIMITED if on_host is None else LEAST)
    IMPLEMENTATIONS.setdefault(package, {})[short] = Implementation(HOST if is_counted else COMPOSED, reason, run)
    return run


def designed(original: Callable[..., Any], name: str, composition: Callable[..., Any] | None = None) -> Any:
    """Return :func:`hosted` of a function that has little work, by its dotted name below ``scipy.``."""
    reason = "coefficients are computed on the host"
    return hosted(original, reason, name=name, is_counted=False, composition=composition)


def calling(original: Callable[..., Any], name: str, prepare: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function that runs SciPy's on the host, while the functions among its arguments compute on the device.

    Parameters
    ----------
    original : callable
        SciPy's function.
    name : str
        SciPy's dotted name below ``scipy.``.
    prepare : callable, optional
        Changes the arguments, which it gets in a dictionary.
    """
    package, _, short = name.rpartition(".")
    run = wraps(original)(called(original, f"scipy.{name}", prepare))
    _name(run, short)
    text = (
        f"Run :func:`scipy.{name}` on the host. Functions among the arguments get arrays of this package, and may "
        "return them. Arrays of the result are arrays of this package."
    )
    _describe(run, original, package, short, text)
    reason = "SciPy iterates on the host, functions compute on the device"
    IMPLEMENTATIONS.setdefault(package, {})[short] = Implementation(COMPOSED, reason, run)
    return run


def by_name(original: Callable[..., Any], **options: Any) -> Callable[[Callable[[Any], _R]], Callable[..., _R]]:
    """:func:`mirrors`, with these options, for a function of one object that has each argument under its name.

    The parameters of the registered function are SciPy's.
    """
    parameters = signature(original)
    names = [name for name, kind in parameters.parameters.items() if kind.kind is kind.POSITIONAL_OR_KEYWORD]
    defaults = {name: kind.default for name, kind in parameters.parameters.items()}
    required = [name for name, default in defaults.items() if default is Parameter.empty]

    def declare(function: Callable[[Any], _R]) -> Callable[..., _R]:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> _R:
            values = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
            is_known = len(values) == len(defaults) and len(args) <= len(names)
            is_whole = is_known and all(values[name] is not Parameter.empty for name in required)
            if not is_whole or not kwargs.keys().isdisjoint(names[: len(args)]):
                parameters.bind(*args, **kwargs)  # raises the error
            return function(SimpleNamespace(**values))

        cast(Any, run).__signature__ = parameters
        return mirrors(original, **options)(run)

    return declare


def missing(package: str, names: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a subpackage, which says what to do about names that only SciPy has.

    Parameters
    ----------
    package : str
        The name of the subpackage.
    names : mapping
        What SciPy's subpackage has.
    """

    def look_up(name: str) -> Any:
        module = f"gpuarray.scipy.{package}"
        if name.startswith("_") or name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}: use scipy.{package}.{name} with gpuarray.asnumpy(x), and "
            "gpuarray.asarray for its results"
        )

    return look_up


def _value(argument: Any) -> Any:
    """Return an argument as values of the host, unless a function is differentiated with respect to it."""
    if not isinstance(argument, GpuArray) or tape.varying(argument.node()):
        return argument
    return argument.get()


def _name(function: Any, name: str) -> None:
    """Give a function SciPy's name, also where tracebacks and errors of ``jit`` name it."""
    function.__name__ = function.__qualname__ = name
    function.__code__ = function.__code__.replace(co_name=name)


def _describe(function: Any, original: Callable[..., Any], package: str, name: str, text: str) -> None:
    """Give a function that wraps one of SciPy's its signature, and documentation of its own."""
    function.__module__ = f"gpuarray.scipy.{package}"
    function.__doc__ = _documented(text, package, name)
    with suppress(ValueError):  # some functions in C have none
        function.__signature__ = signature(original)
    del function.__wrapped__


def _documented(text: str | None, package: str, name: str) -> str:
    page = text or f"Equivalent of :func:`scipy.{package}.{name}`."
    if "\n" in page.strip():
        return page
    return f"{page}\n\nParameters, results and errors are those of :func:`scipy.{package}.{name}`."


def chosen(result: GpuArray, choice: str) -> GpuArray:
    """Return a result, whose explanation tells why it is computed this way.

    Parameters
    ----------
    result : GpuArray
        The result.
    choice : str
        What was chosen, and why.
    """
    choices.note(result.stored(), choice)
    return result
