"""What must be true of the package as a whole: what it imports, what it reads, how it is cut into files."""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

import gpuarray
from gpuarray.settings import Config

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "gpuarray").rglob("*.py"))
LONGEST_FILE = 500


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )


def test_import_loads_no_wgpu_and_opens_nothing():
    code = "import sys, gpuarray; print(sorted({'wgpu', 'cffi'} & set(sys.modules)))"
    finished = run_python("-c", code)
    assert finished.stdout.strip() == "[]", finished.stderr


def test_version_is_the_projects():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert gpuarray.__version__ == project["version"]


def test_changelog_knows_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(gpuarray.__version__)}\]", changelog, re.MULTILINE)


def test_all_is_complete():
    assert len(set(gpuarray.__all__)) == len(gpuarray.__all__)
    assert [name for name in gpuarray.__all__ if not hasattr(gpuarray, name)] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_file_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


def test_only_config_reads_the_environment():
    reading = re.compile(r"\b(environ|getenv)\b")
    result = [path.name for path in SOURCES if reading.search(path.read_text(encoding="utf-8"))]
    assert result == ["config.py"]


def test_type_ignores_give_a_reason():
    bare = re.compile(r"#\s*type:\s*ignore(?!\[[\w, -]+\]\s+#\s*\S)")
    result = [str(path) for path in SOURCES if bare.search(path.read_text(encoding="utf-8"))]
    assert result == []


@pytest.mark.parametrize("field", fields(Config), ids=lambda field: field.name)
def test_setting_is_documented(field):
    assert field.metadata["doc"].endswith(".")


def test_generated_pages_are_current():
    finished = run_python("docs/generate.py", "--check")
    assert finished.returncode == 0, finished.stderr


def test_wheel_holds_the_package_its_shaders_and_its_page_only():
    included = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert included["wheel"]["packages"] == ["gpuarray"]
    built = {".pyc", ".so", ".pyd"}
    paths = [path for path in (ROOT / "gpuarray").rglob("*") if path.is_file() and path.suffix not in built]
    assert {path.suffix or path.name for path in paths} <= {".py", ".c", ".h", ".wgsl", ".json", ".html", ".typed"}


def test_report_has_every_section():
    finished = run_python("-m", "gpuarray")
    assert finished.returncode == 0, finished.stderr
    for title in ("Versions", "Adapters", "Self test", "Auto", "Cache", "Settings"):
        assert f"\n{title}" in f"\n{finished.stdout}"
    assert "not available" not in finished.stdout


@pytest.mark.parametrize("device", ["auto", "cpu", "wgpu"])
def test_demo(device, tmp_path):
    finished = run_python("-m", "gpuarray", "demo", "--device", device, "--size", "160x90", "--out", str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "before.png").exists()
    assert (tmp_path / "after.png").exists()
    difference = re.search(r"picture, 0 to 1 +(\S+)", finished.stdout)
    assert difference is not None
    assert float(difference[1]) < 1e-5


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--size", "huge"], "use one of hd, 4k, 8k"),
        (["--device", "tpu"], "tpu"),
        (["--image", "missing.jpg"], "missing.jpg"),
    ],
)
def test_demo_says_what_is_wrong(arguments, expected, tmp_path):
    finished = run_python("-m", "gpuarray", "demo", "--out", str(tmp_path), *arguments)
    assert finished.returncode != 0
    assert expected in finished.stderr
    assert "Traceback" not in finished.stderr


def test_demo_without_pillow_names_the_extra(tmp_path):
    code = (
        "import sys; sys.modules['PIL'] = None; from gpuarray.__main__ import main; "
        f"sys.exit(main(['demo', '--out', {str(tmp_path)!r}]))"
    )
    finished = run_python("-c", code)
    assert finished.returncode == 1
    assert "pip install pillow" in finished.stderr


def test_benchmarks_run_and_agree_with_numpy(tmp_path):
    figures = tmp_path / "figures.json"
    arguments = ["--device", "cpu,wgpu", "--peers", "numpy", "--scale", "1/4096", "--seconds", "0.01"]
    workloads = "copy,chain,sum,sum-axis-0,var,softmax,tiny,runmat-elementwise"
    finished = run_python("-m", "bench", *arguments, "--workloads", workloads, "--json", str(figures))
    assert finished.returncode == 0, finished.stdout + finished.stderr
    rows = json.loads(figures.read_text(encoding="utf-8"))["rows"]
    assert {row["peer"] for row in rows} == {"numpy", "gpuarray-cpu", "gpuarray-wgpu"}
    assert [row for row in rows if row["note"]] == []
