"""The benchmark's harness: what it compares, how it relates figures, and that its pages can be made of them."""

import dataclasses
import gc
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import harness
from bench.__main__ import _merged, main
from bench.harness import Row, difference, relate
from bench.peers import Numexpr, Ours, Peer
from bench.workloads import ALL, TOPICS, Workload
from bench.workloads.base import PART, parts

DOCS = Path(__file__).parents[2] / "docs"
QUICK = ["copy", "black-scholes", "heat", "sum-axis-0", "mean-squared-error", "softmax-long", "matmul-batch", "argsort"]
QUICK += [
    "histogram",
    "bincount",
    "heat-100",
    "n-body-100",
    "fft-2-20",
    "matmul-vector",
    "matmul-complex64",
    "fft-batch",
    "take",
    "scatter",
    "distances",
    "n-body",
    "cumulative-sum",
]


class Wrong(Peer):
    """NumPy, but for one element."""

    name = "gpuarray-wrong"

    def asnumpy(self, result: Any) -> np.ndarray:
        found = np.array(result)
        found[-1] += 1
        return found


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is timed here."""
    monkeypatch.setattr(harness, "WARM_UP", 0.0)
    monkeypatch.setattr(harness, "ON_DEVICE", 0.0)
    monkeypatch.setattr(harness, "TURNS", 1)


@pytest.fixture(scope="module", autouse=True)
def _a_small_heap() -> Iterator[None]:
    """Leave what the tests before have made out of the collections that the harness makes around each workload."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def ours() -> Ours:
    return Ours("cpu")


@pytest.mark.parametrize("name", QUICK)
def test_results_are_those_of_numpy(name: str, ours: Ours) -> None:
    workload = ALL[name]
    assert isinstance(workload, Workload)
    (row,) = harness.run(workload, [ours], Fraction(1, 512), 0)
    assert not row.wrong, row.note
    assert row.note == ""
    assert row.call_ms
    assert row.difference is not None


@pytest.mark.parametrize("name", ["black-scholes", "softmax-1024", "n-body", "take", "normal"])
def test_results_through_jit(name: str) -> None:
    workload = ALL[name]
    assert isinstance(workload, Workload)
    recorded = Ours("cpu", compiled=True)
    (row,) = harness.run(workload, [recorded], Fraction(1, 512), 0)
    assert row.peer == "gpuarray-jit-cpu"
    assert row.note == ""
    assert row.counters["plans"] == 0


def test_a_wrong_result_is_seen() -> None:
    workload = dataclasses.replace(ALL["copy"], size=1000)
    right, wrong = harness.run(workload, [Peer(), Wrong()], Fraction(1), 0)
    assert not right.wrong
    assert wrong.wrong
    assert "differs" in wrong.note
    assert difference(np.ones(3), np.ones(4)) == float("inf")
    assert difference(np.array([1 + 1j, 2]), np.array([1, 2])) == 0.5


@pytest.mark.parametrize("length", [1, 7, 100, 4096, 5000, 1 << 17])
def test_parts_of_the_inputs_are_parts_of_the_result(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.workloads.base.PART", 64)
    x = np.arange(length, dtype=np.float64)
    expected = parts(lambda xp, n, x: np.exp(-x))(length, [x])
    result = np.exp(-x)
    step = -(-len(result) // len(expected))
    np.testing.assert_array_equal(result[::step], expected)
    assert length < 100 or len(expected) < length
    assert PART > 64


def test_a_library_without_a_workload_says_so_and_the_others_go_on() -> None:
    pytest.importorskip("numexpr")
    rows = harness.run(dataclasses.replace(ALL["sort"], size=100), [Numexpr(), Peer()], Fraction(1), 0)
    assert rows[0].call_ms is None
    assert "language" in rows[0].note
    assert rows[1].call_ms


def test_workloads_run_where_they_are_meant_to(ours: Ours) -> None:
    upload = ALL["upload"]
    assert isinstance(upload, Workload)
    assert harness.run(upload, [ours], Fraction(1, 1024), 0) == []
    compiled = Peer()
    compiled.name = "torch-compile-cpu"
    sort = dataclasses.replace(ALL["sort"], size=100)
    assert [row.peer for row in harness.run(sort, [compiled, Peer()], Fraction(1), 0)] == ["numpy"]


def _row(workload: str, peer: str, place: str, ms: float, **rest: Any) -> Row:
    row = Row(topic="elementwise", workload=workload, size=1000, peer=peer, place=place, nbytes=10**9, **rest)
    row.call_ms, row.queued_ms, row.difference = 2 * ms, ms, 0.0
    row.rate, row.limit = row.nbytes / ms / 1e6, "copy"
    return row


def test_rates_are_related_to_the_best_copy_of_the_same_kind_of_device() -> None:
    rows = [_row("copy", "cupy", "gpu", 2), _row("copy", "gpuarray-wgpu", "gpu", 1), _row("copy", "numpy", "cpu", 50)]
    rows += [_row("chain", "gpuarray-wgpu", "gpu", 4), _row("chain", "numpy", "cpu", 100)]
    relate(rows)
    assert [row.of_limit for row in rows] == [0.5, 1.0, 1.0, 0.25, 0.5]
    assert rows[3].times_numpy == 25


def test_documents_are_merged_and_later_ones_count() -> None:
    def document(date: str, *names: str) -> dict[str, Any]:
        rows = [dataclasses.asdict(_row(name, "numpy", "cpu", 1, note=date)) for name in names]
        return {"facts": {"date": date}, "rows": rows, "probes": {"import": {date: 1.0}}}

    merged = _merged([document("one", "copy", "chain"), document("two", "chain", "heat")])
    assert [(row["workload"], row["note"]) for row in merged["rows"]] == [
        ("copy", "one"),
        ("chain", "two"),
        ("heat", "two"),
    ]
    assert merged["probes"] == {"import": {"one": 1.0, "two": 1.0}}
    assert merged["facts"] == {"date": "two"}


def test_the_command_line_writes_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--device", "cpu", "--peers", "numpy", "--scale", "1/4096", "--seconds", "0.001"]
    first, second = tmp_path / "first.json", tmp_path / "performance-mine.json"
    assert main([*options, "--workloads", "copy,heat", "--json", str(first)]) == 0
    assert main([*options, "--workloads", "sum", "--brief", "--merge", str(first), "--json", str(second)]) == 0
    assert "numpy" in capsys.readouterr().out
    rows = json.loads(second.read_text())["rows"]
    assert {(row["workload"], row["topic"]) for row in rows} == {
        ("copy", "elementwise"),
        ("heat", "elementwise"),
        ("sum", "reductions"),
    }
    monkeypatch.syspath_prepend(str(DOCS))
    import performance

    monkeypatch.setattr(performance, "DATA", tmp_path)
    (tmp_path / "performance-notes.json").write_text('{"Reductions": "It is so."}')
    text = "\n".join(performance.page())
    for word in ("| copy | 65,536 |", "| sum | 65,536 |", "(NumPy)", "It is so."):
        assert word in text
    assert text.index("| sum |") > text.index("## Reductions")


def test_every_topic_has_a_section() -> None:
    sys.path.insert(0, str(DOCS))
    try:
        import performance
    finally:
        sys.path.remove(str(DOCS))
    assert {section.topic for section in performance.SECTIONS} == set(TOPICS)


def test_names_are_used_once() -> None:
    assert len(ALL) == sum(len(topic) for topic in TOPICS.values())
