"""The documentation is true: its Python blocks run, its links lead somewhere, its tables are complete."""

import inspect
import json
import linecache
import re
from pathlib import Path

import array_api_strict
import pytest

import gpuarray as xp
from gpuarray.providers import registry

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG"))]
)
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"^<!-- needs: (\w+) -->$", re.MULTILINE)
LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
TAG = re.compile(r'<a href="([^"]+)"')


def named(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path):
    """Return the Python blocks of a page, each with the output shown after it, or None.

    A block that ends in ``# ...`` is a sketch and is left out.
    """
    result = []
    for language, code in FENCE.findall(path.read_text(encoding="utf-8")):
        if language == "python":
            result.append((code, None))
        elif language == "output":
            result[-1] = (result[-1][0], code)
    return [(code, output) for code, output in result if not code.rstrip().endswith("# ...")]


def agrees(shown, printed):
    """Whether a program printed what a page shows, where ``...`` stands for anything."""
    pattern = ".*?".join(re.escape(part) for part in shown.rstrip().split("..."))
    return re.fullmatch(pattern, printed.rstrip(), re.DOTALL) is not None


def anchors(path):
    """Return the anchors that the headings of a page make, as Markdown sites derive them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path)], ids=named)
def test_python_blocks_run(path, tmp_path, monkeypatch, capsys):
    for package in NEEDS.findall(path.read_text(encoding="utf-8")):
        pytest.importorskip(package, reason=f"{package} is no part of the test extra")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(xp.config, "direct_pinned", True)  # the default, which users have
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))  # pages register providers
    names = {"__name__": "__docs__"}
    for number, (code, output) in enumerate(blocks(path), 1):
        where = f"{named(path)}, block {number}"
        linecache.cache[where] = (len(code), None, code.splitlines(keepends=True), where)  # for explain
        capsys.readouterr()
        exec(compile(code, where, "exec"), names)
        printed = capsys.readouterr().out
        assert output is None or agrees(output, printed), f"{where} printed:\n{printed}"


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_links_lead_somewhere(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in LINK.findall(text) + TAG.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        page = (path.parent / file).resolve() if file else path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_page_has_one_title(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1


def test_every_page_can_be_reached():
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md")}
    linked = {ROOT / "docs" / "index.md"}
    waiting = list(linked)
    while waiting:
        page = waiting.pop()
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            result = (page.parent / target.partition("#")[0]).resolve()
            if result in pages and result not in linked:
                linked.add(result)
                waiting.append(result)
    assert pages - linked == set()


@pytest.fixture
def _generator(monkeypatch):
    """The generator's modules can be imported, and the devices that they register are forgotten afterwards."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.syspath_prepend(ROOT / "docs")


@pytest.mark.usefixtures("_generator")
def test_sections_hold_the_names_of_the_standard():
    import standard

    fixed = (standard.CONSTANTS, standard.DTYPES, standard.INSPECTION, standard.VERSION)
    listed = [section.prefix + name for section in (*fixed, *standard.SECTIONS) for name in section.names]
    extensions = {name for name in array_api_strict.__all__ if inspect.ismodule(getattr(array_api_strict, name))}
    own = {name for name in array_api_strict.__all__ if "flags" in name.lower()} | {"Device", "__version__"}
    expected = set(array_api_strict.__all__) - extensions - own
    for extension in extensions:
        expected |= {f"{extension}.{name}" for name in getattr(array_api_strict, extension).__all__}
    assert len(listed) == len(set(listed))
    assert set(listed) == expected
    assert set(standard.CALLS) | set(standard.NOTES) <= set(listed)


@pytest.mark.usefixtures("_generator")
def test_every_function_is_on_a_page_of_the_reference():
    import api

    assert api.unlisted() == []


@pytest.mark.usefixtures("_generator")
def test_page_of_speeds_holds_all_figures(tmp_path, monkeypatch):
    import performance

    facts = {"date": "2026-11-21", "gpu": [], "adapters": [], "processor": "a processor", "cores": 2}
    row = {"size": 1000, "topic": "elementwise", "wrong": False, "note": "", "queued_ms": None, "of_limit": 0.5}
    gpu = {**row, "workload": "chain", "place": "gpu", "device_ms": None}
    cpu = {**row, "workload": "sum-10m", "place": "cpu", "topic": "processors", "extra_mib": 3.2}
    document = {
        "facts": {**facts, "peers": {"numpy": "2"}},
        "rows": [
            {**gpu, "peer": "gpuarray-wgpu", "call_ms": 2.0, "queued_ms": 0.75, "device_ms": 0.5},
            {**gpu, "peer": "gpuarray-jit-wgpu", "call_ms": 1.5, "queued_ms": 0.6},
            {**gpu, "peer": "torch-compile-cuda", "call_ms": 1.0, "queued_ms": 0.9},
            {**gpu, "peer": "cupy", "call_ms": 3.0, "queued_ms": 3.0, "wrong": True, "note": "differs by much"},
            {**gpu, "peer": "jax-gpu", "call_ms": None},
            {**cpu, "peer": "gpuarray-cpu", "call_ms": 2.0},
            {**cpu, "peer": "numpy", "call_ms": 1.5, "extra_mib": None},
            {**cpu, "workload": "chain-10m", "peer": "gpuarray-cpu", "call_ms": 2.0},
            {**cpu, "workload": "chain-10m", "peer": "numpy", "call_ms": 9.0},
        ],
        "probes": {"record": {"cpu: microseconds_per_operation": 1.25}},
    }
    (tmp_path / "performance-desk.json").write_text(json.dumps(document))
    points = [{"workload": "sum", "size": 1000, "ratio": 1.5}, {"workload": "add", "size": 100, "ratio": 1.0}]
    (tmp_path / "placement-desk.json").write_text(json.dumps({"adapter": "a GPU", "rows": points}))
    (tmp_path / "performance-notes.json").write_text(json.dumps({"Sorting": "Not measured here."}))
    monkeypatch.setattr(performance, "DATA", tmp_path)
    text = "\n".join(performance.page())
    assert "- **desk**: 2026-11-21; no GPU; 2 cores of a processor" in text
    fused = text.partition("## Fused")[2].partition("##")[0]
    columns = "ours | ours, jit | torch.compile | CuPy | JAX | best peer | of target | kernels | of limit |"
    assert f"| desk | size | {columns}" in fused
    times = "0.750 (2.000) | 0.600 (1.500) | 0.900 (1.000) | 3.000 (3.000)\\* | "
    cells = f"{times} | 1.50 (torch.compile) | 150% | 0.500 | 50% |"
    assert f"| chain | 1,000 | {cells}" in fused
    assert "CuPy: the result differs by much from NumPy's" in fused
    assert "| sum-10m | 1,000 | 2.000 | 1.500 | 0.75 (NumPy) | 83% | 3 MiB |" in text.partition("## On CPUs")[2]
    assert "| chain-10m | 1,000 | 2.000 | 9.000 | 4.50 (NumPy) | 150% | 3 MiB |" in text
    assert "**a GPU**: 1 of 2 points within 1.15x; maximum 1.50x." in text
    assert "| sum |  | 1.50 |\n| add | 1.00 |  |" in text
    assert "Not measured here." in text.partition("## Sorting")[2].partition("##")[0]
    assert "microseconds per operation | 1.25 |" in text


@pytest.mark.usefixtures("_generator")
def test_table_tells_what_runs_where():
    import placement
    from standard import CALLS

    def listed(call, capabilities):
        result = placement.placement(call, capabilities)
        return list(result.kernels), list(result.host_steps), result.waits

    full, plain = placement.FULL, placement.PLAIN
    assert listed(lambda x: xp.exp(x) * 2, full) == (["map"], [], False)
    assert listed(lambda x: xp.sum(x, axis=0), full) == (["reduction"], [], False)
    assert listed(xp.linalg.det, full) == (["`det`"], [], False)
    assert listed(xp.linalg.eigvals, full) == ([], ["eigvals"], True)
    assert listed(xp.nonzero, full)[1:] == ([], True)
    assert listed(CALLS["reshape"], full) == ([], [], False)
    hosted = placement.placement(xp.exp, plain).hosted
    assert {dtype.name for dtype in hosted} == {"float64", "complex128"}
    assert placement.placement(xp.exp, full).hosted == []
