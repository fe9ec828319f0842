"""Products of what is computed: with a vector they are folds, narrow ones compute operands where they read them."""

from typing import Any

import numpy as np
import pytest
from support import values

import gpuarray as xp

A, B, V, U = (
    values((30, 20), "float32"),
    values((4, 30, 20), "float32", 1),
    values((20,), "float32", 2),
    values((30,), "float32", 3),
)
W = values((70, 20), "float32")


def members(p: Any) -> Any:
    """Return which of eight classes rows are in, as a table, which is eight times as large as what it is made of."""
    return (p(U)[:, None] > np.arange(8, dtype=np.float32)) * np.float32(1)


#: Functions of a converter, and how many steps they take.
FOLDS: dict[str, tuple[Any, int]] = {
    "matrix": (lambda p: (p(A) * 2) @ p(V), 1),
    "matrix and vector": (lambda p: np.maximum((p(A) - 1) @ (p(V) * 2) + 3, 0), 1),
    "row": (lambda p: p(U) @ abs(p(A)), 1),
    "transposed": (lambda p: (p(A) * 2).T @ p(U), 1),
    "vectors": (lambda p: (p(V) * 2) @ (p(V) + 1), 1),
    "batch": (lambda p: (p(B) * 2) @ p(V), 1),
    "batch of vectors": (lambda p: (p(B) * 2) @ p(B)[:, 0, :, None], 1),
    "rows of a batch": (lambda p: p(U)[None, None] @ (p(B) * 2), 1),
    "with other folds": (lambda p: (lambda q: q @ p(V) + q.sum(1))(p(A) * 2), 1),
    "pairs": (lambda p: abs(p(U)[:, None] - p(V)) @ p(V), 1),
    "integers": (lambda p: (p(A).astype("i4") * 2) @ p(V).astype("i4"), 1),
    "complex": (lambda p: (p(A) * np.complex64(2j)) @ p(V).astype("c8"), 1),
    "broadcast": (lambda p: np.broadcast_to(p(U)[:, None] * 2, (30, 20)) @ np.broadcast_to(p(V)[:1] + 1, (20,)), 1),
}
#: Functions whose narrow product computes operands where a kernel reads them, and how many steps they take on a GPU
#: and in-process, where operands are stored first.
NARROW: dict[str, tuple[Any, int, int]] = {
    "only the vector": (lambda p: p(A) @ (p(V) * 2), 1, 2),
    "half precision": (lambda p: (p(A).astype("f2") * np.float16(2)) @ p(V).astype("f2"), 1, 3),
    "columns": (lambda p: (p(A) - p(V)) @ p(A)[:7].T + p(U)[:, None], 1, 2),
    "odd columns": (lambda p: (p(A)[:, :17] * 2 - 1) @ p(B)[0, :17, :5], 1, 2),
    "rows": (lambda p: p(A)[:7] @ np.maximum(p(A).T[:, :8] + p(V)[:, None], 0), 2, 2),
    "both": (lambda p: (p(B) * 2) @ (p(B)[:, :20, :8] + 1) * 3 - p(V)[:8], 1, 3),
    "booleans": (lambda p: (p(A) > 0) @ (p(B)[0, :20, :8] > 1), 1, 3),
    "bytes": (lambda p: (p(A).astype("i1") + np.int8(1)) @ p(B)[0, :20, :8].astype("i1"), 1, 3),
    "wide complex": (lambda p: (p(A) * 2j).astype("c8") @ p(B)[1, :20].astype("c8"), 1, 3),
    "a table with a fold": (lambda p: (lambda q: q.T @ p(A) + q.sum(0)[:, None])(members(p)), 3, 2),
    "an array with a fold": (lambda p: (lambda q: q @ p(B)[0, :20, :8] + q.sum(1)[:, None])(p(A) + 1), 2, 2),
    "converted": (lambda p: p(A).astype("i4") @ p(B)[1, :20].astype("i4"), 1, 3),
}
#: Functions whose product reads stored operands: many tiles do, or others as well. One loop makes both of the first.
STORED: dict[str, tuple[Any, int]] = {
    "two matrices": (lambda p: (p(W) * 2) @ (p(W).T + 1), 2),
    "used twice": (lambda p: (lambda q: q @ q[:20])(p(A) + 1), 2),
}


@pytest.mark.parametrize("name", [*FOLDS, *NARROW, *STORED])
def test_what_is_stored_for_a_product(name: str, device: Any) -> None:
    function, *steps = {**FOLDS, **NARROW, **STORED}[name]

    def on_device(x: Any) -> Any:
        held = xp.asarray(x, device=device)
        xp.evaluate(held)
        return held

    expected = function(lambda x: x)
    result = function(on_device)
    assert len(xp.explain(result).steps) == steps[0 if device.kind == "wgpu" else -1]
    found = np.asarray(result)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


def test_a_matrix_that_others_want_is_stored(device: Any) -> None:
    a, v = xp.asarray(A, device=device), xp.asarray(V, device=device)
    doubled = a * 2
    product = doubled @ (v * 2)
    xp.evaluate(product, doubled)
    np.testing.assert_array_equal(product, A * 2 @ (V * 2))
    np.testing.assert_array_equal(doubled, A * 2)


def test_a_matrix_without_columns(device: Any) -> None:
    empty = xp.asarray(np.zeros((3, 0), np.float32), device=device)
    np.testing.assert_array_equal((empty * 2) @ empty[0], np.zeros(3, np.float32))


def test_unfused_values_are_stored(device: Any) -> None:
    with xp.using(fuse=False):
        a, v = xp.asarray(A, device=device), xp.asarray(V, device=device)
        np.testing.assert_array_equal((a * 2) @ v, A * 2 @ V)
