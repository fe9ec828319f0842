"""Functions whose result at one element depends on all decisions before it, so that the host computes them."""

from scipy import ndimage

from gpuarray.scipy._mirror import hosted

__all__ = ["watershed_ift"]

watershed_ift = hosted(ndimage.watershed_ift, "each step of the flooding depends on the steps before it")
