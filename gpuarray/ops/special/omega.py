"""Wright's omega function of real numbers, the solution w of ``w + log(w) = x`` (DLMF 4.13).

The estimate and the steps of fourth order are those of Lawrence, Corless and Jeffrey (Algorithm 917, ACM Transactions
on Mathematical Software 38, 2012). The last step is Newton's, with a residual in double words.
"""

from typing import Final

from gpuarray.ops.special.bessel import grown
from gpuarray.ops.special.double_word import log_words
from gpuarray.ops.vocabulary import *

#: Below this the function is exp(x), and beyond this x.
LOW: Final = constant(-18.0, -38.0)
VAST: Final = constant(1e10, 1e20)
STEPS: Final = constant(1, 2)
TWO_THIRDS: Final = 0.6666666666666666


@formula
def wrightomega(x: Real) -> Real:
    """Wright's omega function, the positive w with w + log(w) = x."""
    if isnan(x) or x > VAST:
        return x
    if x < LOW:
        return grown(x, 1.0, 0.0)
    w = x
    if x < 1.0:
        w = exp(x if x < -2.0 else TWO_THIRDS * (x - 1.0))
    else:
        w = x - log(x)
    for _k in range(STEPS):
        r = (x - w) - log(w)
        s = 1.0 + w
        t = 2.0 * s * (s + TWO_THIRDS * r)
        w = w + w * ((r / s) * ((t - r) / (t - 2.0 * r)))
    high, low = log_words(w)
    a, a_low = two_sum(x, -w)
    b, b_low = two_sum(a, -high)
    rest = b + (b_low + (a_low - low))
    return add(w, w * (rest / (1.0 + w)))
