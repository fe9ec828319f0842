"""Runs array-api-tests against gpuarray on devices and in modes, and sums up: run.py --help.

The suite is a checkout of its own, whose commit is in ``commit.txt``; nothing is written into it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VERSION = "2025.12"
MODES = {"default": "0", "strict": "1"}
_COLUMNS = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")


def check_suite(suite: Path) -> None:
    """Exit if ``suite`` is no checkout of the suite at the pinned commit, with the standard's text."""
    if not (suite / "array_api_tests").is_dir():
        sys.exit(f"{suite} is no checkout of array-api-tests; see {HERE / 'README.md'}")
    if not (suite / "array-api" / "spec" / VERSION).is_dir():
        sys.exit(f"{suite}/array-api is empty; run: git -C {suite} submodule update --init")
    wanted = (HERE / "commit.txt").read_text(encoding="utf-8").strip()
    found = subprocess.run(["git", "-C", suite, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if found.stdout.strip() != wanted:
        sys.exit(f"{suite} is at commit {found.stdout.strip() or 'unknown'}; run: git -C {suite} checkout {wanted}")


def run(suite: Path, device: str, mode: str, given: argparse.Namespace) -> dict[str, Any]:
    """Run the suite once, and return what the plugin reports, with the exit status and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        paths = [str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "ARRAY_API_TESTS_MODULE": "gpuarray",
            "ARRAY_API_TESTS_VERSION": VERSION,
            "GPUARRAY_DEVICE": device,
            "GPUARRAY_DIRECT_PINNED": "0",
            "GPUARRAY_STRICT_ARRAY_API": MODES[mode],
            "HYPOTHESIS_STORAGE_DIRECTORY": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        }
        command = [
            *(sys.executable, "-m", "pytest", "-q", "--rootdir", str(suite), "-c", str(suite / "pytest.ini")),
            *("-p", "no:cacheprovider", "-p", "gpuarray_report"),
            *("-W", "ignore::UserWarning", "-n", str(given.workers), "--gpuarray-report", str(report)),
            *("--max-examples", str(given.examples), "--derandomize", "--disable-deadline"),
            *("--skips-file", str(HERE / "skips.txt")),
            *("--xfails-file", str(HERE / "xfails.txt") if mode == "default" else os.devnull),
            *(given.tests or ["array_api_tests"]),
        ]
        began = time.monotonic()
        status = subprocess.run(command, cwd=suite, env=environment, check=False).returncode
        found = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return {"status": status, "seconds": time.monotonic() - began, **found}


def line(device: str, mode: str, found: dict[str, Any]) -> str:
    """Return a row of the table of results."""
    if "outcomes" not in found:
        return f"| {device} | {mode} | pytest ended with status {found['status']} |"
    counts = [str(len(found["outcomes"][name])) for name in _COLUMNS]
    seconds = f"{found['seconds']:.0f}"
    events = [f"{found['events'].get(name, 0):,}" for name in ("compiles", "fallbacks")]
    return f"| {' | '.join([device, mode, *counts, seconds, *events])} |"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", nargs="?", default=os.environ.get("ARRAY_API_TESTS"), help="or $ARRAY_API_TESTS")
    parser.add_argument("--devices", nargs="+", default=["cpu", "wgpu"])
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--examples", type=int, default=20, help="Hypothesis examples a test")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--tests", nargs="+", metavar="TEST", help="parts of the suite, as paths in it")
    given = parser.parse_args()
    if given.suite is None:
        parser.error("name the folder of the suite, or set ARRAY_API_TESTS")
    suite = Path(given.suite).resolve()
    check_suite(suite)
    results = {(d, m): run(suite, d, m, given) for d in given.devices for m in given.modes}
    print(f"\n| device | mode | {' | '.join(_COLUMNS)} | seconds | compiled | fallbacks |")
    print("|---|---|" + "---:|" * (len(_COLUMNS) + 3))
    for (device, mode), found in results.items():
        print(line(device, mode, found))
    for (device, mode), found in results.items():
        for function, count in sorted(found.get("fallbacks", {}).items(), key=lambda item: -item[1]):
            print(f"{device}, {mode}: {function} ran on the host {count:,} times")
        for test in found.get("outcomes", {}).get("xpassed", []):
            print(f"{device}, {mode}: passed, and is listed in xfails.txt: {test}")
    return int(any(found["status"] != 0 for found in results.values()))


if __name__ == "__main__":
    sys.exit(main())
