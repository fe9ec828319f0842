"""The functions of the package, each in the module of its topic, with NumPy's signature and the standard's names.

A module's ``__all__`` has the names that it exports: to the package, or to one of its other public modules, such as
:mod:`gpuarray.linalg`.
"""

from typing import TYPE_CHECKING

from gpuarray.functions.binning import *
from gpuarray.functions.bits import *
from gpuarray.functions.correlation import *
from gpuarray.functions.creation import *
from gpuarray.functions.cumulative import *
from gpuarray.functions.data_types import *
from gpuarray.functions.differences import *
from gpuarray.functions.einstein_summation import *
from gpuarray.functions.elementwise import *
from gpuarray.functions.evaluation import *
from gpuarray.functions.functional import *
from gpuarray.functions.grids import *
from gpuarray.functions.indexing import *
from gpuarray.functions.joining import *
from gpuarray.functions.logic import *
from gpuarray.functions.manipulation import *
from gpuarray.functions.mathematics import *
from gpuarray.functions.matrices import *
from gpuarray.functions.namespace_info import *
from gpuarray.functions.nan_reductions import *
from gpuarray.functions.numpy_names import *
from gpuarray.functions.other_frameworks import *
from gpuarray.functions.padding import *
from gpuarray.functions.polynomials import *
from gpuarray.functions.positions import *
from gpuarray.functions.products import *
from gpuarray.functions.properties import *
from gpuarray.functions.quantiles import *
from gpuarray.functions.ranges import *
from gpuarray.functions.reductions import *
from gpuarray.functions.searching import *
from gpuarray.functions.sets import *
from gpuarray.functions.signals import *
from gpuarray.functions.sorting import *
from gpuarray.functions.statistics import *
from gpuarray.functions.text_and_files import *
from gpuarray.functions.tiling import *
from gpuarray.functions.windows import *

if not TYPE_CHECKING:  # checkers follow the stars above, but not lists that are computed
    topics = (
        binning, bits, correlation, creation, cumulative, data_types, differences, einstein_summation, elementwise,
        evaluation, functional, grids, indexing, joining, logic, manipulation, mathematics, matrices, namespace_info,
        nan_reductions, numpy_names, other_frameworks, padding, polynomials, positions, products, properties, quantiles,
        ranges, reductions, searching, sets, signals, sorting, statistics, text_and_files, tiling, windows,
    )  # fmt: skip
    __all__ = [name for topic in topics for name in topic.__all__]
