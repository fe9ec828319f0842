"""A pytest plugin for scikit-learn's own tests: their namespaces are one, ``gpuarray`` unless told otherwise.

scikit-learn's tests take the namespaces from functions that list those it knows; here they list this one.
"""

import os
from collections.abc import Iterator

import sklearn.utils._array_api as theirs

NAME = os.environ["CLIENT_NAMESPACE"]
#: Where arrays are made; the default device is another one, so that a result on the default device is found out.
DEVICE = os.environ["CLIENT_DEVICE"]

Combination = tuple[str, str, str]


def yield_namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
    """Yield the name of the namespace."""
    yield NAME


def yield_namespace_device_dtype_combinations(include_numpy_namespaces: bool = True) -> Iterator[Combination]:
    """Yield the namespace with its device, in double and in single precision."""
    yield NAME, DEVICE, "float64"
    yield NAME, DEVICE, "float32"


def yield_mixed_namespace_input_permutations() -> Iterator[tuple[object, object, str]]:
    """Yield pairs of places: one kind of array is fitted, predictions are asked for the other."""
    places = {
        "NumPy": theirs.NamespaceAndDevice("numpy", None),
        "the namespace": theirs.NamespaceAndDevice(NAME, DEVICE),
        "the standard's": theirs.NamespaceAndDevice("array_api_strict", "device1"),
    }
    for first, second in [("NumPy", "the namespace"), ("the namespace", "NumPy"), ("the standard's", "the namespace")]:
        yield places[first], places[second], f"{first} to {second}"


for replacement in (
    yield_namespaces,
    yield_namespace_device_dtype_combinations,
    yield_mixed_namespace_input_permutations,
):
    setattr(theirs, replacement.__name__, replacement)
