"""``output=`` of ``scipy.ndimage`` is unsupported: SciPy writes to a host copy of the array, and returns the result."""

import numpy as np
import pytest
from scipy import ndimage
from support import values

import gpuarray as xp
from gpuarray.testing import assert_same

HOST = values((7, 9), np.float32)
FILTERS = {
    "correlate": (np.ones((3, 2)),),
    "gaussian_filter": (1.5,),
    "maximum_filter": (3,),
    "shift": (1.5,),
    "sobel": (),
    "uniform_filter1d": (3,),
}


@pytest.mark.parametrize("name", FILTERS)
def test_results_are_returned_and_outputs_keep_their_values(name, device):
    function = getattr(ndimage, name)
    given = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in FILTERS[name]]
    output = xp.zeros((7, 9))
    result = function(xp.asarray(HOST), *given, output=output)
    assert isinstance(result, xp.GpuArray)
    assert result.device == device
    assert_same(result, function(HOST, *FILTERS[name], output=np.float64))
    assert_same(output, np.zeros((7, 9)))


def test_the_type_of_the_result_can_be_chosen(device):
    result = ndimage.sobel(xp.asarray(HOST), output=xp.float64)
    assert_same(result, ndimage.sobel(HOST, output=np.float64))


def test_the_copy_is_a_transfer(device):
    x, output = xp.asarray(HOST), xp.zeros((7, 9))
    output.settled()
    ndimage.sobel(x, output=output)
    assert xp.stats()["transfers"] == (0 if device == "cpu" else 2)
