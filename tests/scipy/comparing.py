"""How the tests of signals and of linear algebra compare results with SciPy's."""

import numpy as np


def compare(found, wanted, tolerance, *, any_integer=False):
    """Compare shapes, dtypes and values, which may differ by a share of the largest; of tuples, part by part.

    With ``any_integer`` integers, such as ranks, may have another dtype.
    """
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            compare(one, other, tolerance, any_integer=any_integer)
        return
    if wanted is None or isinstance(wanted, bool):
        assert found is wanted
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype or (any_integer and wanted.dtype.kind in "iu")
    scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)) if wanted.dtype.kind in "fc" else 0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * scale)
