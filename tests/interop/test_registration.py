"""Registration with clients: without a part in their imports, in either order, and never an error."""

import subprocess
import sys
from pathlib import Path

import pytest

import gpuarray as xp
from gpuarray import client_registration, interop

ROOT = Path(__file__).parents[2]


def run_python(code):
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split()


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A package with a table, which is not imported yet, and the file of the module that is to fill it."""
    (tmp_path / "table_client.py").write_text("table = []\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(client_registration, "REGISTRATIONS", {"table_client": "table_registration"})
    monkeypatch.setattr(client_registration, "_pending", {"table_client"})
    monkeypatch.setattr(client_registration, "checked_modules", 0)
    yield tmp_path / "table_registration.py"
    sys.modules.pop("table_client", None)
    sys.modules.pop("table_registration", None)


FILLS = "import table_client\n\ndef register():\n    table_client.table.append('arrays')\n"


def test_a_client_is_registered_with_once_when_the_next_array_is_made(client):
    client.write_text(FILLS, encoding="utf-8")
    xp.zeros(3)
    assert "table_client" not in sys.modules
    import table_client

    assert table_client.table == []
    xp.zeros(3)
    xp.asarray([1, 2])
    assert table_client.table == ["arrays"]


def test_registration_can_be_asked_for(client):
    client.write_text(FILLS, encoding="utf-8")
    interop.register()
    assert "table_client" not in sys.modules
    interop.register("table_client")
    import table_client

    interop.register()
    assert table_client.table == ["arrays"]
    with pytest.raises(ValueError, match="'tables' has no registration; use one of 'table_client'"):
        interop.register("tables")


@pytest.mark.parametrize(
    "code",
    [
        "import no_such_module",
        "from table_client import gone",
        "def register():\n    import table_client\n    table_client.gone",
        "def register():\n    raise RuntimeError('changed')",
    ],
)
def test_a_client_that_changed_is_a_warning(code, client):
    client.write_text(code, encoding="utf-8")
    import table_client

    with pytest.warns(RuntimeWarning, match="could not register its arrays with this version of table_client"):
        x = xp.zeros(3)
    assert x.tolist() == [0, 0, 0]
    xp.zeros(3)  # without another warning
    assert table_client.table == []


CLIENTS = "import dask.array, einops, numba\n"
USES = """
from dask.array.dispatch import percentile_lookup
percentile_lookup.dispatch(xp.GpuArray)
print(einops.rearrange(x, "a b -> (b a)").shape[0])
try:
    numba.typeof(x)
except ValueError as error:
    print("np.asarray(x)" in str(error))
"""


@pytest.mark.parametrize(
    "lines",
    [
        f"{CLIENTS}import gpuarray as xp\nx = xp.zeros((2, 3))\n",
        f"import gpuarray as xp\n{CLIENTS}x = xp.zeros((2, 3))\n",
        f"import gpuarray as xp\nx = xp.zeros((2, 3))\n{CLIENTS}xp.interop.register()\n",
    ],
    ids=["clients first", "package first", "arrays first"],
)
def test_clients_may_be_imported_at_any_time(lines):
    assert run_python("import gpuarray.interop\n" * lines.startswith("import gpuarray") + lines + USES) == ["6", "True"]


def test_dask_registers_by_its_protocol():
    assert run_python("""
import gpuarray as xp
x = xp.arange(100.0)
import dask.array as da
print(type(da.percentile(da.from_array(x, chunks=50), 50).compute()).__name__)
""") == ["GpuArray"]


def test_imports_of_clients_are_left_alone():
    assert run_python("import sys\nbefore = list(sys.meta_path)\nimport gpuarray\nprint(before == sys.meta_path)") == [
        "True"
    ]


def test_no_client_is_imported_by_the_package():
    names = {name.partition(".")[0] for name in client_registration.REGISTRATIONS}
    names |= {"scipy", "pandas", "xarray", "matplotlib", "jax"}
    assert run_python(f"import sys, gpuarray; gpuarray.zeros(3); print(*({names!r} & set(sys.modules)))") == []
