"""What the runner of SciPy's and scikit-learn's own tests makes of their names and reports."""

import importlib.util
import json
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "suites" / "run.py"


@pytest.fixture(scope="module")
def run():
    spec = importlib.util.spec_from_file_location("suites_run", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("a.py::T::test[gpuarray-float32]", "a.py::T::test[array_api_strict-float32]"),
        ("a.py::T::test[gpuarray]", "a.py::T::test[array_api_strict]"),
        ("a.py::test[3-gpuarray-wgpu-float64]", "a.py::test[3-array_api_strict-cpu-float64]"),
        (
            "a.py::test[check(namespace=gpuarray,device=wgpu)]",
            "a.py::test[check(namespace=array_api_strict,device=cpu)]",
        ),
        ("a.py::test", "a.py::test"),
    ],
)
def test_names_are_compared_without_namespace_and_device(run, ours, theirs):
    assert run.without_namespace(ours, "gpuarray", "wgpu") == run.without_namespace(theirs, "array_api_strict", "cpu")


def test_names_differ_by_their_other_parameters(run):
    names = ["a.py::test[gpuarray-cpus-float32]", "a.py::test[gpuarray-float32]", "b.py::test[gpuarray-float32]"]
    assert len({run.without_namespace(name, "gpuarray", "cpu") for name in names}) == 3


def test_saved_reports_tell_what_passes_elsewhere(run, tmp_path):
    for number, names in enumerate([["a.py::test[strict-1]"], ["b.py::test[strict-cpu]", "b.py::test"]]):
        report = {"names": ["strict", "cpu"], "outcomes": {"passed": names, "failed": ["a.py::test[strict-2]"]}}
        (tmp_path / f"{number}.json").write_text(json.dumps(report))
    assert run.passed_elsewhere(sorted(tmp_path.iterdir())) == {"a.py::test[1]", "b.py::test[]", "b.py::test"}


@pytest.mark.parametrize("client", ["scipy", "sklearn"])
def test_known_failures_have_causes(run, client):
    known = run.known_failures(client)
    assert all(cause.strip() for cause in known.values())
    assert not any(
        pattern.search("scipy/stats/tests/test_stats.py::TestMode::test_basic[gpuarray]") for pattern in known
    )
