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
    """Run the tests once, and return what the plugin reports, with the exit status and the seconds it took.

    Tests are named by their files from the folder on that the client is installed in, however they were asked for.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        paths = [str(HERE), str(ROOT / "array_api_tests_config"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "GPUARRAY_DIRECT_PINNED": "0",
            "CLIENT_NAMESPACE": given.namespace,
            CLIENTS[client].device: device,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "SCIPY_ARRAY_API": "1",
        }
        select = [option.format(namespace=given.namespace) for option in CLIENTS[client].select]
        command = [
            *(sys.executable, "-m", "pytest", "-q", "--rootdir", str(installed_in(client)), "-c", os.devnull),
            *("-p", "no:cacheprovider", "-p", CLIENTS[client].plugin, "-p", "gpuarray_report", "-W", "ignore"),
            *("-p", "sample", "--every", str(given.every), "--tb", given.tb),
            *("-n", str(given.workers), "--gpuarray-report", str(report), *select),
            *("--pyargs", *(given.packages or [client])),
        ]
        began = time.monotonic()
        status = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        result = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return {"status": status, "seconds": time.monotonic() - began, **result}


def installed_in(client: str) -> Path:
    """Return the folder that a client is installed in."""
    spec = importlib.util.find_spec(client)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parents[1]


def known_failures(client: str) -> dict[re.Pattern[str], str]:
    """Return the client's failures that are known, with their causes, by what matches the tests' names."""
    lines = (HERE / f"{client}_failures.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("  # ", 1) for line in lines if line and not line.startswith("#"))
    return {re.compile(pattern): cause for pattern, cause in pairs}


def without_namespace(test: str, *names: str) -> str:
    """Return a test's name as it is whatever namespace it is run with: parameters that name it or its device go."""
    path, bracket, parameters = test.partition("[")
    return path + bracket + re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b-?", "", parameters)


def passed_elsewhere(files: list[Path]) -> set[str]:
    """Return the tests that passed according to saved reports, by their names without the namespace."""
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {without_namespace(test, *r["names"]) for r in reports for test in r["outcomes"]["passed"]}


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
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="keep what each test came to, a file a device")
    parser.add_argument(
        "--against",
        type=Path,
        nargs="+",
        metavar="FILE",
        default=[],
        help="saved reports of another namespace: failures of tests that pass there are listed apart, known or not",
    )
    given = parser.parse_args()
    missing = [name for name in (given.client, "xdist") if importlib.util.find_spec(name) is None]
    if missing:
        parser.error(f"not installed: {', '.join(missing)}; install gpuarray-xp with the extra 'test'")
    known = known_failures(given.client)
    passed = passed_elsewhere(given.against)
    results = {device: run(given.client, device, given) for device in given.devices}
    print(f"\n| device | {' | '.join(_COLUMNS)} | seconds | compiled | fallbacks |")
    print("|---|" + "---:|" * (len(_COLUMNS) + 3))
    unknown = 0
    for device, result in results.items():
        if "outcomes" not in result:
            print(f"| {device} | pytest ended with status {result['status']} |")
            unknown += 1
            continue
        counts = [str(len(result["outcomes"][name])) for name in _COLUMNS]
        events = [f"{result['events'].get(name, 0):,}" for name in ("compiles", "fallbacks")]
        seconds = f"{result['seconds']:.0f}"
        print(f"| {' | '.join([device, *counts, seconds, *events])} |")
        if given.save:
            given.save.mkdir(parents=True, exist_ok=True)
            file = given.save / f"{given.client}-{given.namespace}-{device}.json"
            file.write_text(json.dumps({"names": [given.namespace, device], **result}), encoding="utf-8")
    for device, result in results.items():
        outcomes = result.get("outcomes", {})
        for test in sorted([*outcomes.get("failed", []), *outcomes.get("error", [])]):
            causes = [cause for pattern, cause in known.items() if pattern.search(test)]
            if without_namespace(test, given.namespace, device) in passed:
                print(f"{device}, passes elsewhere: {test}  # {causes[0] if causes else 'unknown'}")
            elif not causes:
                print(f"{device}: {test}")
            unknown += not causes
    return int(unknown > 0)


if __name__ == "__main__":
    sys.exit(main())
