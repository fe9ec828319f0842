"""A pytest plugin for SciPy's own tests: their fixture ``xp`` is one namespace, ``gpuarray`` unless told otherwise.

It stands for SciPy's conftest, which knows only the namespaces that it lists, so the tests run with ``--noconftest``.
"""

import importlib
import os
from collections.abc import Iterator
from contextlib import nullcontext
from types import ModuleType

import pytest
import scipy.conftest as theirs
from scipy.conftest import (  # pytest looks here for hooks and fixtures
    check_fpu_mode,
    pytest_configure,
    pytest_runtest_setup,
)

NAME = os.environ["CLIENT_NAMESPACE"]
NAMESPACE = importlib.import_module(NAME)
theirs.xp_known_backends.add(NAME)

__all__ = ["check_fpu_mode", "devices", "num_parallel_threads", "pytest_configure", "pytest_runtest_setup", "xp"]


@pytest.fixture(params=[pytest.param(NAMESPACE, id=NAME, marks=pytest.mark.array_api_backends)])
def xp(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The namespace under test, skipped or expected to fail where SciPy marks it so."""
    theirs.skip_or_xfail_xp_backends(request, "skip")
    theirs.skip_or_xfail_xp_backends(request, "xfail")
    namespace = theirs.array_namespace(request.param.empty(0))
    with theirs.patch_lazy_xp_functions(request=request, xp=request.param), theirs.default_xp(namespace):
        yield namespace


@pytest.fixture
def devices(xp: ModuleType) -> Iterator[list[object]]:
    """All devices of the namespace, and None; the default one is not one of those under test but gpuarray's own."""
    with xp.using(device="auto") if NAME == "gpuarray" else nullcontext():
        yield [*xp.__array_namespace_info__().devices(), None]


@pytest.fixture
def num_parallel_threads() -> int:
    """How many threads a test runs in."""
    return 1
