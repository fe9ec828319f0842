"""The algebra of layouts against the truth: NumPy's strided views of numbered storage."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from gpuarray.graph.layouts import (
    Layout,
    are_apart,
    broadcast_layout,
    collapse,
    compose,
    contiguous,
    flip,
    is_identity,
    permute,
    reshape,
    slice_axis,
)

STORAGE = 4096
SHAPES = st.lists(st.sampled_from([0, 1, 1, 2, 3, 4, 6]), max_size=4).map(tuple)


def positions(layout: Layout) -> np.ndarray[Any, Any]:
    """Return the storage positions that a layout names, in its shape."""
    base = np.arange(STORAGE)
    strides = tuple(s * base.itemsize for s in layout.strides)
    return as_strided(base[layout.offset :], layout.shape, strides) if layout.size else np.zeros(layout.shape, int)


@st.composite
def layouts(draw: st.DrawFn, shapes: st.SearchStrategy[tuple[int, ...]] = SHAPES) -> Layout:
    """A layout that a chain of views makes of contiguous storage."""
    layout = contiguous(draw(shapes))
    for _ in range(draw(st.integers(0, 3))):
        layout = draw(views_of(layout))
    return layout


@st.composite
def views_of(draw: st.DrawFn, layout: Layout) -> Layout:
    """One view of a layout."""
    kind = draw(st.sampled_from(["slice", "slice", "permute", "flip", "broadcast"]))
    ndim = len(layout.shape)
    if kind == "broadcast":
        return broadcast_layout(layout, (2, *(3 if n == 1 else n for n in layout.shape)) if ndim < 4 else layout.shape)
    if ndim == 0:
        return layout
    axis = draw(st.integers(0, ndim - 1))
    if kind == "permute":
        return permute(layout, draw(st.permutations(range(ndim))))
    if kind == "flip":
        return flip(layout, [axis])
    extent = layout.shape[axis]
    start, stop = draw(st.integers(-extent - 1, extent + 1)), draw(st.integers(-extent - 1, extent + 1))
    first, last, step = slice(start, stop, draw(st.sampled_from([1, 2, -1, -3]))).indices(extent)
    return slice_axis(layout, axis, first, step, len(range(first, last, step)))


@given(layout=layouts(), data=st.data())
def test_slice_permute_flip_are_numpys(layout: Layout, data: st.DataObject) -> None:
    truth = positions(layout)
    for axis in range(len(layout.shape)):
        np.testing.assert_array_equal(positions(flip(layout, [axis])), np.flip(truth, axis))
    order = data.draw(st.permutations(range(len(layout.shape))))
    np.testing.assert_array_equal(positions(permute(layout, order)), truth.transpose(order))


@given(layout=layouts())
def test_bounds_are_those_of_positions(layout: Layout) -> None:
    truth = positions(layout)
    assert layout.bounds() == ((truth.min(), truth.max()) if truth.size else (0, -1))


@given(inner=layouts(), data=st.data())
def test_compose_is_a_view_of_a_view(inner: Layout, data: st.DataObject) -> None:
    outer = data.draw(views_of(contiguous(inner.shape)))
    if data.draw(st.booleans()):
        outer = data.draw(views_of(outer))
    composed = compose(outer, inner)
    # a chain of views is again a view, whatever the order
    assert composed is not None
    assert composed.shape == outer.shape
    if outer.size:
        np.testing.assert_array_equal(positions(composed), positions(inner).ravel()[positions(outer)])


@given(first=layouts(), second=layouts())
def test_layouts_that_are_apart_name_no_position_in_common(first: Layout, second: Layout) -> None:
    some, others = ({*positions(layout).ravel().tolist()} for layout in (first, second))
    if are_apart(first, second):
        assert not some & others
    assert are_apart(first, second) or max(some, default=-1) >= min(others, default=0)


@given(inner=layouts(), shape=SHAPES)
def test_compose_through_a_reshape_is_right_or_refused(inner: Layout, shape: tuple[int, ...]) -> None:
    """A view of other elements in C order is one layout only sometimes; where it is one, it is the right one."""
    outer = contiguous(shape)
    if not 0 < outer.size <= inner.size:
        return
    composed = compose(outer, inner)
    if composed is not None:
        np.testing.assert_array_equal(positions(composed), positions(inner).ravel()[positions(outer)])


@given(layout=layouts(), data=st.data())
def test_reshape_views_exactly_where_numpy_does(layout: Layout, data: st.DataObject) -> None:
    size = layout.size
    if not size:
        shape: tuple[int, ...] = data.draw(st.sampled_from([(0,), (2, 0), (0, 3, 1)]))
    else:
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        first = data.draw(st.sampled_from(divisors))
        second = data.draw(st.sampled_from([d for d in divisors if (size // first) % d == 0]))
        shape = (first, second, size // first // second)
    truth = positions(layout)
    actual = reshape(layout, shape)
    try:
        expected = np.reshape(truth, shape, copy=False)
    except ValueError:
        assert actual is None
        return
    assert actual is not None
    assert actual.shape == shape
    if size:
        np.testing.assert_array_equal(positions(actual), expected)


@given(first=layouts(), data=st.data())
def test_collapse_keeps_order_and_merges_all_it_can(first: Layout, data: st.DataObject) -> None:
    second = contiguous(first.shape)
    if data.draw(st.booleans()) and first.shape:
        second = flip(second, [data.draw(st.integers(0, len(first.shape) - 1))])
    merged = collapse([first, second])
    assert merged[0].shape == merged[1].shape
    for before, after in zip((first, second), merged, strict=True):
        assert after.offset == before.offset
        if before.size:
            np.testing.assert_array_equal(positions(after).ravel(), positions(before).ravel())
    assert 1 not in merged[0].shape
    assert collapse(merged) == merged
    for axis in range(len(merged[0].shape) - 1):
        extent = merged[0].shape[axis + 1]
        assert any(x.strides[axis] != x.strides[axis + 1] * extent for x in merged)


@given(layout=layouts())
def test_identity_and_contiguity(layout: Layout) -> None:
    truth = positions(layout).ravel()
    if layout.size:
        assert is_identity(layout, layout.size) == np.array_equal(truth, np.arange(layout.size))
        assert layout.is_contiguous == np.array_equal(truth, truth[0] + np.arange(layout.size))
