"""Linear algebra: the ``linalg`` extension of the Array API standard, and the other functions of :mod:`numpy.linalg`.

All functions but :func:`eig` and :func:`eigvals` run where the array is: on GPUs by kernels in the precision of the
dtype, in-process by LAPACK. Factorisations run when they are called, as their errors depend on values. Those two run on
the host, and are counted as fallbacks.
"""

from numpy.linalg import LinAlgError

from gpuarray.functions import factorisations, linalg_products, linear_systems, norms, singular_values
from gpuarray.functions.factorisations import *
from gpuarray.functions.linalg_products import *
from gpuarray.functions.linear_systems import *
from gpuarray.functions.norms import *
from gpuarray.functions.products import matmul, matrix_transpose, tensordot, vecdot
from gpuarray.functions.singular_values import *

__all__ = ["LinAlgError", "matmul", "matrix_transpose", "tensordot", "vecdot"]
__all__ += factorisations.__all__
__all__ += linalg_products.__all__
__all__ += linear_systems.__all__
__all__ += norms.__all__
__all__ += singular_values.__all__
