"""The facts that a measurement depends on: the machine, its load and the versions."""

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers import Peer


def facts(peers: Sequence[Peer]) -> dict[str, Any]:
    """Return the facts of this machine and of the libraries, as JSON-compatible values."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "gpu": _nvidia(),
        "adapters": _adapters(),
        "peers": {peer.name: peer.describe() for peer in peers},
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _nvidia() -> list[str]:
    if not shutil.which("nvidia-smi"):
        return []
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout.splitlines()


def _adapters() -> list[str]:
    try:
        from gpuarray.providers.wgpu import device

        return [line for line in device.adapter_report().splitlines() if not line.startswith(" ")]
    except Exception as error:  # the figures of the other peers do not depend on it
        return [f"not available: {error}"]
