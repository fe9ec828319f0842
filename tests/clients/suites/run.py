"""Runs the array-API tests of SciPy or scikit-learn with gpuarray for a namespace, and sums up: run.py --help.

The tests are those that the installed packages carry; nothing of them is copied, and nothing is written beside them.
"""

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
_COLUMNS = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")


@dataclass(frozen=True)
class Client:
    """How a client's tests are run.

    Attributes
    ----------
    plugin : str
        The pytest plugin of this folder that puts the namespace under test.
    select : tuple of str
        Which tests are those of namespaces, as options of pytest.
    device : str
        The environment variable that names the device: gpuarray's default one, or one that the plugin reads.
    """

    plugin: str
    select: tuple[str, ...]
    device: str


CLIENTS = {
    "scipy": Client("scipy_backend", ("--noconftest", "-m", "array_api_backends"), "GPUARRAY_DEVICE"),
    "sklearn": Client("sklearn_backend", ("-k", "array_api or {namespace}"), "CLIENT_DEVICE"),
}


def run(client: str, device: str, given: argparse.Namespace) -> dict[str, Any]:
    """Run the tests once, and return what the plugin reports, with the exit status and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        paths = [str(HERE), str(ROOT / "array_api_tests_config"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "CLIENT_NAMESPACE": given.namespace,
            CLIENTS[client].device: device,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "SCIPY_ARRAY_API": "1",
        }
        select = [option.format(namespace=given.namespace) for option in CLIENTS[client].select]
        command = [
            *(sys.executable, "-m", "pytest", "-q", "--rootdir", folder, "-c", os.devnull, "--tb", given.tb),
            *("-p", "no:cacheprovider", "-p", CLIENTS[client].plugin, "-p", "gpuarray_report", "-W", "ignore"),
            *("-p", "sample", "--every", str(given.every)),
            *("-n", str(given.workers), "--gpuarray-report", str(report), *select),
            *("--pyargs", *(given.packages or [client])),
        ]
        began = time.monotonic()
        status = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        found = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return {"status": status, "seconds": time.monotonic() - began, **found}


def known_failures(client: str) -> dict[re.Pattern[str], str]:
    """Return the client's failures that are known, with their causes, by what matches the tests' names."""
    lines = (HERE / f"{client}_failures.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("  # ", 1) for line in lines if line and not line.startswith("#"))
    return {re.compile(pattern): cause for pattern, cause in pairs}


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("packages", nargs="*", help="parts of the client, such as scipy.stats; all by default")
    parser.add_argument("--devices", nargs="+", default=["cpu", "wgpu"])
    parser.add_argument("--namespace", default="gpuarray", help="another one, to compare with: array_api_strict, numpy")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--every", type=int, default=1, help="run a sample: every so many tests")
    parser.add_argument("--tb", default="short", help="how much of a traceback pytest shows")
    given = parser.parse_args()
    missing = [name for name in (given.client, "xdist") if importlib.util.find_spec(name) is None]
    if missing:
        parser.error(f"not installed: {', '.join(missing)}; install gpuarray-xp with the extra 'test'")
    known = known_failures(given.client)
    results = {device: run(given.client, device, given) for device in given.devices}
    print(f"\n| device | {' | '.join(_COLUMNS)} | seconds | compiled | fallbacks |")
    print("|---|" + "---:|" * (len(_COLUMNS) + 3))
    unknown = 0
    for device, found in results.items():
        if "outcomes" not in found:
            print(f"| {device} | pytest ended with status {found['status']} |")
            unknown += 1
            continue
        counts = [str(len(found["outcomes"][name])) for name in _COLUMNS]
        events = [f"{found['events'].get(name, 0):,}" for name in ("compiles", "fallbacks")]
        seconds = f"{found['seconds']:.0f}"
        print(f"| {' | '.join([device, *counts, seconds, *events])} |")
    for device, found in results.items():
        outcomes = found.get("outcomes", {})
        for test in sorted([*outcomes.get("failed", []), *outcomes.get("error", [])]):
            if not any(pattern.search(test) for pattern in known):
                print(f"{device}: {test}")
                unknown += 1
    return int(unknown > 0)


if __name__ == "__main__":
    sys.exit(main())
