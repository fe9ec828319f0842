"""The namespace against the standard's: every name, and signatures that take every call that the standard allows.

A signature here may take more than the standard's, as NumPy's function of the same name does: further parameters,
keyword-only ones by position too, and positional ones left out. What goes beyond that is listed, with the reason.
"""

import inspect
import re
from inspect import Parameter
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from support import computes

import gpuarray as xp

EXTENSIONS = ("linalg", "fft")
#: What array_api_strict has besides the standard.
_OWN = {"ArrayAPIStrictFlags", "Device", "__version__"} | {
    f"{verb}_array_api_strict_flags" for verb in ("get", "set", "reset")
}
NAMES = sorted(set(strict.__all__) - _OWN) + [
    f"{extension}.{name}" for extension in EXTENSIONS for name in sorted(getattr(strict, extension).__all__)
]
#: Parameters that neither the standard nor NumPy's function of the same name has like this.
ACCEPTED = {
    ("arange", "dtype"): "NumPy takes it by position, although its signature does not say so",
    ("linalg.matmul", "out"): "it is the main namespace's function, and NumPy's matmul has it",
    ("linalg.svdvals", "hermitian"): "NumPy's svd has it, and svdvals is that without the vectors",
    ("linalg.tensordot", "axes"): "it is the main namespace's function, whose axes NumPy takes by position",
    ("std", "correction"): "at its position NumPy has ddof, which is the same",
    ("var", "correction"): "at its position NumPy has ddof, which is the same",
    ("where", "x1"): "NumPy's where of a condition alone is nonzero",
    ("where", "x2"): "NumPy's where of a condition alone is nonzero",
}
_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def found(namespace: Any, path: str) -> Any:
    for name in path.split("."):
        namespace = getattr(namespace, name)
    return namespace


def parameters(function: Any) -> dict[str, Parameter]:
    return dict(inspect.signature(function).parameters)


def numpys(path: str) -> dict[str, Parameter]:
    try:
        return parameters(found(np, path))
    except (AttributeError, ValueError):  # a name that is not NumPy's, or a function without a signature
        return {}


FUNCTIONS = [path for path in NAMES if inspect.isfunction(inspect.unwrap(found(strict, path)))]


@pytest.mark.parametrize("path", NAMES)
def test_name(path: str) -> None:
    assert found(xp, path) is not None or path == "newaxis"


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_extensions_list_their_names(extension: str) -> None:
    assert set(getattr(strict, extension).__all__) <= set(getattr(xp, extension).__all__)


def test_the_package_lists_its_names() -> None:
    assert {name for name in NAMES if "." not in name} <= set(xp.__all__)


@pytest.mark.parametrize("path", FUNCTIONS)
def test_every_call_of_the_standard_is_taken(path: str) -> None:
    own, theirs = parameters(found(xp, path)), numpys(path)
    names = list(own)
    for position, (name, expected) in enumerate(parameters(found(strict, path)).items()):
        assert name in own, name
        given = own[name]
        if expected.kind in _BY_POSITION:
            assert names[position] == name
        accepted = (path, name) in ACCEPTED
        as_numpy = name in theirs and given.kind == theirs[name].kind == Parameter.POSITIONAL_OR_KEYWORD
        assert given.kind == expected.kind or (expected.kind == Parameter.KEYWORD_ONLY and (as_numpy or accepted)), name
        if expected.default is Parameter.empty and given.default is not Parameter.empty:
            numpy_may = position < len(theirs) and list(theirs.values())[position].default is not Parameter.empty
            assert numpy_may or accepted, f"{name} may be left out"
        elif isinstance(expected.default, None | bool | int | float | str):  # not strict's marker of what is not given
            assert given.default == expected.default, name


@pytest.mark.parametrize("path", FUNCTIONS)
def test_further_parameters_are_numpys(path: str) -> None:
    beyond = set(parameters(found(xp, path))) - set(parameters(found(strict, path)))
    names = set(numpys(path)) or {"out", "where", "dtype", "casting"}  # some versions of NumPy do not tell of ufuncs
    assert not {name for name in beyond - names if (path, name) not in ACCEPTED}


def test_what_is_accepted_is_needed() -> None:
    for path, name in ACCEPTED:
        expected = parameters(found(strict, path)).get(name)
        given = parameters(found(xp, path))[name]
        assert expected is None or (expected.kind, expected.default) != (given.kind, given.default), (path, name)


def error_of(function: Any, given: dict[str, Any]) -> str:
    try:
        function(**given)
    except Exception as error:
        return str(error)
    return ""


NAMESPACES = {"": (xp, np), "linalg.": (xp.linalg, np.linalg), "fft.": (xp.fft, np.fft)}
SHARED = [
    prefix + name
    for prefix, (own, theirs) in NAMESPACES.items()
    for name in own.__all__
    if inspect.isfunction(inspect.unwrap(getattr(theirs, name, None)))
    and getattr(own, name) is not getattr(theirs, name)
]


@pytest.mark.parametrize("path", SHARED)
def test_parameters_have_numpys_names(path: str) -> None:
    given: dict[str, Any] = {}
    for name, parameter in numpys(path).items():
        if parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            given[name] = object()
            assert not re.search("unexpected keyword|positional-only", error_of(found(xp, path), given)), name


@pytest.mark.parametrize("limit", [0, 1 << 18])
def test_numpys_names_are_those_of_recorded_calls_too(limit: int, device: Any) -> None:
    with xp.using(direct_limit=limit):
        x = xp.arange(6).reshape(2, 3)
        assert xp.sum(a=x, axis=0).tolist() == np.sum(x.get(), axis=0).tolist()
        assert xp.moveaxis(x, source=0, destination=1).shape == (3, 2)
        assert xp.take(indices=[1], a=x, axis=1).tolist() == [[1], [4]]
        assert xp.linspace(start=0, stop=2, num=3).tolist() == [0, 1, 2]
        assert xp.isin(x[0], test_elements=[2]).tolist() == [False, False, True]
        with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
            xp.sum(x, a=x)


METHODS = [
    name
    for name in dir(type(strict.asarray(0)))
    if inspect.isfunction(getattr(type(strict.asarray(0)), name))
    and (not name.startswith("_") or name.startswith("__"))
    and name not in ("__init__", "__new__", "__buffer__", "__array__", "__setstate__", "__getstate__")
]


@pytest.mark.parametrize("name", METHODS)
def test_method_of_arrays(name: str) -> None:
    # Python's own slots take no array by name, and a modulus of powers
    own, expected = (
        [parameter for parameter in parameters(getattr(kind, name)).values() if parameter.name not in ("self", "mod")]
        for kind in (xp.GpuArray, type(strict.asarray(0)))
    )
    assert len(own) == len(expected)
    for given, parameter in zip(own, expected, strict=True):
        if parameter.name == "stream":  # the standard's is keyword-only, array_api_strict's is not
            assert given.kind == Parameter.KEYWORD_ONLY
        else:
            kinds = (parameter.kind, Parameter.POSITIONAL_OR_KEYWORD)
            assert given.kind in kinds or (name.startswith("__") and given.kind == Parameter.POSITIONAL_ONLY)
        assert given.name == parameter.name or parameter.kind != Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("name", ["T", "mT", "device", "dtype", "ndim", "shape", "size"])
def test_attribute_of_arrays(name: str, device: Any) -> None:
    assert getattr(xp.zeros((2, 3)), name) is not None


def test_the_version_is_known() -> None:
    assert xp.__array_api_version__ == "2025.12"
    assert xp.zeros(1).__array_namespace__(api_version="2025.12") is xp
    with pytest.raises(ValueError, match=r"use one of .*2025\.12"):
        xp.zeros(1).__array_namespace__(api_version="2199.12")


def test_capabilities() -> None:
    capabilities = xp.__array_namespace_info__().capabilities()
    assert capabilities == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}


def test_dtypes_are_those_that_the_device_computes_with(device: Any, limited: Any) -> None:
    info = xp.__array_namespace_info__()
    assert device in info.devices() or device == "cpuf32"
    for kinds in (None, "numeric", ("bool", "real floating")):
        for name, dtype in info.dtypes(device=device, kind=kinds).items():
            assert dtype.name == name
            assert xp.zeros(1, dtype=dtype, device=device).dtype == dtype
    assert ("float64" in info.dtypes(device=device)) == computes(device, "float64")
    assert computes("cpu", "float64")
    assert not computes(limited, "float64")
    assert "float16" not in info.dtypes(device=device)
    with pytest.raises(ValueError, match="use one of 'bool'"):
        info.dtypes(kind="quaternion")


def test_default_dtypes_are_those_that_creation_gives(device: Any) -> None:
    for settings in ({}, {"default_float": "float32"}):
        with xp.using(**settings):
            defaults = xp.__array_namespace_info__().default_dtypes(device=device)
            assert defaults["real floating"] == xp.asarray(0.5).dtype == xp.zeros(1).dtype
            assert defaults["complex floating"] == xp.asarray(1j).dtype
            assert defaults["integral"] == xp.asarray(1).dtype
            assert defaults["indexing"] == xp.argmax(xp.zeros(2)).dtype


@pytest.mark.parametrize("dtype", [xp.float16, xp.float32, xp.float64, xp.complex64])
def test_limits_are_python_numbers(dtype: Any) -> None:
    limits, expected = xp.finfo(dtype), np.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal", "tiny"):
        assert type(getattr(limits, name)) is float
        assert getattr(limits, name) == getattr(expected, name)
    assert (limits.bits, limits.dtype, limits.nmant) == (expected.bits, expected.dtype, expected.nmant)
    assert (xp.ones(1, dtype=xp.float32) * limits.eps).dtype == xp.float32


def test_to_device_takes_no_stream(device: Any) -> None:
    assert xp.zeros(2).to_device(device, stream=None).device == device
    with pytest.raises(ValueError, match="stream"):
        xp.zeros(2).to_device(device, stream=1)
