"""A picture of a run: for each workload, how many times as fast as NumPy each peer is."""

from collections.abc import Sequence
from pathlib import Path

from bench.harness import Row


def plot(rows: Sequence[Row], path: Path) -> str:
    """Write the picture to ``path`` and return what was done, in words."""
    try:
        import matplotlib as mpl
    except ImportError:
        return "no plot: matplotlib is not installed"
    mpl.use("agg")
    from matplotlib import pyplot

    shown = [row for row in rows if row.times_numpy and row.peer != "numpy"]
    if not shown:
        return "no plot: nothing ran beside NumPy"
    workloads = list(dict.fromkeys(row.workload for row in shown))
    peers = list(dict.fromkeys(row.peer for row in shown))
    figure, axes = pyplot.subplots(figsize=(10, 1 + 0.18 * len(workloads) * (len(peers) + 1)), layout="constrained")
    thickness = 0.8 / len(peers)
    for number, peer in enumerate(peers):
        mine = {row.workload: row.times_numpy or 0 for row in shown if row.peer == peer}
        places = [workloads.index(name) + (number - (len(peers) - 1) / 2) * thickness for name in mine]
        axes.barh(places, list(mine.values()), thickness, label=peer)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(workloads)), workloads)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as NumPy")
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)
    return f"plot: {path}"
