"""A pytest plugin: what came of the tests, and what gpuarray counted meanwhile, over all workers of pytest-xdist.

It is printed at the end of the session, and written as JSON to the file that ``--gpuarray-report`` names.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gpuarray.runtime import telemetry

#: Counters of events, which can be added up; the others of ``gpuarray.stats()`` are gauges of memory.
EVENTS = ("evaluations", "plans", "launches", "compiles", "bytes_uploaded", "bytes_downloaded", "fallbacks")
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file."""
    parser.addoption("--gpuarray-report", metavar="FILE", help="write outcomes and counters as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count."""
    config.pluginmanager.register(_Totals(), "gpuarray-totals")


class _Totals:
    """What was counted in this process, and in the workers that have ended."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.fallbacks: Counter[str] = Counter()

    def add(self, counted: dict[str, dict[str, int]]) -> None:
        """Add what was counted somewhere."""
        self.events.update(counted["events"])
        self.fallbacks.update(counted["fallbacks"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker sent; one that crashed sent nothing, and the session fails anyway."""
        sent = getattr(node, "workeroutput", {})
        if "gpuarray" in sent:
            self.add(sent["gpuarray"])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what was counted here to the process that reports it, or keep it if that is this one."""
        stats = telemetry.stats()
        fallbacks: Counter[str] = Counter()
        for (function, _reason), count in telemetry.fallbacks().items():
            fallbacks[function] += count
        counted = {"events": {name: stats[name] for name in EVENTS}, "fallbacks": dict(fallbacks)}
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["gpuarray"] = counted
        else:
            self.add(counted)

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Print the totals, and write them."""
        terminalreporter.section("gpuarray")
        for name in EVENTS:
            terminalreporter.write_line(f"{self.events[name]:>15,} {name}")
        for function, count in self.fallbacks.most_common():
            terminalreporter.write_line(f"{count:>15,} times on the host: {function}")
        path = config.getoption("--gpuarray-report")
        if path:
            outcomes = {name: [r.nodeid for r in terminalreporter.stats.get(name, [])] for name in OUTCOMES}
            report = {"outcomes": outcomes, "events": self.events, "fallbacks": self.fallbacks}
            Path(path).write_text(json.dumps(report), encoding="utf-8")
