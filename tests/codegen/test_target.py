"""What differs between the compilers of WGSL."""

from dataclasses import replace

import pytest

from gpuarray.codegen.target import compute_type, directives, for_target, has_wide_integers
from gpuarray.codegen.wgsl import Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import int64

NAGA = Capabilities(adapter="any", subgroup_size=32)
TINT = replace(NAGA, compiler="tint")


def kernel_for(capabilities: Capabilities, statement: str) -> list[str]:
    with for_target(capabilities):
        kernel = Kernel("test")
        kernel.line(statement)
        return kernel.launch(1, 1).source.splitlines()


def test_tint_wants_subgroups_enabled() -> None:
    statement = "let total = subgroupAdd(local);"
    naga, tint = (kernel_for(device, statement) for device in (NAGA, TINT))
    assert "enable subgroups;" in tint
    assert [line for line in tint if not line.startswith(("enable", "diagnostic"))] == naga
    first = next(number for number, line in enumerate(tint) if not line.startswith("//"))
    assert tint[first].startswith("enable")


def test_kernels_without_subgroups_are_the_same_for_all_compilers() -> None:
    assert kernel_for(NAGA, "let i = local;") == kernel_for(TINT, "let i = local;")


def test_the_innermost_target_counts() -> None:
    with for_target(TINT):
        with for_target(replace(NAGA, native_int64=False)):
            assert compute_type(int64) == "i64p"
            assert directives("subgroupAdd") == ()
        assert has_wide_integers()
        assert directives("subgroupAdd")


def test_an_unknown_compiler_is_an_error() -> None:
    with for_target(replace(NAGA, compiler="another")), pytest.raises(KeyError):
        directives("subgroupAdd")
