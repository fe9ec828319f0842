"""The benchmark of single functions: that it has a call of every function, and how it compares times."""

import re

import numpy as np
import pytest
import scipy
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi
from bench import functions, image_calls, scipy_calls
from bench.calls import UNTIMED, calls, operands

NAMESPACES = {
    "": np,
    "linalg.": np.linalg,
    "fft.": np.fft,
    "random.": np.random,
    "lib.stride_tricks.": np.lib.stride_tricks,
}
NAMED = re.compile(r"^[a-z_][\w.]*?(?=\(|\.reduce|\.at\(|\.acc)")


def _public(prefix):
    """Yield the names of NumPy's functions that a namespace has."""
    namespace = xp
    for part in prefix.split(".")[:-1]:
        namespace = getattr(namespace, part)
    for name in namespace.__all__:
        result = getattr(NAMESPACES[prefix], name, None)
        if callable(result) and not isinstance(result, type):
            yield prefix + name


@pytest.mark.parametrize("prefix", NAMESPACES)
def test_every_function_has_a_call(prefix):
    named = {match.group() for text in calls() if (match := NAMED.match(text))}
    missing = sorted({*_public(prefix)} - named - {*UNTIMED.split()})
    assert not missing


def test_no_call_is_left_out_and_made():
    named = {match.group() for text in calls() if (match := NAMED.match(text))}
    assert not named & {*UNTIMED.split()}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("text", calls())
def test_call(text):
    size = 400
    theirs = operands(size)
    ours = {name: xp.asarray(v, device="cpu") if isinstance(v, np.ndarray) else v for name, v in theirs.items()}
    with np.errstate(all="ignore"), xp.using(device="cpu", direct_limit=1 << 14):
        functions.numpy_call(functions.evaluation(text, np, theirs), theirs)()
        functions.our_call(functions.evaluation(text, xp, ours), ours)()


@pytest.mark.parametrize("text", image_calls.calls())
def test_call_of_an_image(text):
    theirs = image_calls.operands(900)
    ours = {name: xp.asarray(v, device="cpu") if isinstance(v, np.ndarray) else v for name, v in theirs.items()}
    with xp.using(device="cpu"):
        functions.numpy_call(functions.evaluation(text, ndimage, theirs), theirs)()
        functions.our_call(functions.evaluation(text, ndi, ours), ours)()


@pytest.mark.filterwarnings("ignore")
def test_calls_of_scipys_functions():
    theirs = scipy_calls.operands(900)
    ours = {name: xp.asarray(v, device="cpu") if isinstance(v, np.ndarray) else v for name, v in theirs.items()}
    with xp.using(device="cpu"):
        for text in scipy_calls.calls():
            functions.numpy_call(functions.evaluation(text, scipy, theirs), theirs)()
            functions.our_call(functions.evaluation(text, xp.scipy, ours), ours)()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", ["numpy.linalg", "scipy.linalg"])
def test_calls_of_matrices(package):
    every, operands, _ = functions.PACKAGES[package]
    baseline = np.linalg if package == "numpy.linalg" else scipy.linalg
    tested = xp.linalg if package == "numpy.linalg" else xp.scipy.linalg
    theirs = operands(4)
    ours = {name: xp.asarray(v, device="cpu") if isinstance(v, np.ndarray) else v for name, v in theirs.items()}
    with xp.using(device="cpu"):
        for text in every():
            functions.numpy_call(functions.evaluation(text, baseline, theirs), theirs)()
            functions.our_call(functions.evaluation(text, tested, ours), ours)()
    named = {text.partition("(")[0] for text in every()}
    if baseline is np.linalg:
        assert {name for name in np.linalg.__all__ if name != "LinAlgError"} <= named


def test_every_function_of_images_has_a_call():
    named = {text.partition("(")[0] for text in image_calls.calls()}
    assert not {name for name in ndimage.__all__ if callable(getattr(ndimage, name))} - named


def test_times_of_small_sizes_foretell_larger_ones():
    assert functions.expected([]) == 0
    assert functions.expected([1.0, 100.0]) == 10_000
    assert functions.expected([2.0, 1.0]) == 1


def test_views_are_copied():
    x = np.arange(6.0)
    assert functions.numpy_call(lambda: x[::2], {"x": x})()[0].base is None
    assert functions.numpy_call(lambda: x + 1, {"x": x})() is not x


def test_what_is_changed_is_evaluated():
    z, matrix = xp.zeros(3, device="cpu"), xp.zeros((1, 1), device="cpu")
    functions.our_call(lambda: xp.put(z, [1], 2.0), {"z": z, "Z": matrix})()
    assert z.node().result is not None or z.node().size == 3
