"""SciPy's examples give the same arrays with the functions of ``gpuarray.scipy``."""

import contextlib
import doctest
import io
import re
import sys
from importlib import import_module
from types import ModuleType
from unittest.mock import MagicMock

import numpy as np
import pytest
import scipy.datasets
from scipy import ndimage

import gpuarray as xp
from gpuarray.functions.registry import HOST
from gpuarray.scipy import _calls, _mirror
from gpuarray.scipy._mirror import IMPLEMENTATIONS
from gpuarray.scipy.interpolate import _grids, _piecewise
from gpuarray.scipy.special import _kernels
from gpuarray.scipy.stats import _distributions

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


class Arrays(ModuleType):
    """NumPy, a module or a ufunc of it, whose functions return arrays of this package."""

    def __init__(self, original):
        super().__init__("arrays_for_numpy")
        self._original = original

    def __getattr__(self, name):
        value = getattr(self._original, name)
        if (isinstance(value, ModuleType) and name == "random") or isinstance(value, np.ufunc):
            return Arrays(value)
        if not callable(value) or isinstance(value, type):
            return value
        return lambda *args, **kwargs: arrays_of(value(*args, **kwargs))

    def __call__(self, *args, **kwargs):
        return arrays_of(self._original(*args, **kwargs))


class Drawing(np.random.Generator):
    """A generator whose methods return arrays of this package; SciPy's distributions take it, too."""

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        is_method = callable(value) and not name.startswith("_")
        return (lambda *args, **kwargs: arrays_of(value(*args, **kwargs))) if is_method else value


def arrays_of(value):
    """Return a result of NumPy with arrays of this package."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return xp.asarray(value)
    if isinstance(value, np.random.Generator):
        return Drawing(value.bit_generator)
    return type(value)(map(arrays_of, value)) if type(value) in (list, tuple) else value


def results_for_arrays(sources):
    """Return :func:`results` of examples whose data are arrays of this package."""
    sys.modules["arrays_for_numpy"] = Arrays(np)
    first = ["import arrays_for_numpy as np\n"]
    return results(first + [re.sub(r"\bimport numpy as np\b", first[0].strip(), source) for source in sources])


def with_ours(source):
    ours = "import gpuarray.scipy.ndimage as ndimage; from scipy import datasets"
    by_form = {"import": "import gpuarray.scipy.ndimage", "from": "from gpuarray.scipy.ndimage"}
    return IMPORTS.sub(lambda result: ours if " import " in result[0] else by_form[result[0].partition(" ")[0]], source)


def results(sources):
    """Return the arrays that examples assign, and those that they show."""
    names, shown = {}, []
    # some examples set print options
    with contextlib.redirect_stdout(io.StringIO()), np.printoptions():
        for source in sources:
            try:
                code = compile(source.strip(), "example", "eval")
            except SyntaxError:
                exec(source, names)
            else:
                shown.append(eval(code, names))
    return {name: value for name, value in names.items() if isinstance(value, np.ndarray | xp.GpuArray)}, shown


#: Examples of what depends on rounding errors or is arbitrary, of drawing, of SciPy's classes of systems; a slow one.
UNLIKE = {
    "binom",  # quantiles of steps
    *("sosfilt", "normalize", "cho_factor", "cho_solve", "correlate2d", "hilbert", "lp2bp", "lp2bs", "lp2hp", "lp2lp"),
    "matmul_toeplitz",
}


def native():
    """Return the examples of functions that are recorded, by package and name."""
    result = {}
    for package in ("fft", "interpolate", "linalg", "signal", "special", "stats"):
        import_module(f"gpuarray.scipy.{package}")
        for name, (kind, _, _) in IMPLEMENTATIONS[package].items():
            if kind == HOST or "." in name or name in UNLIKE:
                continue
            text = getattr(import_module(f"scipy.{package}"), name).__doc__ or ""
            sources = [example.source for example in doctest.DocTestParser().get_examples(text)]
            if sources:
                result[package, name] = sources
    return result


def of_package(source, package):
    """Return a statement with a subpackage of this package in place of SciPy's."""

    def imported(result):
        names = result[1].split(", ")
        own = [n for n in names if n.split(" as ")[0] == package]
        others = ", ".join(n for n in names if n not in own)
        return "; ".join(
            [*(f"from gpuarray.scipy import {n}" for n in own), *([f"from scipy import {others}"] if others else [])]
        )

    source = re.sub(r"\bfrom scipy import ([\w, ]+)", imported, source)
    return re.sub(rf"(?<!gpuarray\.)\bscipy\.{package}\b", f"gpuarray.scipy.{package}", source)


@pytest.fixture
def composed(monkeypatch):
    """Compute compositions in-process, and not SciPy's functions."""
    for module in (_calls, _mirror, _kernels, _piecewise, _grids, _distributions):
        for name, result in (("is_hosts", False), ("host_of", None), ("run_if_host", NotImplemented)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, lambda *_args, result=result, **_kwargs: result)


NATIVE = native()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("package", "name"), NATIVE)
@pytest.mark.usefixtures("composed", "surroundings")
def test_example_of_a_composition(package, name):
    np.random.seed(0)
    expected, printed = results(NATIVE[package, name])
    np.random.seed(0)
    with xp.using(device="cpu", direct_limit=0):  # else small arrays are given to SciPy in C
        actual, shown = results_for_arrays([of_package(source, package) for source in NATIVE[package, name]])
    # where SciPy returns a number, there is an array
    extra = [key for key in actual if key not in expected]
    assert not any(np.ndim(actual.pop(key)) for key in extra)
    compare(actual, shown, expected, printed)


def compare(actual, shown, expected, printed):
    assert actual.keys() == expected.keys()
    for one, other in [*((actual[key], expected[key]) for key in actual), *zip(shown, printed, strict=True)]:
        if not isinstance(other, np.ndarray | np.number | int | float) or np.asarray(other).dtype == object:
            continue
        same = np.asarray(one)
        if same.dtype.kind in "fc":
            np.testing.assert_allclose(same, other, rtol=1e-5, atol=1e-4)
        else:
            np.testing.assert_array_equal(same, other)


def subplots(rows=1, columns=1, **_):
    axes = np.empty((rows, columns), object)
    for place in np.ndindex(axes.shape):
        axes[place] = MagicMock()
    return MagicMock(), axes.squeeze() if axes.size > 1 else axes[0, 0]


@pytest.fixture
def surroundings(monkeypatch):
    """Replace pictures, a signal, random numbers and drawing."""
    picture = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    beats = np.sin(np.arange(20_000) / 20) ** 9 + np.random.default_rng(0).standard_normal(20_000) / 20
    monkeypatch.setattr(scipy.datasets, "electrocardiogram", lambda: beats)
    monkeypatch.setattr(scipy.datasets, "ascent", lambda: picture)
    monkeypatch.setattr(scipy.datasets, "face", lambda gray=False: picture)
    generator = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=0: generator(seed))
    for module in ("matplotlib", "matplotlib.pyplot", "matplotlib.ticker", "mpl_toolkits", "mpl_toolkits.axes_grid1"):
        drawing = MagicMock(subplots=subplots)
        drawing.figure.return_value.subplots = lambda *shape, **_: subplots(*shape)[1]
        drawing.pyplot = drawing
        drawing.ImageGrid.return_value.__iter__.side_effect = lambda: iter([MagicMock() for _ in range(3)])
        monkeypatch.setitem(sys.modules, module, drawing)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name, sources in EXAMPLES.items() if sources])
@pytest.mark.usefixtures("surroundings")
def test_example(name):
    expected, printed = results(EXAMPLES[name])
    for device, run in (("cpu", results), ("wgpu", results_for_arrays)):
        with xp.using(device=device):
            actual, shown = run([*map(with_ours, EXAMPLES[name])])
            compare({key: actual[key] for key in expected}, shown, expected, printed)
