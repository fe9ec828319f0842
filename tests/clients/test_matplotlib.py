"""matplotlib draws arrays as it draws NumPy's: the same picture, point for point, and each read is counted."""

import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import gpuarray as xp
from gpuarray.errors import TransferError

mpl.use("Agg")
pytestmark = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)

NUMBERS = np.random.default_rng(0).random((4, 12)).astype(np.float32)

CASES = {
    "plot": lambda ax, x: ax.plot(x[0], x[1]),
    "plot of columns": lambda ax, x: ax.plot(x),
    "scatter": lambda ax, x: ax.scatter(x[0], x[1], c=x[2], s=x[3] * 50),
    "imshow": lambda ax, x: ax.imshow(x),
    "pcolormesh": lambda ax, x: ax.pcolormesh(x),
    "contourf": lambda ax, x: ax.contourf(x),
    "hist": lambda ax, x: ax.hist(x.reshape(-1), bins=8),
    "bar": lambda ax, x: ax.bar(np.arange(12), x[0], yerr=x[1]),
    "bar at arrays": lambda ax, x: ax.bar(x[0], x[1], width=0.1),
    "barh at arrays": lambda ax, x: ax.barh(x[0], x[1], height=0.1),
    "colour": lambda ax, x: ax.plot([0, 1], color=x[0, :3].tolist()),
    "errorbar": lambda ax, x: ax.errorbar(x[0], x[1], yerr=x[2]),
    "fill_between": lambda ax, x: ax.fill_between(np.arange(12), x[0], x[1]),
    "step": lambda ax, x: ax.step(np.arange(12), x[0]),
    "boxplot": lambda ax, x: ax.boxplot(x),
    "quiver": lambda ax, x: ax.quiver(x[0], x[1], x[2], x[3]),
    "limits": lambda ax, x: (ax.set_xlim(x[0, 0], x[0, 1]), ax.axhline(x[0, 2])),
}


def picture(draw, x):
    figure = Figure(figsize=(2, 1.5), dpi=50)
    draw(figure.subplots(), x)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="rgba")
    return drawn.getvalue()


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize("case", CASES)
def test_same_picture(case, device):
    x = xp.asarray(NUMBERS - 1) + 1
    host = np.asarray(x)
    xp.reset_stats()
    assert picture(CASES[case], x) == picture(CASES[case], host)
    assert xp.stats()["bytes_downloaded"] > 0


@pytest.mark.usefixtures("planned")
def test_an_image_is_read_once(device):
    x = xp.asarray(NUMBERS - 1) + 1
    Figure().subplots().imshow(x)
    assert xp.stats()["bytes_downloaded"] == x.nbytes
    assert xp.stats()["fallbacks"] == 0


def test_reading_can_be_forbidden(device):
    x = xp.asarray(NUMBERS - 1) + 1
    with xp.using(transfer="error"):
        if device.kind == "wgpu":
            for draw in (lambda: Figure().subplots().imshow(x), lambda: Figure().subplots().boxplot(x)):
                with pytest.raises(TransferError, match="bytes from device"):
                    draw()
        assert Figure().subplots().imshow(xp.asnumpy(x)).get_array().shape == x.shape
