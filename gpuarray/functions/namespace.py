"""The names that the package has besides those of the standard: NumPy's, with NumPy's signatures.

Given lists and numbers alone, a function makes arrays on the default device.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy import (
    ScalarType,
    base_repr,
    binary_repr,
    byte,
    cdouble,
    complexfloating,
    csingle,
    double,
    errstate,
    euler_gamma,
    exceptions,
    floating,
    format_float_positional,
    format_float_scientific,
    generic,
    get_printoptions,
    geterr,
    half,
    index_exp,
    inexact,
    int_,
    intc,
    integer,
    intp,
    isscalar,
    issubdtype,
    iterable,
    mintypecode,
    ndindex,
    number,
    poly1d,
    printoptions,
    promote_types,
    s_,
    set_printoptions,
    seterr,
    short,
    signedinteger,
    single,
    typecodes,
    typename,
    ubyte,
    uint,
    uintc,
    unsignedinteger,
    ushort,
)

from gpuarray.array import GpuArray
from gpuarray.functions.binning import (
    bincount,
    digitize,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
)
from gpuarray.functions.bits import (
    packbits,
    unpackbits,
)
from gpuarray.functions.differences import (
    ediff1d,
    gradient,
    trapezoid,
)
from gpuarray.functions.einsum import (
    einsum,
    einsum_path,
)
from gpuarray.functions.functional import (
    apply_along_axis,
    apply_over_axes,
    piecewise,
)
from gpuarray.functions.host import on_host
from gpuarray.functions.indices import (
    diag_indices_from,
    fromfunction,
    indices,
    ix_,
    ravel_multi_index,
    tril_indices_from,
    triu_indices_from,
    unravel_index,
)
from gpuarray.functions.information import (
    common_type,
    may_share_memory,
    min_scalar_type,
    ndim,
    shape,
    shares_memory,
    size,
)
from gpuarray.functions.makers import (
    asarray_chkfinite,
    bartlett,
    blackman,
    c_,
    diag_indices,
    hamming,
    hanning,
    isfortran,
    kaiser,
    mask_indices,
    matvec,
    mgrid,
    ogrid,
    r_,
    tril_indices,
    triu_indices,
    vecmat,
)
from gpuarray.functions.nan_reductions import (
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
)
from gpuarray.functions.numpy_creation import (
    asarray as asanyarray,
)
from gpuarray.functions.numpy_creation import (
    ascontiguousarray as asfortranarray,
)
from gpuarray.functions.numpy_creation import (
    geomspace,
    logspace,
    require,
    vander,
)
from gpuarray.functions.numpy_elementwise import (
    allclose,
    angle,
    array_equal,
    array_equiv,
    fix,
    i0,
    isclose,
    iscomplex,
    iscomplexobj,
    isneginf,
    isposinf,
    isreal,
    isrealobj,
    real_if_close,
    select,
    sinc,
)
from gpuarray.functions.numpy_manipulation import (
    append,
    array_split,
    atleast_2d,
    atleast_3d,
    block,
    column_stack,
    delete,
    dsplit,
    dstack,
    fliplr,
    flipud,
    hsplit,
    hstack,
    insert,
    resize,
    rollaxis,
    rot90,
    split,
    vsplit,
    vstack,
)
from gpuarray.functions.numpy_manipulation import (
    vstack as row_stack,
)
from gpuarray.functions.numpy_sets import (
    intersect1d,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
)
from gpuarray.functions.numpy_sorting import (
    argpartition,
    lexsort,
    partition,
    sort_complex,
)
from gpuarray.functions.padding import (
    pad,
)
from gpuarray.functions.polynomials import (
    poly,
    polyadd,
    polyder,
    polydiv,
    polyint,
    polymul,
    polysub,
    polyval,
)
from gpuarray.functions.products import (
    cross,
    inner,
    kron,
    vdot,
)
from gpuarray.functions.quantiles import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from gpuarray.functions.reductions import cumprod, cumsum, ptp
from gpuarray.functions.reductions import max as amax
from gpuarray.functions.reductions import min as amin
from gpuarray.functions.selection import (
    choose,
    compress,
    copyto,
    diagflat,
    extract,
    fill_diagonal,
    place,
    put,
    put_along_axis,
    putmask,
    trace,
    trim_zeros,
)
from gpuarray.functions.signals import (
    convolve,
    correlate,
    interp,
    unwrap,
)
from gpuarray.functions.statistics import average, corrcoef, cov
from gpuarray.functions.status import status_of


def _hosted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a NumPy function that runs on the host: it takes our arrays, and its results are on their device."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return on_host(function, args, kwargs, status_of(function).reason)

    run.__doc__ = f"Equivalent of :func:`numpy.{function.__name__}` for arrays of this package, computed on the host."
    return run


ndarray = GpuArray

array2string = _hosted(np.array2string)
array_repr = _hosted(np.array_repr)
array_str = _hosted(np.array_str)
frombuffer = _hosted(np.frombuffer)
fromfile = _hosted(np.fromfile)
fromiter = _hosted(np.fromiter)
fromregex = _hosted(np.fromregex)
fromstring = _hosted(np.fromstring)
genfromtxt = _hosted(np.genfromtxt)
load = _hosted(np.load)
loadtxt = _hosted(np.loadtxt)
polyfit = _hosted(np.polyfit)
roots = _hosted(np.roots)
save = _hosted(np.save)
savetxt = _hosted(np.savetxt)
savez = _hosted(np.savez)
savez_compressed = _hosted(np.savez_compressed)


#: Modules of the package that are imported when they are first used, because they take long to import.
LAZY_MODULES: Final = ("special",)


def missing(name: str) -> Any:
    """Return a lazily imported module of the package.

    Raises
    ------
    AttributeError
        For any other name; the message says so if NumPy has it.
    """
    if name in LAZY_MODULES:
        return import_module(f"gpuarray.{name}")
    hint = f"; numpy.{name} is for arrays of NumPy, as gpuarray.asnumpy(x) makes them" if name in np.__all__ else ""
    raise AttributeError(f"module 'gpuarray' has no attribute {name!r}{hint}")


__all__ = [
    "ScalarType",
    "allclose",
    "amax",
    "amin",
    "angle",
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "argpartition",
    "array2string",
    "array_equal",
    "array_equiv",
    "array_repr",
    "array_split",
    "array_str",
    "asanyarray",
    "asarray_chkfinite",
    "asfortranarray",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bartlett",
    "base_repr",
    "binary_repr",
    "bincount",
    "blackman",
    "block",
    "byte",
    "c_",
    "cdouble",
    "choose",
    "column_stack",
    "common_type",
    "complexfloating",
    "compress",
    "convolve",
    "copyto",
    "corrcoef",
    "correlate",
    "cov",
    "cross",
    "csingle",
    "cumprod",
    "cumsum",
    "delete",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "digitize",
    "double",
    "dsplit",
    "dstack",
    "ediff1d",
    "einsum",
    "einsum_path",
    "errstate",
    "euler_gamma",
    "exceptions",
    "extract",
    "fill_diagonal",
    "fix",
    "fliplr",
    "flipud",
    "floating",
    "format_float_positional",
    "format_float_scientific",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "fromregex",
    "fromstring",
    "generic",
    "genfromtxt",
    "geomspace",
    "get_printoptions",
    "geterr",
    "gradient",
    "half",
    "hamming",
    "hanning",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "hsplit",
    "hstack",
    "i0",
    "index_exp",
    "indices",
    "inexact",
    "inner",
    "insert",
    "int_",
    "intc",
    "integer",
    "interp",
    "intersect1d",
    "intp",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isfortran",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "ix_",
    "kaiser",
    "kron",
    "lexsort",
    "load",
    "loadtxt",
    "logspace",
    "mask_indices",
    "matvec",
    "may_share_memory",
    "median",
    "mgrid",
    "min_scalar_type",
    "mintypecode",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndarray",
    "ndim",
    "ndindex",
    "number",
    "ogrid",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "piecewise",
    "place",
    "poly",
    "poly1d",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "printoptions",
    "promote_types",
    "ptp",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "r_",
    "ravel_multi_index",
    "real_if_close",
    "require",
    "resize",
    "rollaxis",
    "roots",
    "rot90",
    "row_stack",
    "s_",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "select",
    "set_printoptions",
    "setdiff1d",
    "seterr",
    "setxor1d",
    "shape",
    "shares_memory",
    "short",
    "signedinteger",
    "sinc",
    "single",
    "size",
    "sort_complex",
    "split",
    "trace",
    "trapezoid",
    "tril_indices",
    "tril_indices_from",
    "trim_zeros",
    "triu_indices",
    "triu_indices_from",
    "typecodes",
    "typename",
    "ubyte",
    "uint",
    "uintc",
    "union1d",
    "unique",
    "unpackbits",
    "unravel_index",
    "unsignedinteger",
    "unwrap",
    "ushort",
    "vander",
    "vdot",
    "vecmat",
    "vsplit",
    "vstack",
]
