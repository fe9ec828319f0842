"""The status of every NumPy function that other arrays can override: none is left to chance.

Implementations declare themselves native or composed where they are written. Here stand the others: those that NumPy
runs on host copies, and those that make no sense for these arrays. A test compares the table with NumPy's own list.
"""

from typing import Any, Final, NamedTuple

from gpuarray.numpy_api.registry import HOST, IMPLEMENTATIONS, REFUSED, name_of


class Status(NamedTuple):
    """What happens when a NumPy function is given an array of this package, and the reason."""

    kind: str
    reason: str


_HOST_FUNCTIONS: Final[dict[str, str]] = {
    "binning in several dimensions has no kernel": "histogram2d histogramdd",
    "convolution and interpolation have no kernel": "convolve correlate interp unwrap",
    "choice has no kernel": "choose insert piecewise",
    "it calls a Python function on arrays": "apply_along_axis apply_over_axes fromfunction",
    "it makes indices, which are host values": "diag_indices_from ix_ ravel_multi_index tril_indices_from "
    "triu_indices_from unravel_index einsum_path",
    "bits are packed on the host": "packbits unpackbits",
    "special functions beyond the ufuncs have no kernel": "i0 geomspace",
    "sliding windows overlap": "lib.stride_tricks.sliding_window_view",
    "polynomials are NumPy's": "poly polyadd polyder polydiv polyfit polyint polymul polysub roots "
    "polynomial.polynomial.polygrid2d polynomial.polynomial.polyval2d",
    "their dtype depends on the values": "lib.scimath.arccos lib.scimath.arcsin lib.scimath.arctanh lib.scimath.log "
    "lib.scimath.log10 lib.scimath.log2 lib.scimath.logn lib.scimath.power lib.scimath.sqrt",
    "text is made on the host": "array2string array_repr array_str",
    "files are read and written by the host": "frombuffer fromfile fromiter fromstring genfromtxt loadtxt save "
    "savetxt savez savez_compressed",
}

_REFUSED_FUNCTIONS: Final[dict[str, str]] = {
    "dates are no supported dtype; keep them in NumPy arrays": "busday_count busday_offset "
    "datetime_as_string is_busday",
    "structured dtypes are not supported; keep such data in NumPy arrays": "lib.recfunctions.append_fields "
    "lib.recfunctions.apply_along_fields lib.recfunctions.assign_fields_by_name lib.recfunctions.drop_fields "
    "lib.recfunctions.find_duplicates lib.recfunctions.join_by lib.recfunctions.merge_arrays "
    "lib.recfunctions.rec_append_fields lib.recfunctions.rec_drop_fields lib.recfunctions.rec_join "
    "lib.recfunctions.recursive_fill_fields lib.recfunctions.rename_fields lib.recfunctions.repack_fields "
    "lib.recfunctions.require_fields lib.recfunctions.stack_arrays lib.recfunctions.structured_to_unstructured "
    "lib.recfunctions.unstructured_to_structured",
}

#: Modules of which no function makes sense here.
REFUSED_MODULES: Final[dict[str, str]] = dict.fromkeys(
    ("char", "strings"), "text is no supported dtype; keep it in NumPy arrays"
)

#: Functions of NumPy that are not implemented here, by name.
OTHERS: Final[dict[str, Status]] = {
    name: Status(kind, reason)
    for kind, table in ((HOST, _HOST_FUNCTIONS), (REFUSED, _REFUSED_FUNCTIONS))
    for reason, names in table.items()
    for name in names.split()
}


def status_of(function: Any) -> Status:
    """Return the status of a NumPy function; functions that are in no table run on the host."""
    name = name_of(function)
    if name in IMPLEMENTATIONS:
        return Status(IMPLEMENTATIONS[name][0], "")
    module = name.rpartition(".")[0]
    if module in REFUSED_MODULES:
        return Status(REFUSED, REFUSED_MODULES[module])
    return OTHERS.get(name, Status(HOST, "it has no implementation here"))


def table() -> dict[str, Status]:
    """Return the status of every function that has been declared, by NumPy name, sorted."""
    declared = {name: Status(kind, "") for name, (kind, _) in IMPLEMENTATIONS.items()}
    return dict(sorted((declared | OTHERS).items()))
