"""Registration with clients: after their import, in either order, and never in their way."""

import inspect
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from gpuarray.interop import after_import

ROOT = Path(__file__).parents[2]
CLIENT = "table = []\n\n\ndef lookup():\n    return table\n"


def run_python(code):
    return subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A package with a table, and the name of the module that is to fill it."""
    (tmp_path / "table_client.py").write_text(CLIENT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(after_import.REGISTRATIONS, "table_client", "table_registration")
    yield tmp_path / "table_registration.py"
    sys.modules.pop("table_client", None)
    sys.modules.pop("table_registration", None)


def test_registration_follows_the_import(client):
    client.write_text(
        "import table_client\n\ndef register():\n    table_client.table.append('arrays')\n", encoding="utf-8"
    )
    import table_client

    assert table_client.lookup() == ["arrays"]


def test_module_is_what_it_would_be_without(client):
    client.write_text("def register():\n    pass\n", encoding="utf-8")
    import table_client

    assert type(table_client.__loader__) is type(table_client.__spec__.loader) is SourceFileLoader
    assert inspect.getsource(table_client.lookup).startswith("def lookup")


@pytest.mark.parametrize(
    "code", ["import no_such_module", "from table_client import gone", "import table_client as t\nt.gone"]
)
def test_a_client_that_changed_is_a_warning(code, client):
    client.write_text(code, encoding="utf-8")
    with pytest.warns(RuntimeWarning, match="could not register its arrays with this version of table_client"):
        import table_client
    assert table_client.lookup() == []


def test_clients_may_be_imported_first():
    code = """
import dask.array, einops, numba
import gpuarray as xp
from dask.array.dispatch import percentile_lookup

percentile_lookup.dispatch(xp.GpuArray)
print(einops.rearrange(xp.zeros((2, 3)), "a b -> (b a)").shape)
try:
    numba.typeof(xp.zeros(3))
except ValueError as error:
    print("np.asarray(x)" in str(error))
"""
    finished = run_python(code)
    assert finished.stdout.split("\n")[:2] == ["(6,)", "True"], finished.stderr


def test_no_client_is_imported_by_the_package():
    clients = {name.partition(".")[0] for name in after_import.REGISTRATIONS} | {
        "pandas",
        "xarray",
        "matplotlib",
        "jax",
    }
    finished = run_python(f"import sys, gpuarray; print(sorted({clients!r} & set(sys.modules)))")
    assert finished.stdout.strip() == "[]", finished.stderr
