"""How the tests of signals and of linear algebra compare results with SciPy's."""

import numpy as np


def compare(result, wanted, tolerance, *, any_integer=False):
    """Compare shapes, dtypes and values, which may differ by a share of the largest; of tuples, part by part.

    With ``any_integer`` integers, such as ranks, may have another dtype.
    """
    if isinstance(wanted, tuple | list):
        assert len(result) == len(wanted)
        for one, other in zip(result, wanted, strict=True):
            compare(one, other, tolerance, any_integer=any_integer)
        return
    if wanted is None or isinstance(wanted, bool):
        assert result is wanted
        return
    result, wanted = np.asarray(result), np.asarray(wanted)
    assert result.shape == wanted.shape
    assert result.dtype == wanted.dtype or (any_integer and wanted.dtype.kind in "iu")
    scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)) if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(result, wanted, rtol=0, atol=tolerance * scale)
