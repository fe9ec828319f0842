"""SciPy's examples of ``scipy.ndimage`` give the same arrays with ``gpuarray.scipy.ndimage``."""

import contextlib
import doctest
import io
import re
import sys
from unittest.mock import MagicMock

import numpy as np
import pytest
import scipy.datasets
from scipy import ndimage

import gpuarray as xp

#: How examples import the package.
IMPORTS = re.compile(r"from scipy import (datasets, )?ndimage(, datasets)?|import scipy\.ndimage|from scipy\.ndimage")
#: With its array API, which other tests switch on, SciPy itself refuses the lists and the dtype of these statements.
REFUSED = (
    "ndimage.map_coordinates(a, [[0.5, 2], [0.5, 1]], order=1)",
    "ndimage.map_coordinates(a, inds, order=1, cval=0, output=bool)",
)
EXAMPLES = {
    name: [
        example.source
        for example in doctest.DocTestParser().get_examples(getattr(ndimage, name).__doc__ or "")
        if example.source.strip() not in REFUSED
    ]
    for name in ndimage.__all__
}


def with_ours(source):
    ours = "import gpuarray.scipy.ndimage as ndimage; from scipy import datasets"
    by_form = {"import": "import gpuarray.scipy.ndimage", "from": "from gpuarray.scipy.ndimage"}
    return IMPORTS.sub(lambda found: ours if " import " in found[0] else by_form[found[0].partition(" ")[0]], source)


def results(sources):
    """Return the arrays that examples assign, and those that they show."""
    names, shown = {}, []
    with contextlib.redirect_stdout(io.StringIO()):
        for source in sources:
            try:
                code = compile(source.strip(), "example", "eval")
            except SyntaxError:
                exec(source, names)
            else:
                shown.append(eval(code, names))
    return {name: value for name, value in names.items() if isinstance(value, np.ndarray | xp.GpuArray)}, shown


def subplots(rows=1, columns=1, **_):
    axes = np.empty((rows, columns), object)
    for place in np.ndindex(axes.shape):
        axes[place] = MagicMock()
    return MagicMock(), axes.squeeze() if axes.size > 1 else axes[0, 0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name, sources in EXAMPLES.items() if sources])
def test_example(name, monkeypatch):
    picture = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    monkeypatch.setattr(scipy.datasets, "ascent", lambda: picture)
    monkeypatch.setattr(scipy.datasets, "face", lambda gray=False: picture)
    generator = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=0: generator(seed))
    for module in ("matplotlib", "matplotlib.pyplot", "mpl_toolkits", "mpl_toolkits.axes_grid1"):
        drawing = MagicMock(subplots=subplots)
        drawing.figure.return_value.subplots = lambda *shape, **_: subplots(*shape)[1]
        drawing.pyplot = drawing
        drawing.ImageGrid.return_value.__iter__.side_effect = lambda: iter([MagicMock() for _ in range(3)])
        monkeypatch.setitem(sys.modules, module, drawing)
    expected, printed = results(EXAMPLES[name])
    for device in ("cpu", "wgpu"):
        with xp.using(device=device):
            found, shown = results([*map(with_ours, EXAMPLES[name])])
        assert found.keys() == expected.keys()
        for one, other in [*((found[key], expected[key]) for key in found), *zip(shown, printed, strict=True)]:
            if not isinstance(other, np.ndarray | np.number | int | float) or np.asarray(other).dtype == object:
                continue
            same = np.asarray(one)
            if same.dtype.kind in "fc":
                np.testing.assert_allclose(same, other, rtol=1e-5, atol=1e-4)
            else:
                np.testing.assert_array_equal(same, other)
