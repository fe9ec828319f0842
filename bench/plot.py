"""A chart of a run: for each workload, the speed of this package relative to each other library."""

from collections.abc import Sequence
from pathlib import Path

from bench.harness import Row, is_ours


def plot(rows: Sequence[Row], path: Path) -> str:
    """Write the chart to ``path`` and return a message."""
    try:
        import matplotlib as mpl
    except ImportError:
        return "no plot: matplotlib is not installed"
    mpl.use("agg")
    from matplotlib import pyplot

    ours = {(row.workload, row.place): row.best_ms for row in rows if is_ours(row) and row.best_ms}
    result: dict[str, dict[str, float]] = {}
    for row in rows:
        mine = ours.get((row.workload, row.place))
        if mine and row.best_ms and not is_ours(row):
            result.setdefault(row.peer, {})[row.workload] = row.best_ms / mine
    if not result:
        return "no plot: nothing ran beside this package"
    workloads = [
        name for name in dict.fromkeys(row.workload for row in rows) if any(name in x for x in result.values())
    ]
    with pyplot.rc_context({"svg.hashsalt": "bench"}):
        figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.2 * len(workloads)), layout="constrained")
        for marker, (peer, ratios) in zip("osD^v<>pP*", result.items(), strict=False):
            axes.plot(ratios.values(), [workloads.index(name) for name in ratios], marker, markersize=5, label=peer)
        axes.axvline(1, color="black", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yticks(range(len(workloads)), workloads, fontsize=8)
        axes.grid(visible=True, axis="y", linewidth=0.3)
        axes.set_xlabel("their time over ours: to the right of 1, ours is faster")
        axes.set_ylim(len(workloads) - 0.5, -0.5)
        figure.legend(loc="outside upper center", ncols=len(result))
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
    return f"plot: {path}"
