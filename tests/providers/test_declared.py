"""C types that are made without cffi's parser are those that it makes."""

import cffi
import pytest

from gpuarray.providers.wgpu import device
from gpuarray.providers.wgpu.declared import _Types, know_types

native = pytest.importorskip("wgpu.backends.wgpu_native")

TEXTS = (
    "WGPULimits *",
    "WGPUChainedStruct *  ",
    "WGPUFeatureName[]",
    "WGPUBindGroupEntry[3]",
    "WGPUAdapter[]",
    "WGPUSubmissionIndex *",
    "char[]",
    "char []",
    "uint32_t[1]",
)


@pytest.mark.parametrize("text", TEXTS)
def test_types_are_those_that_cffi_parses(text: str) -> None:
    ffi = native.ffi
    know_types()
    ffi._parsed_types.pop(text, None)
    with ffi._lock:
        parsed = ffi._get_cached_btype(ffi._parser.parse_type(text))
    assert ffi.typeof(text) is parsed
    assert text in ffi._parsed_types


@pytest.mark.parametrize("text", ["WGPUNothing *", "int["])
def test_other_texts_are_left_to_cffi(text: str) -> None:
    know_types()
    with pytest.raises((cffi.CDefError, cffi.FFIError)):
        native.ffi.typeof(text)


def test_listing_adapters_is_enough() -> None:
    device.enumerate_handles()
    known = native.ffi._parsed_types
    assert isinstance(known, _Types)
    know_types()
    assert native.ffi._parsed_types is known
