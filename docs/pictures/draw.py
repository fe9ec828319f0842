"""Draw the pictures of the documentation and write its example pages: ``python docs/pictures/draw.py``."""

from html import escape
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import gpuarray as xp
from gpuarray.diagnostics.drawing import COLOURS

HERE = Path(__file__).parent
PAGES = HERE.parent / "_static"


def plans() -> None:
    """Draw the graph of the tutorial, and its plan."""
    with xp.using(origins=False, device="cpu"):
        x = xp.linspace(-3, 3, 200_000, dtype=xp.float32)
        xp.evaluate(x)
        y = np.sin(x) ** 2 + np.exp(-x * x) * np.sqrt(np.abs(x) + 1)
        plan = xp.explain(xp.mean(y))
        _write("graph.svg", plan.svg("simplified"))
        _write("plan.svg", plan.svg("plan"))
        rows = xp.asarray(np.ones((600, 400), np.float32))
        products = rows @ rows.T
        shifted = xp.exp(products - xp.max(products, axis=1, keepdims=True))
        _write("steps.svg", xp.explain(shifted / xp.sum(shifted, axis=1, keepdims=True)).svg("plan"))


def pages() -> None:
    """Write example pages of a profile and of a plan."""
    with xp.using(device="wgpu"):
        x = xp.asarray(np.random.default_rng(0).random((300, 256), dtype=np.float32))
        with xp.profile() as profile:
            for turn in range(4):
                rows = xp.exp(x * turn)
                weights = np.asarray(rows / xp.sum(rows, axis=1, keepdims=True))
                ordered = np.asarray(xp.sort(xp.asarray(weights), axis=1)[:, :3])
        profile.html(PAGES / "profile.html")
        distances = xp.sqrt(xp.sum((x[:, None, :8] - x[None, :, :8]) ** 2, axis=2))
        nearest = xp.sort(distances, axis=1)[:, 1 : ordered.shape[1] + 1] + xp.mean(x @ x.T, axis=1, keepdims=True)
        body = xp.explain(nearest)._repr_html_()
    title = "<!doctype html><meta charset='utf-8'><title>A plan</title><link rel='icon' href='icon.svg'>"
    (PAGES / "explain.html").write_text(f"{title}<body style='font-family: sans-serif'>{body}</body>", encoding="utf-8")


def curve() -> None:
    """Draw the function of the tutorial."""
    x = xp.linspace(-3, 3, 601, dtype=xp.float32)
    y = np.sin(x) ** 2 + np.exp(-x * x) * np.sqrt(np.abs(x) + 1)
    with mpl.rc_context({"svg.hashsalt": "gpuarray", "svg.fonttype": "none"}):
        figure, axis = plt.subplots(figsize=(5.6, 2.4))
        axis.plot(x, y)
        axis.set(xlabel="x", ylabel="y")
        figure.tight_layout()
        figure.savefig(HERE / "curve.svg", metadata={"Date": None})
        plt.close(figure)


#: Boxes of the overview of a call: left, top, kind, title, and lines of text.
ROAD = (
    (20, 20, "leaf", "your program", ("np.sin(x) ** 2 + 1, x[2:] *= 0.5, xp.sum(x)",)),
    (20, 115, "node", "dispatch", ("__array_ufunc__, __array_function__,", "operators, functions of the namespace")),
    (
        20,
        225,
        "node",
        "graph",
        ("a node per operation: dtype, shape,", "operands, source line; nothing runs yet"),
    ),
    (
        20,
        365,
        "node",
        "plan cache",
        ("is there a plan for a graph of this structure?", "the values of scalars do not matter"),
    ),
    (
        410,
        365,
        "node",
        "fusion planner",
        ("common subexpressions, views as index", "arithmetic, fused steps, reused buffers"),
    ),
    (
        20,
        475,
        "node",
        "placement",
        ("minimal total time on host and device, with", "transfers; or the device of pinned arrays"),
    ),
    (
        20,
        600,
        "step",
        "a GPU: provider wgpu",
        ("WGSL, compiled once per structure;", "enqueued without waiting"),
    ),
    (410, 600, "host", "the CPU: provider cpu", ("NumPy, on tiles that fit the cache,", "on all cores")),
    (215, 710, "result", "the value", ("the node becomes a leaf; its operands are released",)),
)
WIDTH = 330
#: Arrows: start, end, and label.
WAYS = (
    (0, 1, ""), (1, 2, "recorded: about a microsecond"), (2, 3, "a value is needed: float(y), print(y), np.asarray(y)"),
    (3, 4, "no"), (3, 5, "yes"), (4, 5, ""), (5, 6, ""), (5, 7, ""), (6, 8, ""), (7, 8, ""),
)  # fmt: skip


def road() -> None:
    """Draw the overview of a call, from the program to a value."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 790" width="760" height="790" role="img" '
        'font-family="system-ui, sans-serif" font-size="13">',
        "<title>A call, from the program to its value</title>",
        '<rect width="760" height="790" fill="#ffffff"/>',
        '<defs><marker id="end" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
        '<path d="M0 0 L9 4 L0 8 z" fill="#5b6b7f"/></marker></defs>',
    ]
    for start, stop, text in WAYS:
        parts.append(_way(ROAD[start], ROAD[stop], text))
    for left, top, kind, title, lines in ROAD:
        fill, border = COLOURS[kind]
        height = _height(lines)
        parts.append(
            f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{height}" rx="6" fill="{fill}" stroke="{border}"/>'
        )
        parts.append(f'<text x="{left + 14}" y="{top + 23}" font-weight="600" fill="#1b2733">{escape(title)}</text>')
        for number, line in enumerate(lines, 1):
            y = top + 23 + 18 * number
            parts.append(f'<text x="{left + 14}" y="{y}" font-size="12" fill="#3c4a5a">{escape(line)}</text>')
    _write("road.svg", "\n".join([*parts, "</svg>"]))


_Box = tuple[int, int, str, str, tuple[str, ...]]


def _height(lines: tuple[str, ...]) -> int:
    return 36 + 18 * len(lines)


def _way(start: _Box, stop: _Box, text: str) -> str:
    """Return an arrow between two boxes, to the right if they are next to each other, otherwise down."""
    if start[1] == stop[1]:
        y = start[1] + _height(start[4]) / 2
        ends, where = (start[0] + WIDTH, y, stop[0], y), (start[0] + WIDTH + 18, y - 8)
    else:
        middles = [box[0] + WIDTH / 2 for box in (start, stop)]
        if start[0] > stop[0] and stop[2] == "node":  # back to the left: into the side
            ends = (middles[0], start[1] + _height(start[4]), stop[0] + WIDTH, stop[1] + _height(stop[4]) / 2)
        else:
            ends = (middles[0], start[1] + _height(start[4]), middles[1], stop[1])
        where = (ends[0] + 10, (ends[1] + ends[3]) / 2 + 4)
    line = '<line x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}" stroke="#5b6b7f" marker-end="url(#end)"/>'.format(*ends)
    label = f'<text x="{where[0]:g}" y="{where[1]:g}" font-size="12" fill="#5b6b7f">{escape(text)}</text>'
    return line + (label if text else "")


def _write(name: str, text: str) -> None:
    (HERE / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    plans()
    pages()
    curve()
    road()
