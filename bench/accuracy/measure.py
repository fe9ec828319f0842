"""Measures one function in one dtype: on the device over float32 bit patterns, or on the host over a sample."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import gpuarray as xp
from bench.accuracy import errors
from bench.accuracy.exact import ExactValues
from bench.accuracy.functions import Function
from bench.accuracy.samples import STRIDE, Array, operands, words
from bench.peers import NUMPY, AbsentError, Ours, Peer

CHUNK = 1 << 26
SAMPLE = {"float32": 1 << 20, "float64": 1 << 18, "complex64": 1500, "complex128": 1500}
FEWER = {"float32": 1 << 17, "float64": 400}
"""Sizes of samples of functions that have their own, whose exact values take longest."""
FEW = 2000
"""The size of float64 samples of other special functions."""
TIMED = 0.2
"""Seconds after which no other run of a function is timed; a GPU's clock rises in the first of them."""
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
        own = function.call if space is NUMPY else None
        call = own or getattr(space, function.name, None) or getattr(space, function.other, None)
        if call is None:
            raise AbsentError(f"{peer.name} has no {function.name}")
        if function.one_by_one:
            of_count = call
            call = np.vectorize(lambda x, n: of_count(x, int(n)), otypes=[arrays[0].dtype])
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


def ufunc(function: Function) -> Any:
    """Return NumPy's ufunc, which arrays of this package answer; of special functions what takes those only."""
    if function.special:
        return getattr(xp.special, function.name)
    return function.call or getattr(np, function.other or function.name)


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
            result = [np.where(tiny, 0, error).argmax(), np.where(tiny, error, 0).argmax(), (error == np.inf).sum()]
            ours.xp.evaluate(*result)
            normal, subnormal, count = map(int, result)
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


def compare(peers: Sequence[Peer], function: Function, dtype: str, held: ExactValues | None = None) -> list[Row]:
    """Return the errors of each library that has the function, over one sample; ours is the first of them."""
    count = SAMPLE[dtype]
    if function.sample:
        count = min(count, FEWER[dtype])
    elif dtype == "float64" and function.special:
        count = FEW
    arrays, exact = sampled(peers[0], function, dtype, count, held)
    results = {}
    for peer in peers:
        with suppress(AbsentError):
            results[peer.name] = applied(peer, function, arrays)
    return judged(function, dtype, arrays, exact, results)


def sampled(
    ours: Peer, function: Function, dtype: str, count: int, held: ExactValues | None = None
) -> tuple[list[Array], Array]:
    """Return operands, and values that are exact or nearly."""
    if np.dtype(dtype).kind == "c" or (dtype == "float64" and function.special):
        return (held or ExactValues()).sample(function, dtype, count)
    arrays = operands(function, dtype, count)
    return arrays, reference(ours, function, arrays)


def reference(ours: Peer, function: Function, arrays: Sequence[Array]) -> Array:
    """Return values of more digits: NumPy's of long doubles or float64, or of special functions ours in float64."""
    if function.exact is None:
        with np.errstate(all="ignore"):
            return np.asarray(ufunc(function)(*arrays)).astype(np.longdouble)
    if function.special:
        wide = [x.astype(np.float64) for x in arrays]
        return applied(ours if has_float64(ours) else Ours("cpu"), function, wide)
    kind = np.float64 if arrays[0].dtype == np.float32 else np.longdouble
    with np.errstate(all="ignore"):
        return np.asarray(ufunc(function)(*(x.astype(kind) for x in arrays)))


def has_float64(ours: Peer) -> bool:
    """Whether float64 numbers are computed with on the device of ours."""
    with ours.scope():
        return "float64" in ours.xp.__array_namespace_info__().dtypes(device=ours.device)  # type: ignore[attr-defined]


def judged(function: Function, dtype: str, arrays: list[Array], exact: Array, results: dict[str, Array]) -> list[Row]:
    """Return the errors of results by library, at the same operands, against exact values or nearly exact ones."""
    kind = np.dtype(dtype)
    if kind.kind == "c":
        errors_of = {name: errors.of_complex(got, exact) for name, got in results.items()}
        return [_row(function, dtype, name, arrays, *result) for name, result in errors_of.items()]
    scale = errors.scale_of(function, arrays, exact)
    with np.errstate(invalid="ignore"):
        tiny = np.logical_or.reduce([_subnormal(v, kind) for v in (*arrays, exact)])
    finite = np.logical_and.reduce([np.isfinite(x) for x in arrays])
    rows = []
    for name, got in results.items():
        # exact values have no sign where they are 0
        error = np.where(finite & (got != exact), errors.of_real(got, exact, kind, scale), 0)
        if dtype == "float64" and not function.special and function.exact:
            error = _judged(function, arrays, got, error, finite)
        rows.append(_row(function, dtype, name, arrays, np.where(tiny, 0, error), subnormal=np.where(tiny, error, 0)))
    return rows


def _judged(function: Function, arrays: list[Array], got: Array, error: Array, finite: Array) -> Array:
    """Return the errors with the largest of them, and those at the hard cases, taken against mpmath."""
    chosen = np.arange(len(error))
    if errors.WIDE:
        chosen = np.unique(np.concatenate([np.argsort(error)[-JUDGED:], chosen[-len(function.hard) or len(chosen) :]]))
    chosen = chosen[finite[chosen]]
    judged = error.astype(np.float64)
    judged[chosen] = errors.against_exact(function, [x[chosen] for x in arrays], got[chosen])
    return judged


def _row(
    function: Function,
    dtype: str,
    library: str,
    arrays: list[Array],
    error: Array,
    part: Array | None = None,
    subnormal: Array | None = None,
) -> Row:
    at = error.argmax()
    others = [None if result is None else float(result.max()) for result in (part, subnormal)]
    wrong = np.isinf(error) if subnormal is None else np.isinf(error) | np.isinf(subnormal)
    return Row(
        function=function.name, dtype=dtype, library=library, count=len(error), error=float(error[at]),
        at=[repr(x[at].item()) for x in arrays], part=others[0], subnormal=others[1], wrong=int(wrong.sum()),
    )  # fmt: skip


def cost(ours: Ours, function: Function, dtype: str, count: int = 1 << 26) -> float:
    """Return billions of elements a second of a function, its kernels' best by their own clock.

    The operands are a sample's, uncommon ones among them. How long the host takes to record and submit does not count.
    """
    sample = operands(function, dtype, 1 << 16)
    with ours.scope():
        times = count // (1 << 16)
        given = [ours.xp.tile(ours.asarray(np.resize(x, 1 << 16)), times) for x in sample]
        ours.wait(given)
        ours.wait([ufunc(function)(*given)])
        begun = time.perf_counter()
        with ours.xp.profile() as result:
            ours.wait([ufunc(function)(*given)])
            while time.perf_counter() - begun < TIMED:
                ours.wait([ufunc(function)(*given)])
    return count / sum(kernel.least for kernel in result.kernels)
