"""Names that programs look for in the namespace and that it lacks, with what to use instead."""

from collections.abc import Callable
from typing import Final, NoReturn

import numpy as np

_KERNEL: Final = "write the operation with functions of arrays, which are fused into one kernel, and use gpuarray.jit"
_STRUCTURED: Final = "structured dtypes are not supported; keep such data in NumPy arrays, with numpy.{name}"
_TEXT: Final = "text is not a supported dtype; keep it in NumPy arrays, with numpy.{name}"
_MATRIX: Final = "there is no matrix class; use arrays of two dimensions, @ and gpuarray.block"
_LONG: Final = "long double is not supported; float64 and complex128 are the widest dtypes"
_KEYS: Final = "use rng = gpuarray.random.default_rng(seed), whose methods draw numbers"
_LAYERS: Final = "there are no layers; write them with functions of arrays, such as those of gpuarray.special"
_STREAMS: Final = "the bit generator here is Philox, as only such a one computes numbers in parallel"
_NUMPYS: Final = "it is a part of NumPy itself; use numpy.{name}"

#: What to use instead, by name. A reason that has ``{name}`` gets the name.
ABSENT: Final[dict[str, str]] = {
    # NumPy
    "asmatrix": _MATRIX,
    "bmat": _MATRIX,
    "matrix": _MATRIX,
    "broadcast": "use gpuarray.broadcast_shapes and gpuarray.broadcast_arrays",
    "char": _TEXT,
    "chararray": _TEXT,
    "strings": _TEXT,
    "rec": _STRUCTURED,
    "recarray": _STRUCTURED,
    "record": _STRUCTURED,
    "void": _STRUCTURED,
    "clongdouble": _LONG,
    "complex256": _LONG,
    "float128": _LONG,
    "longdouble": _LONG,
    "core": _NUMPYS,
    "ctypeslib": "the elements are in device memory, which has no address; use numpy.ctypeslib and gpuarray.asnumpy(x)",
    "f2py": _NUMPYS,
    **{
        old: f"NumPy 2 has no such name; use gpuarray.{new}"
        for old, new in {
            "alltrue": "all",
            "bool8": "bool",
            "cumproduct": "cumprod",
            "in1d": "isin",
            "msort": "sort(x, axis=0)",
            "product": "prod",
            "rank": "ndim",
            "sometrue": "any",
            "trapz": "trapezoid",
        }.items()
    },
    "asscalar": "NumPy 2 has no such name; use x.item()",
    "flatiter": "x.flat iterates over the elements of an array",
    "get_include": "there are no headers for C; numpy.get_include() returns NumPy's",
    "lib.scimath": "use gpuarray.emath",
    "math": "NumPy 2 has no such name; use Python's module math",
    "info": "help(x) shows the documentation, and gpuarray.report() the devices and what ran on them",
    **{f"random.{name}": _STREAMS for name in ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "SFC64")},
    "nested_iters": "iterate over gpuarray.ndindex(x.shape), or use numpy.nested_iters with gpuarray.asnumpy(x)",
    "show_config": "gpuarray.report() shows versions, devices and settings",
    "show_runtime": "gpuarray.report() shows versions, devices and settings",
    "test": "numpy.test() runs NumPy's tests; the tests of this package are run by pytest from its repository",
    "ufunc": "functions here are Python functions with the methods of ufuncs, such as gpuarray.add.reduce; for the "
    "class use numpy.ufunc",
    # CuPy
    "ElementwiseKernel": _KERNEL,
    "RawKernel": _KERNEL,
    "RawModule": _KERNEL,
    "ReductionKernel": f"{_KERNEL}; functions such as gpuarray.sum reduce",
    "cuda": "choose a device with gpuarray.config.device or gpuarray.using(device=...), and wait with "
    "gpuarray.synchronize(); there are no streams and events: time a program with time.perf_counter() after "
    "gpuarray.synchronize(), or with gpuarray.profile()",
    "cupyx": "use gpuarray.scipy, gpuarray.add.at and gpuarray.profile",
    "cublas": "use gpuarray.linalg and @",
    "fuse": "operations are fused without it; gpuarray.jit records a function once",
    "get_default_pinned_memory_pool": "there is no pool of host memory to manage; omit the call",
    "scatter_add": "use gpuarray.add.at(x, indices, values)",
    "scatter_max": "use gpuarray.maximum.at(x, indices, values)",
    "scatter_min": "use gpuarray.minimum.at(x, indices, values)",
    # JAX
    "block_until_ready": "use gpuarray.synchronize()",
    "default_device": "use gpuarray.config.device or gpuarray.using(device=...)",
    "device_get": "use gpuarray.asnumpy(x)",
    "device_put": "use gpuarray.asarray(x, device=...) or x.to_device(device)",
    "lax": "use Python's loops and conditions with gpuarray.where; gpuarray.jit records a function once",
    "make_jaxpr": "use gpuarray.explain(f(x))",
    "numpy": "the functions are in gpuarray itself",
    "nn": _LAYERS,
    "pmap": "use gpuarray.using(device=...) in threads, or dask",
    "profiler": "use gpuarray.profile()",
    "random.PRNGKey": _KEYS,
    "random.key": _KEYS,
    "random.split": "use rng.spawn(n) of a generator",
    "test_util": "use gpuarray.testing",
    # PyTorch
    "bmm": "use @",
    "cat": "use gpuarray.concatenate",
    "clamp": "use gpuarray.clip",
    "compile": "use gpuarray.jit",
    "from_numpy": "use gpuarray.asarray(x)",
    "func": "gpuarray.grad, gpuarray.vmap and the others are in gpuarray itself",
    "gather": "use gpuarray.take_along_axis",
    "manual_seed": "use gpuarray.random.default_rng(seed) or gpuarray.random.seed(seed)",
    "mm": "use @",
    "no_grad": "arrays record no gradients, which gpuarray.grad computes of functions; omit it",
    "rand": "use gpuarray.random.rand(*shape)",
    "randn": "use gpuarray.random.randn(*shape)",
    "set_default_device": "use gpuarray.config.device",
    "set_default_dtype": "use gpuarray.config.default_float",
    "relu": "use gpuarray.maximum(x, 0)",
    "sigmoid": "use gpuarray.special.expit(x)",
    "softmax": "use gpuarray.special.softmax(x, axis)",
    "tensor": "use gpuarray.asarray(x)",
    "topk": "use gpuarray.argpartition and gpuarray.sort",
}


def reason_for(name: str) -> str:
    """Return what replaces a name that is absent here, or the purpose of NumPy's name; else an empty string.

    Names of submodules have dots, as in ``"random.MT19937"``.
    """
    if name in ABSENT:
        return ABSENT[name].format(name=name)
    module, _, last = name.rpartition(".")
    if module:
        return _NUMPYS.format(name=name) if last in getattr(np, module).__all__ else ""
    if name in np.__all__:
        return f"numpy.{name} is for arrays of NumPy, as gpuarray.asnumpy(x) makes them"
    if hasattr(np.exceptions, name):
        return f"NumPy 2 has no such name; use gpuarray.exceptions.{name}"
    try:
        getattr(np, name)
    except AttributeError as error:  # which names the replacement of what NumPy has removed
        words = str(error).removeprefix(f"module 'numpy' has no attribute {name!r}").lstrip(".\n")
        return words.partition("\n")[0]
    return ""


def missing(module: str) -> Callable[[str], NoReturn]:
    """Return the ``__getattr__`` of a submodule of the package, which says what to use in place of a name."""

    def look_up(name: str) -> NoReturn:
        reason = reason_for(f"{module}.{name}")
        raise AttributeError(f"module 'gpuarray.{module}' has no attribute {name!r}{reason and ': '}{reason}")

    return look_up
