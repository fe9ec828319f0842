"""Every overridable NumPy function has a declared status."""

import numpy as np
import numpy.char
import numpy.fft
import numpy.lib.recfunctions
import numpy.lib.scimath
import numpy.lib.stride_tricks
import numpy.linalg
import numpy.polynomial
import numpy.strings
import pytest
from numpy.testing.overrides import get_overridable_numpy_array_functions, get_overridable_numpy_ufuncs

import gpuarray
from gpuarray.functions import registry

KINDS = set(registry.KINDS)


def _overridable():
    functions = get_overridable_numpy_array_functions()
    names = {registry.name_of(f) for f in functions if f.__module__.partition(".")[0] == "numpy"}
    return {name for name in names if name.partition(".")[0] not in ("testing", *registry.TEXT_MODULES)}


def _ufuncs():
    return {name for name in registry.IMPLEMENTATIONS if isinstance(registry.find(name), np.ufunc)}


def test_every_overridable_function_has_a_status():
    missing = sorted(_overridable() - registry.IMPLEMENTATIONS.keys())
    assert not missing, f"NumPy {np.__version__} lets arrays override functions without a status: {missing}"


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="older NumPy lacks some of the functions")
def test_every_status_belongs_to_a_function_of_numpy():
    others = {"in1d", "row_stack", "trapz", "polynomial.polynomial.polyvalnd"}  # of older NumPy, and of 2.5
    unknown = sorted(registry.IMPLEMENTATIONS.keys() - _overridable() - _ufuncs() - others)
    assert not unknown


def test_text_is_refused():
    assert registry.implementation_of(np.strings.upper).kind == registry.REFUSED
    with pytest.raises(TypeError, match="text is not a supported dtype"):
        np.strings.upper(gpuarray.asarray([1, 2]))


def test_no_function_has_two_implementations():
    with pytest.raises(ValueError, match=r"numpy\.sum has two implementations"):
        registry.native("sum")(len)


def test_statuses_are_of_known_kinds_and_have_reasons():
    for name, (kind, reason, _) in registry.table().items():
        assert kind in KINDS, name
        assert reason or kind in (registry.NATIVE, registry.COMPOSED), name


def test_functions_are_found_by_name_and_as_they_are():
    for name, implementation in registry.IMPLEMENTATIONS.items():
        if (function := registry.find(name)) is not None:
            result = registry.implementation_of(function)
            assert result[:2] == implementation[:2]
            assert result.function is getattr(implementation.function, "unchecked", implementation.function)


def test_every_ufunc_that_can_be_overridden_is_served_or_refused():
    host = {u.__name__ for u in get_overridable_numpy_ufuncs() if registry.implementation_of(u).kind == registry.HOST}
    assert not host


def test_ufuncs_of_text_and_dates_are_refused():
    x = gpuarray.asarray([1.0, 2.0])
    refused = [u for u in get_overridable_numpy_ufuncs() if registry.implementation_of(u).kind == registry.REFUSED]
    assert np.isnat in refused
    for ufunc in refused:
        with pytest.raises(TypeError):
            ufunc(*[x] * ufunc.nin)


def test_the_functions_of_this_numpy_have_a_status_each():
    functions = {name for name in _overridable() if registry.find(name) is not None}
    ufuncs = {name for name, value in vars(np).items() if isinstance(value, np.ufunc)}
    assert registry.current().keys() - {"row_stack"} == functions | ufuncs  # it is another name of vstack
