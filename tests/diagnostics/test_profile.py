"""`profile`: what it measures, and the files that it writes."""

import io
import itertools
import json
import re
import threading
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from support import capabilities_of

import gpuarray as xp
from gpuarray import observers
from gpuarray.diagnostics import profile
from gpuarray.diagnostics.profile_lines import advice, lines_of
from gpuarray.diagnostics.profile_result import PHASES, Span
from gpuarray.providers import registry
from gpuarray.providers.wgpu import dispatch, driver, metrics
from gpuarray.source_locations import SourceLocation


def program(x):
    total = xp.sum(xp.exp(x) * 2 + 1, axis=1)
    return np.asarray(xp.sort(total) + 3)


@pytest.fixture
def x(device):
    return xp.asarray(np.linspace(0, 1, 300_000, dtype=np.float32).reshape(200, 1500))


@pytest.fixture
def profiled(x):
    program(x * 1)
    with xp.profile() as p:
        for _ in range(3):
            program(x)
    return p


def test_kernels_and_counts(x, profiled):
    p = profiled
    assert {kernel.step for kernel in p.kernels} == {"exp+multiply+add+sum", "sort", "add"}
    assert p.counters["evaluations"] == 3
    assert len(p.launches) == p.counters["launches"] == sum(kernel.launches for kernel in p.kernels)
    assert all(kernel.launches % 3 == 0 for kernel in p.kernels)
    assert p.counters["bytes_downloaded"] == 3 * 200 * 4
    assert p.counters["peak_bytes"] >= 2 * 200 * 4
    totals = [kernel.total for kernel in p.kernels]
    assert totals == sorted(totals, reverse=True)
    lines = {line for kernel in p.kernels for line in kernel.places}
    assert lines
    assert all(re.search(r"test_profile\.py:\d+$", line) for line in lines)


def test_times_are_consistent(x, profiled):
    p = profiled
    assert 0 < p.kernel_time <= p.wall
    assert all(launch.start <= launch.stop for launch in p.launches)
    assert all(after.start >= before.stop for before, after in zip(p.launches, p.launches[1:], strict=False))
    assert set(p.phases) == set(PHASES)
    assert sum(p.phases.values()) == pytest.approx(p.wall, rel=0.05)
    has_clock = "timestamp-query" in capabilities_of(x.device).features
    assert all(kernel.is_device_time == has_clock for kernel in p.kernels)
    assert (p.phases["run"] > 0) == (x.device.kind != "wgpu")


def test_lines_have_the_time_of_what_they_asked_for(profiled):
    p = profiled
    assert [line.total for line in p.lines] == sorted((line.total for line in p.lines), reverse=True)
    kernels = sum(line.times["kernels"] for line in p.lines)
    assert kernels == p.kernel_time
    assert sum(line.evaluations for line in p.lines) == p.counters["evaluations"]
    assert all(re.search(r"test_profile\.py:\d+$", line.place) for line in p.lines)
    assert {line.text for line in p.lines} >= {"xp.sort(total) + 3"}


def test_a_line_shows_the_expression_around_the_one_that_took_most_of_the_time():
    times = (("eye(3)", 2), ("solve(eye(3))", 0), ("svd(a)", 3), ("eye(3)", 2))
    launches = [(SourceLocation("program.py", 1, "main", text), elapsed) for text, elapsed in times]
    (line,) = lines_of([], [], launches)
    assert (line.text, line.total) == ("solve(eye(3))", 7)
    (line,) = lines_of([], [], launches[:3])
    assert line.text == "svd(a)"


@pytest.mark.parametrize(
    ("each", "text"), [(2_000, "small operations, computed one by one"), (2_000_000, "compute one array each")]
)
def test_advice_tells_overhead_from_work(each, text):
    spans = [Span(observers.DIRECT, "", each * number, each * (number + 1), 0, 0) for number in range(50)]
    measured = SimpleNamespace(phases={observers.DIRECT: 50 * each}, launches=[], lines=[], spans=spans, wall=60 * each)
    assert text in advice(measured)


def test_advice_names_the_line_whose_indices_change():
    x = xp.asarray(np.arange(300.0), device="cpu")
    with xp.profile() as p:
        for i in range(60):
            xp.evaluate(x[i:] * 2 + x[: 300 - i])
    assert max(p.lines, key=lambda line: line.plans).plans == 60
    assert "the time went into finding and making plans" in p.advice
    assert "60 different plans" in p.advice
    assert "test_profile.py" in p.advice
    assert p.advice in str(p)


def test_text_shows_fifteen_rows_of_each_table():
    x = xp.asarray(np.arange(300.0), device="cpu")
    program = "\n".join(f"xp.evaluate(x[{n}:] * 2)" for n in range(20))
    with xp.profile() as p:
        exec(compile(program, "many_lines.py", "exec"), {"xp": xp, "x": x})
    assert len(p.lines) == 20
    assert 2 * 15 <= str(p).count("many_lines.py") <= 2 * 15 + 1  # the advice may name one too
    assert "and 5 more lines" in str(p)


def test_factorisations_have_lines():
    with xp.profile() as p:
        xp.linalg.svd(xp.asarray(np.eye(40), device="cpu"))
    (kernel,) = p.kernels
    assert kernel.label == "svd"
    assert re.search(r"test_profile\.py:\d+$", kernel.places[0])


def test_bytes_are_those_of_the_plan(profiled):
    kernel = next(kernel for kernel in profiled.kernels if kernel.step == "add")
    assert (kernel.read, kernel.written) == (3 * 800, 3 * 800)
    assert kernel.operations == 3 * 200
    assert kernel.bandwidth == pytest.approx(4800 / kernel.total)


def test_text(profiled):
    text = str(profiled)
    for word in ("wall time", "kernel", "GB/s", "of copy", "GFLOP/s", "peak memory", "test_profile.py"):
        assert word in text
    assert f"{len(profiled.launches)} launches" in repr(profiled)


def test_transfers_compiles_and_fallbacks_are_counted():
    x = np.ones((5, 5), np.float32) + np.eye(5, dtype=np.float32)
    with xp.profile() as p:
        y = xp.asarray(x, device="wgpu")
        xp.evaluate(xp.linalg.eigvals(y * 1.25))
    assert p.counters["bytes_uploaded"] >= x.nbytes
    assert {span.phase for span in p.spans} >= {"upload", "plan", "encode"}
    ((function, _), times), *others = p.fallbacks.items()
    assert (function, times, others) == ("eigvals", 1, [])
    assert "on the host: eigvals" in str(p)


def test_nothing_is_told_outside_a_block(x):
    with xp.profile() as p:
        program(x)
    assert observers.active == ()
    count = len(p.launches)
    program(x)
    xp.synchronize()
    assert len(p.launches) == count


def test_a_block_that_fails_leaves_nothing_behind(x):
    result = []

    def fail():
        with xp.profile() as p:
            result.append(p)
            program(x)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert observers.active == ()
    assert result[0].wall > 0


def test_blocks_within_blocks(x):
    with xp.profile() as outer:
        program(x)
        with xp.profile() as inner:
            program(x)
    assert inner.counters["launches"] * 2 == outer.counters["launches"]
    assert len(inner.launches) * 2 == len(outer.launches)


def test_threads_are_tracks_of_their_own(x):
    together = threading.Barrier(2)  # so that the second has not the number of the first

    def work(factor):
        together.wait()
        with xp.using(direct_limit=0):  # settings of using() hold in one thread
            program(x * factor)
        together.wait()

    with xp.profile() as p:
        workers = [threading.Thread(target=work, args=(factor,)) for factor in (2.5, 3.5)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert len({event["tid"] for event in p.trace_events() if event.get("cat") == "evaluation"}) == 2


def test_more_launches_than_a_page_holds(monkeypatch):
    monkeypatch.setattr(metrics, "_PAGE", 32)
    monkeypatch.setattr(metrics, "_PAGES", 2)
    x = xp.asarray(np.ones(64, np.float32), device="wgpu")
    provider = registry.open_device(x.device)
    monkeypatch.setattr(provider._dispatcher, "_timer", None)
    with xp.profile() as p:
        y = x
        for i in range(100):
            y = y + i
            xp.evaluate(y)
    assert len(p.launches) == 100
    assert sum(kernel.launches for kernel in p.kernels) == 100
    assert p.kernel_time <= p.wall
    assert np.asarray(y)[0] == 1 + sum(range(100))
    provider._dispatcher._timer = None  # its pages are small


def test_a_device_without_a_clock_is_timed_by_the_hosts(monkeypatch):
    x = xp.asarray(np.ones(64, np.float32), device="wgpu")
    provider = registry.open_device(x.device)
    timer = metrics.LaunchTimer(provider._driver, "wgpu:0")
    timer._has_clock, timer._page = False, None
    monkeypatch.setattr(provider._dispatcher, "_timer", timer)
    with xp.profile() as p:
        y = np.asarray(xp.exp(x) + 1)
    np.testing.assert_allclose(y, np.e + 1, rtol=1e-6)
    (kernel,) = p.kernels
    assert not kernel.is_device_time
    assert 0 < kernel.total <= p.wall
    assert "* by the host's clock" in str(p)


@pytest.mark.parametrize("inside", [True, False])
def test_launches_of_one_submit_are_timed_one_by_one(inside, monkeypatch):
    x = xp.asarray(np.ones(100_000, np.float32), device="wgpu")
    driver = registry.open_device(x.device)._driver
    assert driver._stamps_inside
    monkeypatch.setattr(driver, "_stamps_inside", inside)
    with xp.profile() as p:
        np.asarray(xp.cumsum(xp.sort(xp.exp(x))))
    assert len(p.launches) > 4
    assert all(one.stop <= other.start for one, other in itertools.pairwise(p.launches))
    assert all(launch.stop > launch.start for launch in p.launches)
    assert p.launches[-1].stop <= p.stop


@pytest.mark.parametrize("is_public", [False, True])
def test_what_is_submitted_together_again_is_timed_together(is_public, monkeypatch):
    monkeypatch.setattr(metrics, "_IN_DETAIL", 2)
    monkeypatch.setattr(metrics, "_DETAIL_INTERVAL", 4)
    monkeypatch.setattr(metrics, "_SAMPLE_INTERVAL", metrics._FIRST_SAMPLE)
    monkeypatch.setattr(metrics, "_RAPID_NS", 0)
    monkeypatch.setattr(dispatch, "_TOGETHER", 1)
    xs = [xp.asarray(np.ones(size, np.float32), device="wgpu") for size in (100, 1 << 18, 300)]
    provider = registry.open_device(xs[0].device)
    made = driver.PublicDriver(provider.gpu_device) if is_public else provider._driver
    monkeypatch.setattr(provider._dispatcher, "_driver", made)
    monkeypatch.setattr(provider._dispatcher, "_timer", metrics.LaunchTimer(made, "wgpu:0"))
    stamps, submit = [], made.submit_timed

    def counted(commands, queries, first, number, download=None):
        stamps.append((len(commands), number))
        submit(commands, queries, first, number, download)

    monkeypatch.setattr(made, "submit_timed", counted)
    with xp.profile() as p:
        for _ in range(7):
            xp.evaluate(*[xp.exp(x) + 1 for x in xs])
    assert stamps == [(3, 4), (3, 4), (3, 2), (3, 2), (3, 2), (3, 4), (3, 2)]
    assert len(p.launches) == 21
    assert all(one.stop <= other.start for one, other in itertools.pairwise(p.launches))
    assert all(
        one.stop == other.start for k in range(0, 21, 3) for one, other in itertools.pairwise(p.launches[k : k + 3])
    )
    took = np.array([launch.stop - launch.start for launch in p.launches]).reshape(7, 3)
    detailed = took[[0, 1, 5]].sum(axis=0)
    shares = took[[3, 4, 6]] / took[[3, 4, 6]].sum(axis=1, keepdims=True)
    assert (took > 0).all()
    np.testing.assert_allclose(shares[-1], detailed / detailed.sum(), rtol=0.05)
    assert {kernel.launches for kernel in p.kernels} == {7}
    assert p.kernel_time <= p.wall


def test_of_submits_that_follow_each_other_quickly_some_are_timed(monkeypatch):
    monkeypatch.setattr(metrics, "_RAPID_NS", 10**12)
    monkeypatch.setattr(metrics, "_DETAIL_INTERVAL", 64)
    monkeypatch.setattr(metrics, "_SAMPLE_INTERVAL", 8)
    monkeypatch.setattr(dispatch, "_TOGETHER", 1)
    xs = [xp.asarray(np.ones(size, np.float32), device="wgpu") for size in (100, 1 << 18)]
    provider = registry.open_device(xs[0].device)
    monkeypatch.setattr(provider._dispatcher, "_timer", metrics.LaunchTimer(provider._driver, "wgpu:0"))
    stamps, submit = [], provider._driver.submit_timed

    def counted(commands, queries, first, number, download=None):
        stamps.append(number)
        submit(commands, queries, first, number, download)

    monkeypatch.setattr(provider._driver, "submit_timed", counted)
    with xp.profile() as p:
        for _ in range(70):
            xp.evaluate(*[xp.exp(x) + 1 for x in xs])
    assert stamps == [3] + [2] * 7 + [3]  # of 69 that are known one in eight, and the last of 64 in detail
    assert len(p.launches) == 140
    assert {kernel.launches for kernel in p.kernels} == {70}
    assert all(one.stop <= other.start for one, other in itertools.pairwise(p.launches))
    assert all(launch.stop >= launch.start for launch in p.launches)
    assert p.start <= p.launches[0].start
    assert p.launches[-1].stop <= p.stop
    took = np.array([launch.stop - launch.start for launch in p.launches]).reshape(70, 2)
    assert (took.sum(axis=1) > 0).all()
    assert 0.2 < took[8:].sum() / took[:8].sum() * 8 / 62 < 5  # those that were not timed are like those that were
    assert p.kernel_time <= p.wall


def test_repeats_are_sampled(monkeypatch):
    monkeypatch.setattr(observers, "_SHORT_NS", 10**12)
    x = xp.asarray(np.ones(64, np.float32), device="cpu")
    recorded = []
    collect = profile._EventStore.evaluated
    monkeypatch.setattr(
        profile._EventStore, "evaluated", lambda heard: recorded.extend(collect(heard)) or iter(recorded)
    )
    with xp.profile() as p:
        for _ in range(100):
            xp.evaluate(x + 1)
            xp.evaluate(xp.exp(x) * 2)
    assert len(recorded) == 2 * 4  # the 1st, 2nd, 35th and 100th
    assert len(p.launches) == p.counters["launches"] == 200
    assert len(p.evaluations) == p.counters["evaluations"] == 200
    assert sorted(kernel.launches for kernel in p.kernels) == [100, 100]
    assert all(one.stop <= other.start for one, other in itertools.pairwise(p.launches))
    assert all(launch.stop > launch.start for launch in p.launches)
    for evaluation, start, stop, _ in p.evaluations:
        steps = {id(step) for step in evaluation.placed.steps}
        (own,) = [launch for launch in p.launches if start <= launch.start < stop]
        assert id(own.tag) in steps
        assert own.stop <= stop
    assert sum(p.phases.values()) == pytest.approx(p.wall, rel=0.01)
    assert p.phases["run"] == p.kernel_time <= p.wall


def test_replays_are_sampled(x, monkeypatch):
    monkeypatch.setattr(observers, "_SHORT_NS", 10**12)
    step = xp.jit(lambda a: xp.exp(a) + 1)
    for _ in range(4):
        xp.evaluate(step(x))
    before = xp.stats()
    with xp.profile() as p:
        for _ in range(50):
            y = step(x)
        y = np.asarray(y)
    evaluations = xp.stats()["evaluations"] - before["evaluations"]
    assert len(p.evaluations) == p.counters["evaluations"] == evaluations >= 50
    assert len(p.launches) == p.counters["launches"] >= 50
    assert not observers.is_sampled_out()
    assert p.kernel_time <= p.wall
    np.testing.assert_allclose(y, np.exp(np.asarray(x)) + 1, rtol=1e-5)


def test_of_quick_submits_one_is_timed_soon_in_each_block(monkeypatch):
    monkeypatch.setattr(metrics, "_RAPID_NS", 10**12)
    monkeypatch.setattr(dispatch, "_TOGETHER", 1)
    x = xp.asarray(np.ones(64, np.float32), device="wgpu")
    provider = registry.open_device(x.device)
    monkeypatch.setattr(provider._dispatcher, "_timer", metrics.LaunchTimer(provider._driver, "wgpu:0"))
    stamps, submit = [], metrics.LaunchTimer._stamps
    monkeypatch.setattr(
        metrics.LaunchTimer, "_stamps", lambda timer, *what: stamps.append(submit(timer, *what)) or stamps[-1]
    )
    for _ in range(2):
        stamps.clear()
        with xp.profile() as p:
            for _ in range(75):
                xp.evaluate(x + 1)
        assert [number for number, count in enumerate(stamps) if count] == [0, 8, 69]
        assert len(p.launches) == p.counters["launches"] == 75


def test_the_public_driver_measures_too(monkeypatch):
    x = xp.asarray(np.ones(64, np.float32), device="wgpu")
    provider = registry.open_device(x.device)
    public = driver.PublicDriver(provider.gpu_device)
    timer = metrics.LaunchTimer(public, "wgpu:0")
    monkeypatch.setattr(provider._dispatcher, "_timer", timer)
    monkeypatch.setattr(provider._dispatcher, "_driver", public)
    with xp.profile() as p:
        xp.evaluate(xp.exp(x) + 1)
    assert len(p.launches) == 1
    assert p.launches[0].stop > p.launches[0].start


class TestTrace:
    def test_it_has_the_form_of_chrome_traces(self, x, profiled, tmp_path):
        document = json.loads(profiled.trace(tmp_path / "trace.json").read_text())
        assert document["displayTimeUnit"] in ("ms", "ns")
        named = set()
        for event in document["traceEvents"]:
            assert event["ph"] in ("X", "M")
            assert isinstance(event["pid"], int)
            assert isinstance(event["tid"], int)
            assert isinstance(event["name"], str)
            assert event["name"]
            if event["ph"] == "M":
                assert event["name"] in ("process_name", "thread_name")
                assert isinstance(event["args"]["name"], str)
                named.add((event["pid"], event["tid"]))
            else:
                assert event["ts"] >= 0
                assert event["dur"] >= 0
                assert isinstance(event["args"], dict)
                assert (event["pid"], event["tid"]) in named
        kernels = [event for event in document["traceEvents"] if event.get("cat") == "kernel"]
        assert len(kernels) == len(profiled.launches)
        names = {e["args"]["name"] for e in document["traceEvents"] if e["name"] == "process_name"}
        assert names == {"host", x.device.name}

    def test_spans_of_a_track_nest(self, profiled):
        tracks = {}
        for event in profiled.trace_events():
            if event["ph"] == "X":
                tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
        for spans in tracks.values():
            for one in spans:
                for other in spans:
                    crosses = one[0] < other[0] < one[1] < other[1]
                    assert not crosses or other[0] - one[1] < 1e-3


class Page(HTMLParser):
    """Collects what a page consists of, and checks that its elements are closed."""

    VOID = frozenset(("meta", "link", "br", "img", "input", "hr"))

    def __init__(self):
        super().__init__()
        self.open, self.found, self.texts = [], [], {}

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)


class TestPage:
    @pytest.fixture
    def text(self, profiled, tmp_path):
        return profiled.html(tmp_path / "profile.html").read_text(encoding="utf-8")

    @pytest.fixture
    def page(self, text):
        page = Page()
        page.feed(text)
        assert page.open == []
        return page

    def test_it_refers_to_nothing_outside(self, page, text):
        for _, attributes in page.found:
            for name in ("src", "href", "action", "data", "srcset"):
                assert attributes.get(name, "data:,").startswith(("data:", "#"))
        assert "@import" not in text
        assert "url(" not in text
        assert set(re.findall(r"https?://[^\s\"'<)]+", text)) <= {"http://www.w3.org/2000/svg"}
        for call in ("fetch(", "XMLHttpRequest", "WebSocket", "import("):
            assert call not in text

    def test_it_has_timeline_kernels_and_plans(self, page, profiled):
        kinds = [tag for tag, _ in page.found]
        assert kinds.count("canvas") == 1
        assert kinds.count("svg") == len(profiled.plans) >= 1
        rows = [a for tag, a in page.found if tag == "tr" and "title" in a]
        assert len(rows) == len(profiled.kernels)
        values = [a["data-value"] for tag, a in page.found if tag == "td" and "data-value" in a]
        assert float(values[2]) == profiled.kernels[0].total

    def test_the_timeline_has_every_launch(self, text, profiled):
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1].replace("<\\/", "</"))
        assert sum(bar[3] == "kernel" for bar in data["bars"]) == len(profiled.launches)
        assert all(0 <= bar[0] < len(data["tracks"]) for bar in data["bars"])
        assert data["wall"] == pytest.approx(profiled.wall / 1e3)
        assert data["left_out"] == 0

    def test_drawings_are_sound(self, text):
        for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
            ET.fromstring(drawing)

    def test_texts_are_escaped(self, tmp_path):
        names = {"xp": xp, "np": np}
        code = compile("with xp.profile() as p:\n  y = np.asarray(xp.ones(3, device='cpu') + 1)", "<b>&.py", "exec")
        exec(code, names)
        text = names["p"].html(tmp_path / "p.html").read_text()
        assert "<b>&" not in text.split('id="data"')[0]
        assert "&lt;b&gt;&amp;" in text

    def test_tables_for_notebooks(self, profiled):
        assert profiled._repr_html_().count("<table") == 3  # facts, lines and kernels


def test_a_profile_submits_no_more_than_the_program():
    x = xp.asarray(np.ones(300, np.float32), device="wgpu")

    def submits():
        before = xp.stats()["submits"]
        assert [float(xp.sum(x * 2)) for _ in range(3)] == [600, 600, 600]
        xp.evaluate(x + 1, xp.flip(x) * 3)
        xp.synchronize()
        return xp.stats()["submits"] - before

    submits()
    alone = submits()
    with xp.profile() as p:
        assert submits() == alone
    assert len(p.launches) == p.counters["launches"]
    assert [launch.start for launch in p.launches] == sorted(launch.start for launch in p.launches)


def test_the_ceiling_is_measured_once(monkeypatch):
    x = xp.asarray(np.ones(64, np.float32), device="cpu")
    with xp.profile() as p:
        xp.evaluate(x + 1)
    rate = p.ceiling("cpu")
    assert rate > 0.1
    xp.reset_stats()
    assert p.ceiling("cpu") == rate
    assert xp.stats()["launches"] == 0


def test_rich_shows_the_same_rows(profiled):
    console = pytest.importorskip("rich.console").Console(width=200, record=True, file=io.StringIO())
    console.print(profiled)
    text = console.export_text()
    assert all(kernel.label.split()[0] in text for kernel in profiled.kernels)
