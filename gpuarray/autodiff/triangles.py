"""The transposes of LU factorisations, and of the solutions of triangular systems."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.autodiff.subgraph import Cotangents, Outputs, called
from gpuarray.functions.joining import concat
from gpuarray.functions.linalg_arguments import rows_in_order
from gpuarray.functions.matrices import tril, triu
from gpuarray.ops import factorisations


def triangular_system(outputs: Outputs, cts: dict[int, Any], operands: Sequence[Any]) -> Sequence[Any]:
    """Solve the transposed system for the cotangent, and take the triangle of its products with the solution."""
    triangle, _ = operands
    parameters = outputs.call.parameters
    solution = outputs.result(triangle)
    part = _solved(triangle, cts[0], **{**parameters, "transposed": not parameters["transposed"]})
    whole = -(solution @ part.mT) if parameters["transposed"] else -(part @ solution.mT)
    inside = int(parameters["unit"])
    return np.tril(whole, -inside) if parameters["lower"] else np.triu(whole, inside), part


def lu_factors(outputs: Outputs, cts: dict[int, GpuArray], operands: Sequence[GpuArray]) -> Cotangents:
    """Differentiate L and U, which lie in one array; the interchanges of rows are constant.

    What is below or right of the first square block of K rows and columns is a product of its part of the matrix with
    the inverse of a factor.
    """
    (x,) = operands
    if 0 not in cts:
        return (None,)
    ct = cts[0]
    *batch, m, n = x.shape
    k = min(m, n)
    kinds = [(x.shape, outputs.call.dtype), ((*batch, k), dtypes.int32)]
    packed, pivots = outputs.outputs((0, 1), kinds, x)
    square, low, right = packed[..., :k, :k], packed[..., k:, :], packed[..., :, k:]
    of_lower, of_upper = tril(ct[..., :k, :k], -1), triu(ct[..., :k, :k])
    blocks = []
    if m > k:  # L2 = A2 U^-1
        of_low = _solved(square, ct[..., k:, :].mT, lower=False, unit=False, transposed=False).mT
        of_upper = of_upper - triu(low.mT @ of_low)
        blocks = [of_low]
    if n > k:  # U2 = L^-1 A2
        of_right = _solved(square, ct[..., :, k:], lower=True, unit=True, transposed=True)
        of_lower = of_lower - tril(of_right @ right.mT, -1)
        blocks = [of_right]
    unit = tril(square, -1)
    inner = tril(of_lower + unit.mT @ of_lower, -1) + triu(of_upper @ triu(square).mT)
    inner = _solved(square, inner, lower=True, unit=True, transposed=True)
    result = _solved(square, inner.mT, lower=False, unit=False, transposed=False).mT
    if blocks:
        result = concat([result, *blocks], axis=-2 if m > k else -1)
    order = called(factorisations.row_order, [pivots], x.shape[:-1], dtypes.int32, rows=m, inverse=True)
    return (rows_in_order(result, order),)


def _solved(triangle: Any, right: Any, **parameters: bool) -> Any:
    return called(factorisations.solve_triangular, [triangle, right], right.shape, right.dtype, **parameters)
