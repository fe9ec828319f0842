"""The calls of ``bench.functions``: every function of the namespace that computes with arrays, as text.

A call is written as in a program, without the namespace. Its operands are those of :func:`operands`. A call whose
function returns None changes its first argument.
"""

from math import isqrt
from typing import Any, Final

import numpy as np

UNARY: Final = """
abs absolute acos arccos arcsin arctan arctanh asin atan atanh cbrt ceil cos cosh deg2rad degrees exp exp2 expm1 fabs
floor log log10 log1p log2 negative positive rad2deg radians reciprocal rint sign signbit sin sinh spacing sqrt square
tan tanh trunc isfinite isinf isnan logical_not asinh arcsinh frexp modf all amax amin angle any around atleast_1d
atleast_2d atleast_3d average copy count_nonzero cumprod cumsum cumulative_prod cumulative_sum diff ediff1d fix
flatnonzero flip gradient histogram histogram_bin_edges i0 iscomplex isneginf isposinf isreal max mean median min
nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar
nonzero ones_like prod ptp ravel real imag real_if_close round sinc sort sort_complex squeeze std sum trapezoid
trim_zeros unique unique_all unique_counts unique_inverse unique_values unwrap var zeros_like argmax argmin argsort
argwhere empty_like asarray_chkfinite
"""
BINARY: Final = """
add arctan2 atan2 copysign divide equal float_power floor_divide fmax fmin fmod greater greater_equal heaviside hypot
less less_equal logaddexp logaddexp2 maximum minimum mod multiply nextafter not_equal pow power remainder subtract
true_divide divmod logical_and logical_or logical_xor allclose array_equal array_equiv isclose append cov corrcoef dot
inner vdot vecdot intersect1d setdiff1d setxor1d union1d
"""
INTEGERS: Final = """
bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor gcd lcm left_shift right_shift
"""
MATRIX: Final = """
fliplr flipud matrix_transpose permute_dims rot90 transpose tril triu trace linalg.trace diagonal linalg.diagonal
tril_indices_from triu_indices_from diag_indices_from linalg.matrix_transpose linalg.det linalg.inv linalg.pinv
linalg.eig linalg.eigvals linalg.cond linalg.qr linalg.slogdet linalg.svd linalg.svdvals linalg.matrix_norm
linalg.matrix_rank linalg.norm fft.fft2 fft.fftn fft.ifft2 fft.ifftn fft.rfft2 fft.rfftn unstack
"""
TRANSFORMS: Final = """
fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fftshift fft.ifftshift
"""
SAMPLES: Final = """
random.rand(n) random.randn(n) random.random(n) random.random_sample(n) random.ranf(n) random.sample(n)
random.randint(0,99,n) random.random_integers(0,99,n) random.bytes(n) random.beta(2,3,n) random.binomial(9,.3,n)
random.chisquare(3,n) random.choice(n,n) random.dirichlet([1,2,3],n//3) random.exponential(1,n) random.f(3,9,n)
random.gamma(2,1,n) random.geometric(.3,n) random.gumbel(0,1,n) random.hypergeometric(9,9,9,n) random.laplace(0,1,n)
random.logistic(0,1,n) random.lognormal(0,1,n) random.logseries(.5,n) random.multinomial(9,[.2,.3,.5],n//3)
random.multivariate_normal([0,0],[[1,0],[0,1]],n//2) random.negative_binomial(5,.5,n)
random.noncentral_chisquare(3,1,n) random.noncentral_f(3,9,1,n) random.normal(0,1,n) random.pareto(3,n)
random.permutation(n) random.poisson(4,n) random.power(3,n) random.rayleigh(1,n) random.standard_cauchy(n)
random.standard_exponential(n) random.standard_gamma(2,n) random.standard_normal(n) random.standard_t(5,n)
random.triangular(0,1,2,n) random.uniform(0,1,n) random.vonmises(0,1,n) random.wald(1,1,n) random.weibull(2,n)
random.zipf(3,n)
"""

OTHERS: Final = """
acosh(y + 1)
arccosh(y + 1)
conj(c)
conjugate(c)
real(c)
imag(c)
invert(k)
bitwise_invert(k)
bitwise_not(k)
bitwise_count(k)
ldexp(x, k)
matmul(A, A)
matvec(A, a)
vecmat(a, A)
bincount(k)
bincount(k, weights=x)
digitize(x, q)
histogram(x, bins)
histogram2d(x, y, 20)
histogramdd([x, y], 20)
packbits(m)
unpackbits(u)
array(x)
asfortranarray(A)
empty(n)
full(n, 3.0)
full_like(x, 3.0)
ones(n)
zeros(n)
astype(x, 'float32')
astype(x, 'int16')
broadcast_arrays(A, a)
broadcast_to(a, A.shape)
diff(x, 2)
piecewise(x, [m], [1.0, 2.0])
polyfit(x, y, 2)
choose(k % 2, [x, y])
compress(m, x)
copyto(z, x)
diagflat(a)
extract(m, x)
fill_diagonal(Z, 1.0)
place(z, m, x)
put(z, p, x)
put_along_axis(z, p, x, 0)
putmask(z, m, x)
add.at(z, p, x)
add.reduceat(x, starts)
add.accumulate(x)
maximum.accumulate(x)
add.reduce(A, 0)
take(x, p)
take(T, rows, 0)
take_along_axis(x, p, 0)
array_split(x, 7)
split(x, 2)
block([[A, A], [A, A]])
column_stack([x, y])
concat([x, y])
concatenate([x, y])
dstack([x, y])
hstack([x, y])
row_stack([x, y])
stack([x, y])
vstack([x, y])
dsplit(A[:, :, None][:, :, [0, 0]], 2)
hsplit(A[:, :30], 2)
vsplit(A[:30], 2)
select([m, x > y], [x, y], 0.0)
where(m, x, y)
where(m)
expand_dims(x, 0)
moveaxis(A, 0, 1)
reshape(x, (-1, 4))
rollaxis(A, 1)
swapaxes(A, 0, 1)
clip(x, 0.3, 0.6)
diag(a)
diag(A)
eye(a.size)
identity(a.size)
tri(a.size)
vander(x, 4)
outer(a, a)
linalg.outer(a, a)
tensordot(A, A, 1)
linalg.tensordot(A, A, axes=1)
linalg.matmul(A, A)
linalg.vecdot(x, y)
linalg.vector_norm(x)
nanpercentile(x, [25, 75])
nanquantile(x, 0.3)
percentile(x, [25, 75])
quantile(x, 0.3)
pad(x, 3)
pad(A, 1, 'edge')
pad(A, 2, 'reflect')
poly(a[:9])
polyadd(x, y)
polyder(x)
polydiv(a[:100], a[:5])
polyint(x)
polymul(x, x[:9])
polysub(x, y)
polyval(a[:5], x)
roots(a[:9])
diag_indices(a.size)
indices(A.shape)
ix_(p, p)
mask_indices(a.size, triu)
ravel_multi_index((p, p), (n, n))
tril_indices(a.size)
triu_indices(a.size)
unravel_index(p, (10, n // 10))
fromfunction(add, A.shape)
cross(x[:n // 3 * 3].reshape(-1, 3), y[:n // 3 * 3].reshape(-1, 3))
linalg.cross(x[:n // 3 * 3].reshape(-1, 3), y[:n // 3 * 3].reshape(-1, 3))
kron(a, a)
arange(n)
geomspace(1.0, 9.0, n)
linspace(0.0, 1.0, n)
logspace(0.0, 1.0, n)
meshgrid(a, a)
searchsorted(q, x)
isin(k, [1, 2, 3])
isin(p, p[:n // 2])
convolve(x, a[:20])
convolve(x[:1000], y[:1000])
correlate(x, a[:20])
correlate(x[:1000], y[:1000], 'full')
interp(x, q[::n // 100], y[::n // 100])
argpartition(x, 10)
partition(x, 10)
lexsort((x, k))
unique(u)
unique(k)
unique(x, return_inverse=True)
einsum('ij,jk->ik', A, A)
einsum('i,i->', x, y)
delete(x, 5)
delete(x, p[:n // 2])
insert(x, 5, 1.0)
insert(x, p[:n // 2], 1.0)
repeat(x, 3)
resize(x, 2 * n)
roll(x, 3)
tile(x, 3)
bartlett(n)
blackman(n)
hamming(n)
hanning(n)
kaiser(n, 3.0)
apply_over_axes(sum, A, 0)
fft.fftfreq(n)
fft.rfftfreq(n)
fft.irfft2(C)
fft.irfftn(C)
linalg.cholesky(S)
linalg.eigh(S)
linalg.eigvalsh(S)
linalg.lstsq(A, a)
linalg.solve(S, a)
linalg.matrix_power(A, 3)
linalg.multi_dot([A, A, a])
linalg.tensorinv(S, 1)
linalg.tensorsolve(S, a)
random.multinomial(n, [.2, .3, .5])
random.shuffle(z)
lib.stride_tricks.sliding_window_view(x, 20).max(-1)
lib.stride_tricks.as_strided(x, (n // 2,), (16,))
sum(A, 0)
sum(A, 1)
max(A, 0)
argmax(A, 1)
std(A, 0)
median(A, 0)
cumsum(A, 1)
sort(A, 0)
sort(k)
argsort(k)
T[rows]
x[m]
x[p]
x[::2]
z.__setitem__(m, 1.0)
z.__setitem__(p, x)
"""

#: What has no array to compute with, reads or writes files, answers a question about arrays, or calls Python functions.
UNTIMED: Final = """
apply_along_axis array2string array_repr array_str asanyarray asarray ascontiguousarray base_repr binary_repr
broadcast_shapes busday_count busday_offset can_cast common_type datetime_as_string datetime_data einsum_path
format_float_positional format_float_scientific from_dlpack frombuffer fromfile fromiter frompyfunc fromregex
fromstring genfromtxt get_printoptions getbufsize geterr geterrcall is_busday iscomplexobj isdtype isfortran isnat
isrealobj isscalar issubdtype iterable load loadtxt may_share_memory min_scalar_type mintypecode ndim printoptions
promote_types random.default_rng random.get_state random.seed random.set_state require result_type save savetxt savez
savez_compressed set_printoptions setbufsize seterr seterrcall shape shares_memory size typename
"""


def calls() -> list[str]:
    """Return every call."""
    result = [f"{name}(x)" for name in UNARY.split()]
    result += [f"{name}(x, y)" for name in BINARY.split()]
    result += [f"{name}(k, j)" for name in INTEGERS.split()]
    result += [f"{name}(A)" for name in MATRIX.split()]
    result += [f"{name}(x)" for name in TRANSFORMS.split()]
    return result + SAMPLES.split() + OTHERS.strip().splitlines()


def operands(size: int) -> dict[str, Any]:
    """Return the operands of calls for arrays of ``size`` elements, by name.

    Names in small letters are vectors of ``size`` elements, except for ``a``, which is as long as a row of a matrix,
    ``starts``, every fiftieth position, ``bins``, fifty edges, and ``rows``, positions in the hundred rows of ``T``.
    Names in capital letters are matrices of nearly ``size`` elements. ``p`` are positions, ``m`` is a mask, ``q`` is
    sorted, and ``z`` and ``Z`` are changed.
    """
    random, side = np.random.default_rng(0), isqrt(size)
    x, y = random.random(size), random.random(size)
    a, matrix = random.random(side), random.random((side, side))
    positive = matrix + matrix.T
    np.fill_diagonal(positive, 2.0 * side)
    table = random.random((100, 256)).astype(np.float32)
    return {
        **{
            "n": size,
            "x": x,
            "y": y,
            "z": x.copy(),
            "q": np.sort(y),
            "c": x + 1j * y,
            "m": x < 0.5,
            "a": a,
            "A": matrix,
        },
        **{
            "Z": matrix.copy(),
            "C": matrix + 1j,
            "S": positive,
            "T": table,
            "rows": random.integers(0, 100, size // 256 or 1),
        },
        **{"k": random.integers(0, 40, size), "j": random.integers(0, 40, size), "p": random.permutation(size)},
        **{"u": random.integers(0, 256, size).astype(np.uint8), "starts": np.arange(0, size, 50)},
        "bins": np.linspace(0.0, 1.0, 51),
    }
