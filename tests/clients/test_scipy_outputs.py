"""Arrays that ``scipy.ndimage`` is given to write to: they get what NumPy's arrays get, on their device."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage
from support import assert_same, values

import gpuarray as xp
from gpuarray.interop.scipy import OUTPUTS

ROOT = Path(__file__).parents[2]
HOST = values((7, 9), np.float32)
MARKS = np.where(HOST.max() - 0.2 < HOST, 1, 0).astype(np.int16)

#: What each function takes beside the array and what it writes to.
ARGUMENTS = {
    "affine_transform": (np.array([[0.5, 0], [0, 2]]),),
    "convolve": (np.ones((3, 2)),),
    "convolve1d": (np.array([1, 2, 1]),),
    "correlate": (np.ones((3, 2)),),
    "correlate1d": (np.array([1, 2, 1]),),
    "gaussian_filter": (1.5,),
    "gaussian_filter1d": (1.5,),
    "gaussian_gradient_magnitude": (1.5,),
    "gaussian_laplace": (1.5,),
    "generic_filter": (np.max, 3),
    "generic_filter1d": (lambda line, out: np.copyto(out, line[1:-1]), 3),
    "generic_gradient_magnitude": (ndimage.sobel,),
    "generic_laplace": (lambda x, axis, output, mode, cval: ndimage.correlate1d(x, [1, -2, 1], axis, output, mode),),
    "geometric_transform": (lambda place: (place[1] % 7, place[0]),),
    "map_coordinates": (np.stack(np.indices((7, 9))) / 2,),
    "maximum_filter1d": (3,),
    "minimum_filter1d": (3,),
    "percentile_filter": (20, 3),
    "rank_filter": (2, 3),
    "rotate": (20, (1, 0), False),
    "shift": (1.5,),
    "uniform_filter1d": (3,),
    "watershed_ift": (MARKS,),
    "zoom": (1,),
    **dict.fromkeys(("fourier_ellipsoid", "fourier_gaussian", "fourier_shift", "fourier_uniform"), (2.5,)),
    **dict.fromkeys(("grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "black_tophat"), (3,)),
    **dict.fromkeys(("morphological_gradient", "morphological_laplace", "white_tophat"), (3,)),
    **dict.fromkeys(("maximum_filter", "median_filter", "minimum_filter"), (3,)),
}
ONE_OUTPUT = [
    name
    for name in sorted(ndimage.__all__)
    if "output" in inspect.signature(getattr(ndimage, name)).parameters and name not in ("label", "vectorized_filter")
]


def prepared(name):
    """What a function takes first, and the dtype of what it writes."""
    if name.startswith("binary"):
        return HOST > 0.2, np.bool_
    if name == "watershed_ift":
        return (100 * np.abs(HOST)).astype(np.uint8), np.int16
    return HOST, np.complex128 if name.startswith("fourier") else np.float64


@pytest.mark.parametrize("name", ONE_OUTPUT)
def test_functions_write_to_the_array_that_they_are_given(name, device):
    function = getattr(ndimage, name)
    host, dtype = prepared(name)
    arguments = ARGUMENTS.get(name, ())
    expected = np.zeros(host.shape, dtype)
    function(host, *arguments, output=expected)
    table = xp.zeros((7, 18), dtype=dtype)
    view = table[:, ::2]
    # SciPy wants all arrays in one namespace
    given = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    returned = function(xp.asarray(host), *given, output=view)
    assert returned is None or returned is view
    assert view.device == device
    assert_same(view, expected)
    assert_same(table[:, 1::2], np.zeros((7, 9), dtype))


def test_labels_and_distances_are_written(device):
    blobs = HOST > 0.2
    labels, count = ndimage.label(blobs)
    found = xp.zeros((7, 9), dtype=np.int32)
    assert ndimage.label(xp.asarray(blobs), output=found) == count
    assert_same(found, labels)
    for transform in (ndimage.distance_transform_edt, ndimage.distance_transform_cdt, ndimage.distance_transform_bf):
        dtype = transform(blobs).dtype
        expected = np.zeros((7, 9), dtype), np.indices((7, 9), np.int32)  # from where two of them go on
        distances, indices = (xp.asarray(e) for e in expected)
        transform(blobs, return_indices=True, distances=expected[0], indices=expected[1])
        assert transform(xp.asarray(blobs), return_indices=True, distances=distances, indices=indices) is None
        assert_same(distances, expected[0])
        assert_same(indices, expected[1])


def test_an_array_is_its_own_output(device):
    x = xp.asarray(HOST)
    double = 2 * x  # recorded before, of the old value
    assert ndimage.gaussian_filter(x, 1, output=x) is x
    assert_same(x, ndimage.gaussian_filter(HOST, 1))
    assert_same(double, 2 * HOST)


def test_what_is_written_to_is_read_as_a_transfer(device):
    x, y = xp.asarray(HOST), xp.zeros((7, 9), dtype=np.float32)
    y.settled()
    ndimage.sobel(x, output=y)
    assert xp.stats()["transfers"] == (0 if device == "cpu" else 2)


def test_read_only_outputs_are_refused(device):
    with pytest.raises(ValueError, match="read-only"):
        ndimage.sobel(xp.asarray(HOST), output=xp.broadcast_to(xp.zeros((7, 1)), (7, 9)))


def test_every_output_has_a_name_that_is_looked_for():
    names = {p for n in ndimage.__all__ for p in inspect.signature(getattr(ndimage, n)).parameters}
    assert {n for n in names if "out" in n} == {"output", "output_shape", "out_dtype"}
    assert {*OUTPUTS} <= names


@pytest.mark.parametrize("switch", ["1", None])
@pytest.mark.parametrize("first", ["gpuarray as xp", "scipy.ndimage"])
def test_in_whichever_order_they_are_imported(switch, first):
    code = f"""
import {first}
import gpuarray as xp
from scipy import ndimage
x, y = xp.ones((3, 3)), xp.zeros((3, 3))
assert ndimage.uniform_filter(x, 3, output=y) is y
assert (y == 1).all()
"""
    environment = {name: value for name, value in os.environ.items() if name != "SCIPY_ARRAY_API"}
    if switch:
        environment["SCIPY_ARRAY_API"] = switch
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    subprocess.run(command, cwd=ROOT, env=environment, timeout=120, check=True)


def test_a_function_that_was_taken_before_says_so():
    code = """
from scipy.ndimage import uniform_filter
import gpuarray as xp
try:
    uniform_filter(xp.ones(3), 3, output=xp.zeros(3))
except TypeError as error:
    assert "import gpuarray before" in str(error)
else:
    raise SystemExit("nothing was said")
"""
    environment = {name: value for name, value in os.environ.items() if name != "SCIPY_ARRAY_API"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, timeout=120, check=True)
