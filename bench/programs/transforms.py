"""Transforms, trees and pyramids: arrays that shrink and grow."""

from typing import Any

from bench.programs.base import Array, line, program, square


@program(line, 128, 1 << 17, 1 << 22)
def haar(np: Any, a: Array) -> Any:
    """Transform a signal to Haar wavelets."""
    parts = []
    while len(a) > 1:
        parts.append((a[::2] - a[1::2]) / 2**0.5)
        a = (a[::2] + a[1::2]) / 2**0.5
    return np.concatenate([a, *parts[::-1]])


@program(line, 128, 1 << 17, 1 << 22)
def haar_inverse(np: Any, a: Array) -> Any:
    """Transform Haar wavelets to a signal."""
    done = a[:1]
    while len(done) < len(a):
        detail = a[len(done) : 2 * len(done)]
        done = np.stack([done + detail, done - detail], axis=1).ravel()
    return done


@program(line, 128, 1 << 16, 1 << 21)
def butterflies(np: Any, a: Array) -> Any:
    """Transform a signal by Walsh's and Hadamard's butterflies."""
    half = 1
    while half < len(a):
        pairs = a.reshape(-1, 2, half)
        a = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return a


@program(line, 64, 1 << 12, 1 << 16)
def recursive_fft(np: Any, a: Array) -> Any:
    """Compute a Fourier transform by recursion."""

    def transformed(x: Any) -> Any:
        if len(x) <= 16:
            k = np.arange(len(x))
            return np.exp(-2j * np.pi / len(x) * np.outer(k, k)) @ x
        even, odd = transformed(x[::2]), transformed(x[1::2])
        odd = np.exp(-2j * np.pi / len(x) * np.arange(len(x) // 2)) * odd
        return np.concatenate([even + odd, even - odd])

    return transformed(a + 0j)


@program(square, 32, 512, 4096)
def pyramid(np: Any, a: Array) -> Any:
    """Halve an image until one element is left."""
    means = []
    while len(a) > 1:
        a = (a[::2, ::2] + a[1::2, ::2] + a[::2, 1::2] + a[1::2, 1::2]) / 4
        means.append(a[0, 0])
    return np.stack(means)


@program(line, 60, 800, 4000)
def binomial_tree(np: Any, a: Array) -> Any:
    """Value an American option on a tree that shrinks by one leaf a step."""
    n = len(a)
    price = 100 * 1.01 ** np.arange(n, -n - 1, -2.0)
    value = np.maximum(100 - price, 0)
    for _ in range(n):
        value, price = 0.9995 * (0.51 * value[:-1] + 0.49 * value[1:]), price[:-1] / 1.01
        value = np.maximum(value, 100 - price)
    return value


@program(line, 128, 1 << 17, 1 << 22)
def sums_by_doubling(np: Any, a: Array) -> Any:
    """Compute running sums by steps of doubling length."""
    a, step = a.copy(), 1
    while step < len(a):
        a[step:] = a[step:] + a[:-step]
        step *= 2
    return a


@program(line, 200, 20_000, 500_000)
def filtered_until_few(np: Any, x: Array) -> Any:
    """Keep the values above the mean, again and again."""
    sizes = []
    while x.size > 8:
        x = x[x > x.mean()]
        sizes.append(x.size)
    return np.asarray(sizes)
