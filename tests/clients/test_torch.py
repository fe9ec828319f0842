"""PyTorch and this package hand arrays to each other through DLPack, over host memory.

PyTorch is no part of the ``test`` extra, since its package for Linux brings gigabytes of CUDA: ``make torch-tests``
installs it and runs these.
"""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.testing import assert_same

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make torch-tests")

DEVICES = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)
NUMBERS = np.random.default_rng(0).random((4, 6)).astype(np.float32)
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@DEVICES
@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways(dtype, device):
    host = (NUMBERS * 7).astype(dtype)
    there = torch.from_dlpack(xp.asarray(host))
    assert isinstance(there, torch.Tensor)
    np.testing.assert_array_equal(there.numpy(), host, strict=True)
    assert_same(xp.from_dlpack(there), host)
    assert xp.from_dlpack(there).device == device


@DEVICES
@pytest.mark.parametrize(
    "view", [lambda a: a[1:, ::2], lambda a: a.T, lambda a: a[0, 0], lambda a: a[:0]], ids=["part", "T", "0d", "empty"]
)
def test_views(view, device):
    expected = view(NUMBERS)
    np.testing.assert_array_equal(torch.from_dlpack(view(xp.asarray(NUMBERS))).numpy(), expected)
    assert_same(xp.from_dlpack(view(torch.from_numpy(NUMBERS))), expected)


@DEVICES
def test_elements_are_read_once(device):
    x = xp.asarray(NUMBERS - 1) + 1
    torch.from_dlpack(x)
    assert xp.stats()["bytes_downloaded"] == x.nbytes


@DEVICES
def test_tensors_own_what_they_got(device):
    x = xp.asarray(NUMBERS)
    there = torch.from_dlpack(x)
    there.zero_()
    assert_same(x, NUMBERS)
    x[:] = 1
    assert not there.any()


@DEVICES
def test_asarray(device):
    assert_same(xp.asarray(torch.from_numpy(NUMBERS)), NUMBERS)
    np.testing.assert_array_equal(torch.as_tensor(xp.asarray(NUMBERS)).numpy(), NUMBERS)


@DEVICES
def test_gradient_through_both(device):
    """What a program does that has its model in PyTorch and its data here."""
    x = xp.asarray(NUMBERS)
    leaf = torch.from_dlpack(x).requires_grad_()
    (torch.tanh(leaf) ** 2).sum().backward()
    stepped = x - 0.1 * xp.from_dlpack(leaf.grad)
    tanh = np.tanh(NUMBERS)
    np.testing.assert_allclose(np.asarray(stepped), NUMBERS - 0.2 * tanh * (1 - tanh**2), rtol=1e-5)
    with pytest.raises((BufferError, RuntimeError), match="grad"):
        xp.from_dlpack(leaf)


@DEVICES
def test_arrays_do_not_mix_by_accident(device):
    with pytest.raises(TypeError):
        xp.asarray(NUMBERS) + torch.from_numpy(NUMBERS)


@DEVICES
def test_dtypes_that_are_not_ours(device):
    with pytest.raises(TypeError, match="bfloat16"):
        xp.from_dlpack(torch.ones(3, dtype=torch.bfloat16))


@DEVICES
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_tensors_of_another_gpu(device):
    there = torch.from_numpy(NUMBERS).cuda()
    assert_same(xp.from_dlpack(there.cpu()), NUMBERS)
    assert_same(xp.from_dlpack(there), NUMBERS)
