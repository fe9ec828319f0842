"""Corners of scipy.ndimage: axes in any order, short splines, arrays without zeros, windows without elements."""

import numpy as np
import pytest
from ndimage_cases import compare, sample

VOLUME = sample((3, 7, 5), np.float64)
WHOLE = sample((5, 8), np.int16)
TRUTH = sample((4, 6), bool)
UNBOUNDED = sample((6, 5), np.float64)
UNBOUNDED[2, 3] = np.inf
CASES = [
    ("correlate", VOLUME, (sample((2, 3), np.float64),), {"axes": (2, 0), "origin": [1, 0]}),
    ("correlate", VOLUME, (sample((3, 1, 2), np.float64),), {"axes": (2, 0, 1), "origin": [1, 0, -1]}),
    ("convolve", WHOLE.astype(np.complex64), (sample((2, 1), np.float64),), {"axes": (1, 0), "mode": "wrap"}),
    ("minimum_filter", WHOLE, (), {"axes": (1, 0), "footprint": np.ones((2, 3), bool), "origin": [0, 1]}),
    ("maximum_filter", WHOLE, (), {"axes": (1, 0), "footprint": np.eye(3, dtype=bool), "origin": [0, 1]}),
    ("rank_filter", WHOLE, (2,), {"axes": (1, 0), "size": (1, 4)}),
    ("rank_filter", WHOLE, (0,), {"axes": (1, 0), "mode": ["reflect", "grid-constant"], "cval": 7, "size": (1, 4)}),
    ("grey_closing", VOLUME, (), {"axes": (1, 2, 0), "footprint": sample((2, 3, 1), bool)}),
    ("binary_opening", TRUTH, (), {"axes": (1, 0), "structure": np.array([[True], [False]])}),
    ("binary_hit_or_miss", TRUTH, (), {"structure1": np.array([[False]])}),
    ("gaussian_gradient_magnitude", VOLUME, (1.2,), {"axes": (0, 2), "mode": ["mirror", "nearest"]}),
    ("gaussian_laplace", VOLUME, ([1.2, 0.7],), {"axes": (2, 0), "mode": ["mirror", "nearest"]}),
    ("distance_transform_edt", np.ones((3, 4)), (), {}),
    ("distance_transform_edt", np.ones((2, 3, 2)), ([2, 0.5, 3],), {}),
    ("shift", VOLUME, (0.7,), {"mode": "reflect", "order": 5}),
    ("spline_filter", VOLUME, (4,), {"mode": "reflect"}),
    (
        "map_coordinates",
        WHOLE,
        (np.full((2, 3), 4.9),),
        {"order": 5, "mode": "grid-constant", "cval": 1.5},
    ),
    ("zoom", VOLUME + 1j, (1.7,), {"grid_mode": True, "mode": "wrap"}),
    ("zoom", VOLUME, (1,), {"output": np.int32}),
    ("shift", np.zeros((0, 3)), (1.5,), {"mode": "constant", "cval": 2.0}),
    ("gaussian_filter", sample((5, 4), np.uint8), (0.5,), {"mode": "constant", "cval": -3.0}),
    ("uniform_filter", WHOLE, (3,), {"mode": "grid-constant", "cval": 1.5}),
    ("correlate", TRUTH, (np.ones((2, 3)),), {"mode": "constant", "cval": 2.5, "output": np.float64}),
    ("correlate1d", UNBOUNDED, ([1.0, 0.0, 2.0],), {}),
    ("correlate", UNBOUNDED, (np.array([[1.0, 0.0, 2.0], [0.5, 0.0, 1.0]]),), {}),
    ("sobel", UNBOUNDED, (), {}),
    ("generic_filter", TRUTH, (np.mean,), {"footprint": [[True]], "mode": "constant"}),
    ("generic_filter", TRUTH, (np.mean, 2), {}),
    ("map_coordinates", TRUTH, (np.random.default_rng(0).random((2, 40)) * 4,), {"order": 1}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_corner(device, case):
    name, x, args, kwargs = case
    compare(name, x, *args, **kwargs)
