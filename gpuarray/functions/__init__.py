"""The functions of the package, each in the module of its topic, with NumPy's signature and the standard's names.

A module's ``__all__`` has the names of the package; :mod:`gpuarray.linalg` and the other public modules choose others.
"""

from typing import TYPE_CHECKING

from gpuarray.functions import (
    binning,
    bits,
    constants,
    creation,
    data_types,
    differences,
    elementwise,
    evaluation,
    functional,
    grids,
    hosted,
    indexing,
    info,
    information,
    joining,
    logic,
    manipulation,
    mathematics,
    matrices,
    matrix_products,
    nan_reductions,
    numpy_classes,
    numpy_names,
    other_frameworks,
    padding,
    polynomials,
    positions,
    products,
    quantiles,
    ranges,
    reductions,
    searching,
    sets,
    signals,
    sorting,
    statistics,
    summation,
    tiling,
    windows,
)
from gpuarray.functions.binning import *
from gpuarray.functions.bits import *
from gpuarray.functions.constants import *
from gpuarray.functions.creation import *
from gpuarray.functions.data_types import *
from gpuarray.functions.differences import *
from gpuarray.functions.elementwise import *
from gpuarray.functions.evaluation import *
from gpuarray.functions.functional import *
from gpuarray.functions.grids import *
from gpuarray.functions.hosted import *
from gpuarray.functions.indexing import *
from gpuarray.functions.info import *
from gpuarray.functions.information import *
from gpuarray.functions.joining import *
from gpuarray.functions.logic import *
from gpuarray.functions.manipulation import *
from gpuarray.functions.mathematics import *
from gpuarray.functions.matrices import *
from gpuarray.functions.matrix_products import *
from gpuarray.functions.nan_reductions import *
from gpuarray.functions.numpy_classes import *
from gpuarray.functions.numpy_names import *
from gpuarray.functions.other_frameworks import *
from gpuarray.functions.padding import *
from gpuarray.functions.polynomials import *
from gpuarray.functions.positions import *
from gpuarray.functions.products import *
from gpuarray.functions.quantiles import *
from gpuarray.functions.ranges import *
from gpuarray.functions.reductions import *
from gpuarray.functions.searching import *
from gpuarray.functions.sets import *
from gpuarray.functions.signals import *
from gpuarray.functions.sorting import *
from gpuarray.functions.statistics import *
from gpuarray.functions.summation import *
from gpuarray.functions.tiling import *
from gpuarray.functions.windows import *

if not TYPE_CHECKING:  # checkers follow the stars above, but not stars in a list
    __all__ = [
        *binning.__all__,
        *bits.__all__,
        *constants.__all__,
        *creation.__all__,
        *data_types.__all__,
        *differences.__all__,
        *elementwise.__all__,
        *evaluation.__all__,
        *functional.__all__,
        *grids.__all__,
        *hosted.__all__,
        *indexing.__all__,
        *info.__all__,
        *information.__all__,
        *joining.__all__,
        *logic.__all__,
        *manipulation.__all__,
        *mathematics.__all__,
        *matrices.__all__,
        *matrix_products.__all__,
        *nan_reductions.__all__,
        *numpy_classes.__all__,
        *numpy_names.__all__,
        *other_frameworks.__all__,
        *padding.__all__,
        *polynomials.__all__,
        *positions.__all__,
        *products.__all__,
        *quantiles.__all__,
        *ranges.__all__,
        *reductions.__all__,
        *searching.__all__,
        *sets.__all__,
        *signals.__all__,
        *sorting.__all__,
        *statistics.__all__,
        *summation.__all__,
        *tiling.__all__,
        *windows.__all__,
    ]
