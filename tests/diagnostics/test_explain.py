"""`explain` before and after a plan has run: stages, lines, drawings, measured times."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.diagnostics import drawing
from gpuarray.diagnostics.explanation import STAGES
from gpuarray.fusion.costs import cost
from gpuarray.graph.nodes import Generate, Leaf
from gpuarray.graph.walk import meanings_of, operands, topological
from gpuarray.runtime import evaluate


def program(x):
    """Two operations say the same; a fused reduction is followed by a sort, which is a step of its own."""
    total = xp.sum(xp.exp(x) * 2 + xp.exp(x), axis=1)
    return xp.sort(total) + 3


@pytest.fixture
def x(device):
    return xp.asarray(np.linspace(0, 1, 600, dtype=np.float32).reshape(20, 30))


def test_stages_before_running(x):
    result = xp.explain(program(x))
    assert not result.has_run
    assert result.operations == 8
    assert sum(node.is_again for node in result.nodes) == 1
    assert [step.name for step in result.steps] == ["exp+multiply+add+sum", "sort", "add"]
    assert result.launches == sum(step.launches for step in result.steps) >= 3
    assert result.text("graph").count("exp %0") == 2
    assert result.text("simplified").count("exp %0") == 1
    assert "reads 2.3 KiB, writes 80 B" in result.text("plan")
    assert result.text("placement").count("because") == 3
    assert ("@workgroup_size" in result.text("wgsl")) == (x.device.kind == "wgpu")
    assert str(result) == result.text()


def test_explaining_runs_nothing(x):
    y = program(x)
    xp.evaluate(x)
    xp.reset_stats()
    result = xp.explain(y)
    for stage in STAGES:
        result.text(stage)
    result.svg(), result.dot(), result._repr_html_()
    assert xp.stats()["launches"] == xp.stats()["evaluations"] == xp.stats()["bytes_downloaded"] == 0


def test_a_stage_that_does_not_exist(x):
    with pytest.raises(ValueError, match="stage is 'asm'; use one of 'graph'"):
        xp.explain(x, stage="asm")


def test_steps_name_the_lines_of_what_they_compute(x):
    result = xp.explain(program(x))
    assert [{place.function for place in step.places} for step in result.steps] == [{"program"}] * 3
    assert [step.places[0].text.startswith("xp.") for step in result.steps] == [True] * 3
    assert "test_explain.py" in str(result)


def test_what_ran_is_told_afterwards(x):
    y = program(x)
    before = xp.explain(y)
    np.asarray(y)
    after = xp.explain(y)
    assert after.has_run
    assert after.launches == 0
    assert [step.text for step in after.steps] == [step.text for step in before.steps]
    assert [node.place for node in after.nodes] == [node.place for node in before.nodes]
    assert "this is what ran" in str(after)
    assert "measured" not in str(after)


def test_an_array_that_nothing_computed():
    result = xp.explain(xp.asarray([1.0], device="cpu"))
    assert (result.steps, result.nodes, result.launches) == ((), (), 0)
    assert "nothing is left to do" in str(result)


def test_what_numpy_computed_at_once_is_said_to_have_no_plan():
    x = xp.ones(4, device="wgpu")
    with xp.using(direct_limit=1000, direct_pinned=True):
        result = xp.explain(x * 2, stage="wgsl")
    assert "small arrays at once" in str(result)
    assert "this is what ran" not in str(result)


def test_a_single_value_that_numpy_computed_at_once_is_no_number_to_fill_in():
    with xp.using(device="cpu", direct_limit=1000):
        x = xp.ones(4)
        for value in (x.sum(), np.linalg.norm(x), x[0]):
            result = xp.explain(value)
            assert (result.nodes, result.steps, result.has_run) == ((), (), True)
            assert "small arrays at once" in str(result)
        with xp.using(direct_limit=0):
            pending = x * 2
        assert xp.explain(x.sum(), pending).launches == 1


def test_what_ran_long_ago_is_forgotten():
    x = xp.ones(4, device="cpu")
    y = x + 1
    xp.evaluate(y)
    for _ in range(300):
        xp.evaluate(x * 2)
    assert xp.explain(y).steps == ()


def test_measured_times_stand_beside_the_plan(x):
    with xp.profile() as p:
        y = program(x * 1.5)
        np.asarray(y)
    result = xp.explain(y)
    times = [step.measured for step in result.steps]
    assert all(time > 0 for time in times)
    assert sum(times) == pytest.approx(sum(kernel.total for kernel in p.kernels), rel=1e-6)
    assert result.text("placement").count("measured") == len(result.steps)
    # and of the same plan before it runs again
    assert xp.explain(program(x * 2.5)).steps[0].measured is not None


def test_an_explanation_keeps_no_result_alive():
    x = xp.asarray(np.ones(1 << 20, np.float32), device="cpu")
    xp.evaluate(x + 1)
    live = xp.stats()["bytes_live"]
    y = x + 1
    xp.evaluate(y)
    result = xp.explain(y)
    del y
    assert xp.stats()["bytes_live"] == live
    assert result.steps


def test_a_key_says_what_the_graph_says(device):
    x = xp.asarray(np.arange(24, dtype=np.float32).reshape(4, 6))
    arrays = (
        program(x),
        x[1:3, ::-2].mean(axis=0),
        xp.concat([x, x * 2]),
        x @ x.T,
        xp.cumulative_sum(x, axis=1),
        xp.take(x, xp.asarray([3, 1]), axis=1),
    )
    walk = topological([a.node() for a in arrays])
    result = meanings_of(walk)
    assert len(result) == len(walk.order)
    for node, described in zip(walk.order, result, strict=True):
        assert (described.kind, described.dtype, described.shape) == (type(node), node.dtype, node.shape)
        assert described.inputs == operands(node, walk.position)
        op = None if node.op is type(node) else node.op
        assert described.name == (type(node).__name__.lower() if op is None else op.name)
    assert {type(n) for n in walk.order} >= {Leaf, Generate}


class TestCosts:
    def steps(self, *arrays):
        return [cost(step.planned.step) for step in _ready(*arrays)]

    def test_elementwise(self):
        x = xp.asarray(np.ones((100, 50), np.float32), device="cpu")
        y = xp.asarray(np.ones(50), device="cpu")
        (result,) = self.steps(x * 2 + y)
        assert (result.read, result.written) == (100 * 50 * 4 + 50 * 8, 100 * 50 * 8)
        assert result.operations >= 2 * 5000

    def test_views_count_the_elements_that_they_reach(self):
        x = xp.asarray(np.ones((100, 50), np.float32), device="cpu")
        (result,) = self.steps(x[::2, :10] + 1)
        assert (result.read, result.written) == (50 * 10 * 4, 50 * 10 * 4)

    def test_sum(self):
        x = xp.asarray(np.ones((100, 50), np.float32), device="cpu")
        (result,) = self.steps(x.sum(axis=1))
        assert (result.read, result.written, result.operations) == (20000, 400, 5000)

    def test_product(self):
        x = xp.asarray(np.ones((30, 40), np.float32), device="cpu")
        (result,) = self.steps(x @ x.T)
        assert (result.written, result.operations) == (30 * 30 * 4, 2 * 30 * 30 * 40)
        assert result.read == 2 * 30 * 40 * 4

    def test_scan_and_gather(self):
        x = xp.asarray(np.ones(1000, np.float32), device="cpu")
        (scanned,) = self.steps(xp.cumulative_sum(x))
        assert (scanned.read, scanned.written) == (4000, 4000)
        (taken,) = self.steps(xp.take(x, xp.asarray(np.arange(10), device="cpu")))
        assert taken.read == 10 * (4 + 8)


def _ready(*arrays):
    prepared, _, _ = evaluate.plan_of([a.node() for a in arrays], arrays[0].device)
    return prepared.pinned.steps


class TestDrawings:
    def test_svg_has_every_step_and_no_overlap(self, x):
        result = xp.explain(program(x))
        for stage, texts in (("plan", ["sort", "add"]), ("graph", ["exp", "sort"]), ("simplified", ["multiply"])):
            root = ET.fromstring(result.svg(stage))
            words = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
            assert all(text in words for text in texts)
            boxes = [{k: float(r.get(k)) for k in ("x", "y", "width", "height")} for r in root.iter(f"{_SVG}rect")]
            assert len(boxes) == len(result.boxes(stage))
            for i, one in enumerate(boxes):
                assert one["x"] >= 0
                assert one["x"] + one["width"] <= float(root.get("width"))
                assert one["y"] + one["height"] <= float(root.get("height"))
                for other in boxes[i + 1 :]:
                    apart = (
                        one["x"] + one["width"] <= other["x"]
                        or other["x"] + other["width"] <= one["x"]
                        or one["y"] + one["height"] <= other["y"]
                        or other["y"] + other["height"] <= one["y"]
                    )
                    assert apart

    def test_dot(self, x):
        lines = xp.explain(program(x)).dot().splitlines()
        assert lines[0] == "digraph gpuarray {"
        assert lines[-1] == "}"
        assert sum("->" in line for line in lines) >= 3
        assert sum("label=" in line and "->" not in line for line in lines) == len(xp.explain(program(x)).boxes())

    def test_quotes_and_angles_are_escaped(self):
        boxes = [drawing.Box("leaf", ('a "<b>" & \\',)), drawing.Box("step", ("c",), "<d>", ((0, "<"),))]
        ET.fromstring(drawing.svg(boxes))
        assert '\\"<b>\\" & \\\\' in drawing.dot(boxes)

    def test_a_wide_and_deep_graph_is_drawn(self):
        x = xp.ones(10, device="cpu")
        xp.evaluate(x)
        y = sum(xp.cumulative_sum(x * i) for i in range(30))
        ET.fromstring(xp.explain(y).svg("graph"))

    def test_page_for_notebooks(self, x):
        page = xp.explain(program(x))._repr_html_()
        assert page.count("<details") == len(STAGES)
        assert "<svg" in page
        assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


_SVG = "{http://www.w3.org/2000/svg}"


def test_a_stencil_shows_offsets():
    x = xp.asarray(np.arange(100.0), device="cpu")
    text = xp.explain(x[:-2] + x[1:-1] + x[2:]).text("plan")
    assert " +1\n" in text
    assert " +2\n" in text


def test_a_long_program_is_a_summary():
    x = xp.asarray(np.arange(100.0), device="cpu")
    parts = [xp.cumsum(x * n) for n in range(40)]
    result = xp.explain(*parts)
    assert len(str(result).splitlines()) < 60
    assert "summary: " in str(result)
    assert "40 steps" in str(result)
    assert len(result.text("plan").splitlines()) > 80


def test_a_placement_has_one_reason():
    x = xp.asarray(np.arange(100.0), device="cpu")
    (step,) = xp.explain(x + 1).steps
    assert step.reason == "the whole plan is for device 'cpu'"


def test_a_report_counts_equal_decisions():
    x = xp.asarray(np.arange(100.0), device="cpu")
    for _ in range(5):
        xp.evaluate(xp.sinh(x))
    lines = [line for line in xp.report()["decisions"] if line.startswith("sinh: cpu")]
    assert len(lines) == 1
    assert "times)" in lines[0]


#: Functions of a symmetric matrix with some of their kernels.
FACTORISATIONS = {
    "cholesky": ("panel", "update"),
    "inv": ("panel", "row interchanges", "triangular solve", "update"),
    "qr": ("panel", "update"),
    "eigh": ("reflector", "update"),
    "svd": ("panel", "update", "rotations", "turns of columns"),
}


@pytest.mark.parametrize("name", FACTORISATIONS)
def test_factorisations_show_the_kernels_that_a_profile_shows(name):
    with xp.using(device="wgpu", direct_pinned=False):
        matrix = xp.asarray(np.diag(np.arange(1, 101, dtype=np.float32)) + 0.01)
        with xp.profile() as profile:
            result = getattr(xp.linalg, name)(matrix)
            xp.synchronize()
    (step,) = xp.explain(result[0] if isinstance(result, tuple) else result).steps
    counts = {kernel.label: kernel.launches for kernel in profile.kernels if kernel.step == name}
    lines = {f"{count} launch{'' if count == 1 else 'es'} of {label}" for label, count in counts.items()}
    assert {*step.launch_lines} == lines
    for part in FACTORISATIONS[name]:
        assert f"{name} {part} float32" in counts


def test_pending_factorisations_show_their_kernels():
    with xp.using(device="wgpu", direct_pinned=False):
        text = str(xp.explain(xp.linalg.det(xp.eye(100, dtype=xp.float32))))
    assert re.search(r"\n  \d launches of det panel float32\n.*launches of det update float32\n", text, re.DOTALL)
