"""C types that are made without cffi's parser are those that it makes; recorded declarations are those it parses."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cffi
import pytest
from cffi import recompiler

from gpuarray.providers.wgpu import declared

pytest.importorskip("wgpu.backends.wgpu_native")

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


@pytest.fixture(scope="module")
def parsed() -> Any:
    """What wgpu-py makes of its header."""
    from wgpu.backends.wgpu_native import _ffi

    made = cffi.FFI()
    made.cdef(_ffi.get_wgpu_header())
    made.set_source("wgpu.h", None)
    return made


@pytest.fixture
def ffi(parsed: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    from wgpu.backends import wgpu_native

    monkeypatch.setattr(wgpu_native, "ffi", parsed)
    declared.know_types()
    return parsed


@pytest.mark.parametrize("text", TEXTS)
def test_types_are_those_that_cffi_parses(text: str, ffi: Any) -> None:
    ffi._parsed_types.pop(text, None)
    with ffi._lock:
        parsed = ffi._get_cached_btype(ffi._parser.parse_type(text))
    assert ffi.typeof(text) is parsed
    assert text in ffi._parsed_types


@pytest.mark.parametrize("text", ["WGPUNothing *", "int["])
def test_other_texts_are_left_to_cffi(text: str, ffi: Any) -> None:
    with pytest.raises((cffi.CDefError, cffi.FFIError)):
        ffi.typeof(text)


def test_types_are_known_once(ffi: Any) -> None:
    known = ffi._parsed_types
    assert isinstance(known, declared._Types)
    declared.know_types()
    assert ffi._parsed_types is known


def test_recorded_declarations_are_those_that_cffi_parses(parsed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(declared.records, "write", lambda kind, subject, values: kept.update(values))
    declared._record(parsed, "")
    made = declared._made(json.loads(json.dumps(kept)))
    for names, others in zip(parsed.list_types(), made.list_types(), strict=True):
        assert sorted(names) == sorted(others)
    structures = [name for name in parsed.list_types()[0] if parsed.typeof(name).kind == "struct"]
    assert len(structures) > 50
    for name in structures:
        mine, theirs = (
            [(field, x.offset, x.type.kind, x.type.cname.split()[-1]) for field, x in ffi.typeof(name).fields]
            for ffi in (made, parsed)
        )
        assert mine == theirs


def test_a_damaged_record_is_not_believed(parsed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(declared.records, "write", lambda kind, subject, values: kept.update(values))
    declared._record(parsed, "")
    kept["tables"]["_types"] = kept["tables"]["_types"][:-4]
    assert declared._made(kept) is None
    assert declared._made({}) is None


@pytest.mark.parametrize("error", [cffi.FFIError, cffi.VerificationError, NotImplementedError, AttributeError, OSError])
def test_what_cffi_cannot_write_is_not_recorded(
    error: type[Exception], parsed: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any) -> None:
        raise error("no")

    monkeypatch.setattr(recompiler, "make_py_source", refuse)
    monkeypatch.setattr(declared.records, "write", lambda *_: pytest.fail("recorded"))
    with caplog.at_level("DEBUG"):
        declared._record(parsed, "")
    assert "not recorded: no" in caplog.text


PROGRAM = """
import numpy as np, gpuarray as xp
x = xp.asarray(np.arange(5.0, dtype=np.float32), device="wgpu")
assert np.asarray(x * 2 + 1).tolist() == [1, 3, 5, 7, 9]
from wgpu.backends import wgpu_native
print(type(wgpu_native.ffi).__name__)
"""


def _run(environment: Mapping[str, str]) -> str:
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return run.stdout.split()[-1]


def test_a_second_process_parses_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "GPUARRAY_CACHE_DIR": str(tmp_path)}
    assert _run(environment) == "FFI"
    assert _run(environment) == "Declared"
