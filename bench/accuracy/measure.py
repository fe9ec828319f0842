"""Measures one function in one dtype: on the device over float32 bit patterns, or on the host over a sample."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import gpuarray as xp
from bench.accuracy import errors
from bench.accuracy.functions import Function
from bench.accuracy.samples import STRIDE, Array, operands, words
from bench.peers import AbsentError, Ours, Peer

CHUNK = 1 << 26
SAMPLE = {"float32": 1 << 20, "float64": 1 << 18, "complex64": 1500, "complex128": 1500}
FEWER = {"float32": 1 << 17, "float64": 400}
"""Sizes of samples of functions that have their own, whose exact values take longest."""
DTYPES = tuple(SAMPLE)
JUDGED = 24
"""How many of the worst results mpmath judges again."""


@dataclass(kw_only=True)
class Row:
    """The largest errors of one library in one function and dtype; for complex dtypes of the norm, and of a part.

    ``error`` is over normal operands and results, ``subnormal`` over the others. ``wrong`` counts results that are NaN,
    or of the other sign, where the exact value is not. ``seconds`` is how long a sweep took.
    """

    function: str
    dtype: str
    library: str
    count: int
    error: float
    at: list[str]
    subnormal: float | None = None
    part: float | None = None
    wrong: int = 0
    seconds: float | None = None


def applied(peer: Peer, function: Function, arrays: Sequence[Array]) -> Array:
    """Return the function's values as a library computes them."""
    with np.errstate(all="ignore"), peer.scope():
        if isinstance(peer, Ours):
            return peer.asnumpy(ufunc(function)(*map(peer.asarray, arrays)))
        space = _special_functions(peer) if function.special else peer.xp
        call = getattr(space, function.name, None) or getattr(space, function.other, None)
        if call is None:
            raise AbsentError(f"{peer.name} has no {function.name}")
        try:
            return peer.asnumpy(call(*map(peer.asarray, arrays)))
        except (TypeError, RuntimeError, NotImplementedError) as error:
            raise AbsentError(f"{peer.name} has no {function.name} of {arrays[0].dtype}") from error


def _special_functions(peer: Peer) -> Any:
    """Return where a library has its special functions: NumPy's are SciPy's."""
    modules = {"numpy": "scipy.special", "torch": "torch.special", "jax": "jax.scipy.special"}
    try:
        return import_module(modules.get(peer.name.partition("-")[0], "cupyx.scipy.special"))
    except ImportError as error:
        raise AbsentError(f"{peer.name} has no special functions here") from error


def _special(function: Function, *arrays: Any) -> Any:
    """Return a special function of arrays of this package, or of NumPy's in float64."""
    call = getattr(xp.special, function.name)
    if isinstance(arrays[0], np.ndarray):
        with xp.using(device="cpu"):
            return np.asarray(call(*(xp.asarray(x, dtype=np.float64) for x in arrays)))
    return call(*arrays)


def ufunc(function: Function) -> Any:
    """Return NumPy's ufunc, which arrays of this package answer; of special functions what takes both."""
    if function.special:
        return partial(_special, function)
    return getattr(np, function.other or function.name)


# -- on the device -----------------------------------------------------------------------------------------------------


def sweep(ours: Ours, function: Function, full: bool, chunk: int = CHUNK, sample: int = 1 << 24) -> Row:
    """Return the errors of a float32 function of one operand over all, or some, of the 2**32 bit patterns.

    Results, the float64 values that they are compared with, and the search for the largest error stay on the device.
    """
    total, stride = (1 << 32, 1) if full else (sample, STRIDE)
    worst: dict[str, list[Array]] = {"normal": [], "subnormal": []}
    wrong = 0
    with np.errstate(all="ignore"), ours.scope():
        for start in range(0, total, chunk):
            x = _patterns(ours, start, min(chunk, total - start), stride)
            error, tiny = _errors(function, x)
            found = [np.where(tiny, 0, error).argmax(), np.where(tiny, error, 0).argmax(), (error == np.inf).sum()]
            ours.xp.evaluate(*found)
            normal, subnormal, count = map(int, found)
            worst["normal"].append(words(start + normal, 1, stride))
            worst["subnormal"].append(words(start + subnormal, 1, stride))
            wrong += count
        largest = {}
        for name, patterns in worst.items():
            x = np.concatenate(patterns).view(np.float32)
            error, tiny = (ours.asnumpy(part) for part in _errors(function, ours.asarray(x)))
            error = np.where(tiny == (name == "subnormal"), error, 0)
            largest[name] = float(error.max()), x[error.argmax()]
    error, at = largest["normal"]
    return Row(
        function=function.name, dtype="float32", library=ours.name, count=total, error=error, at=[repr(float(at))],
        subnormal=largest["subnormal"][0], wrong=wrong,
    )  # fmt: skip


def _patterns(ours: Ours, start: int, count: int, stride: int) -> Any:
    """Return the float32 numbers of :func:`~bench.accuracy.samples.words`, on the device."""
    return (ours.xp.arange(start, start + count, dtype=np.uint32) * np.uint32(stride)).view(np.float32)


def _errors(function: Function, x: Any) -> tuple[Any, Any]:
    got, exact = ufunc(function)(x), ufunc(function)(x.astype(np.float64))
    tiny = _subnormal(x, np.float32) | _subnormal(exact, np.float32)
    return errors.of_real(got, exact, np.float32, errors.scale_of(function, [x], exact)), tiny


def _subnormal(x: Any, dtype: Any) -> Any:
    return (np.abs(x) < np.finfo(dtype).tiny) & (x != 0)


# -- on the host -------------------------------------------------------------------------------------------------------


def compare(peers: Sequence[Peer], function: Function, dtype: str) -> list[Row]:
    """Return the errors of each library that has the function, over one sample."""
    count = SAMPLE[dtype]
    if function.sample:
        count = min(count, FEWER[dtype])
    elif dtype == "float64" and not _is_wide(function):
        count = 2000
    arrays = operands(function, dtype, count)
    results = {}
    for peer in peers:
        with suppress(AbsentError):
            results[peer.name] = applied(peer, function, arrays)
    return judged(function, dtype, arrays, results)


def _is_wide(function: Function) -> bool:
    """Whether long double has the function, and bits enough to judge float64 results before mpmath does."""
    return errors.WIDE and not function.special


def judged(function: Function, dtype: str, arrays: list[Array], results: dict[str, Array]) -> list[Row]:
    """Return the errors of results by library, at the same operands."""
    return (_complex_rows if dtype.startswith("complex") else _real_rows)(function, dtype, arrays, results)


def _real_rows(function: Function, dtype: str, arrays: list[Array], results: dict[str, Array]) -> list[Row]:
    kind = np.dtype(dtype)
    wide = np.float64 if dtype == "float32" or function.special else np.longdouble
    judge = dtype == "float64"
    with np.errstate(all="ignore"):
        exact = ufunc(function)(*(x.astype(wide) for x in arrays))
        scale = errors.scale_of(function, arrays, exact)
        tiny = np.logical_or.reduce([_subnormal(v, kind) for v in (*arrays, exact)])
    finite = np.logical_and.reduce([np.isfinite(x) for x in arrays])
    rows = []
    for name, got in results.items():
        error = errors.of_real(got, exact, kind, scale)
        if judge:
            error = _judged(function, arrays, got, error, finite)
        normal = np.where(tiny, 0, error)
        at = normal.argmax()
        rows.append(
            Row(
                function=function.name, dtype=dtype, library=name, count=len(got), error=float(normal[at]),
                at=[repr(x[at].item()) for x in arrays], subnormal=float(np.where(tiny, error, 0).max()),
                wrong=int(np.isinf(error).sum()),
            )
        )  # fmt: skip
    return rows


def _judged(function: Function, arrays: list[Array], got: Array, error: Array, finite: Array) -> Array:
    """Return the errors with the largest of them, and those at the hard cases, taken against mpmath."""
    chosen = np.arange(len(error))
    if _is_wide(function):
        chosen = np.unique(np.concatenate([np.argsort(error)[-JUDGED:], chosen[-len(function.hard) or len(chosen) :]]))
    chosen = chosen[finite[chosen]]
    judged = error.astype(np.float64)
    judged[chosen] = errors.against_exact(function, [x[chosen] for x in arrays], got[chosen])
    return judged


def _complex_rows(function: Function, dtype: str, arrays: list[Array], results: dict[str, Array]) -> list[Row]:
    points = list(zip(*(x.tolist() for x in arrays), strict=True))
    exact = [errors.exact_value(function, values, 300) for values in points]
    rows = []
    for name, got in results.items():
        norm, part = errors.of_complex(got, exact)
        at = norm.argmax()
        rows.append(
            Row(
                function=function.name, dtype=dtype, library=name, count=len(got), error=float(norm[at]),
                at=[repr(x[at].item()) for x in arrays], part=float(part.max()), wrong=int(np.isinf(norm).sum()),
            )
        )  # fmt: skip
    return rows


def cost(ours: Ours, function: Function, dtype: str, count: int = 1 << 26) -> float:
    """Return billions of elements a second of a function over ordinary operands, the best of a few runs."""
    sample = operands(function, dtype, 1 << 16)
    with ours.scope():
        times = count // (1 << 16)
        given = [ours.xp.tile(ours.asarray(np.resize(x, 1 << 16)), times) for x in sample]
        ours.wait(given)
        best = float("inf")
        for _ in range(5):
            result = ufunc(function)(*given)
            begin = time.perf_counter()
            ours.wait([result])
            best = min(best, time.perf_counter() - begin)
    return count / best / 1e9
