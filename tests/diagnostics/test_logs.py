"""The logger `gpuarray` and the levels of `config.debug`."""

import logging
import subprocess
import sys
import time
from contextlib import nullcontext

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import logs
from gpuarray.providers.inprocess import workers
from gpuarray.providers.inprocess.provider import InProcessProvider


def evaluate_something(device):
    """Evaluate a plan that no other test has, so that it is decided and compiled now."""
    evaluate_something.calls += 1
    x = xp.asarray(np.ones(evaluate_something.calls + 100, np.float32), device=device)
    kernel = x
    for _ in range(evaluate_something.calls):
        kernel = kernel * 1.5 - x
    xp.evaluate(xp.tanh(kernel))


evaluate_something.calls = 0


@pytest.mark.parametrize("debug", range(5))
def test_levels(caplog, debug):
    with xp.using(debug=debug):
        evaluate_something("wgpu")
        xp.evaluate(xp.linalg.eigvals(xp.eye(3, dtype=xp.float32, device="wgpu")))
    levels = {record.levelno for record in caplog.records}
    assert (logging.INFO in levels) == (debug >= 1)
    assert any("eigvals runs on the host" in r.getMessage() for r in caplog.records) == (debug >= 1)
    assert any(r.getMessage().startswith("launch ") for r in caplog.records) == (debug >= 2)
    assert any(": on the device, " in r.getMessage() for r in caplog.records) == (debug >= 3)
    assert ("@workgroup_size" in caplog.text) == (debug >= 4)
    assert {record.name for record in caplog.records} <= {"gpuarray"}


def test_the_logger_has_a_say_of_its_own(caplog):
    with caplog.at_level(logging.DEBUG, logger="gpuarray"):
        evaluate_something("wgpu")
    assert any(r.getMessage().startswith("launch ") for r in caplog.records)
    assert not any("on the device" in r.getMessage() for r in caplog.records)


SCRIPT = """
import gpuarray as xp, {setup}
with xp.using(fallback="allow"):
    xp.evaluate(xp.linalg.eigvals(xp.eye(3, dtype=xp.float32, device="wgpu")))
"""


@pytest.mark.parametrize(
    ("setup", "start"),
    [
        ("os", "gpuarray: eigvals runs"),
        ("logging; logging.basicConfig(format='mine %(message)s')", "mine eigvals runs"),
    ],
)
def test_messages_go_where_logging_goes_or_to_stderr(setup, start):
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(setup=setup)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "GPUARRAY_DEBUG": "1", "GPUARRAY_DIRECT_PINNED": "0", "PATH": ""},
        check=True,
    )
    assert result.stdout == ""
    assert [line for line in result.stderr.splitlines() if line.startswith(start)]


def test_compilations_are_told_at_level_one(caplog):
    with xp.using(debug=1):
        evaluate_something("wgpu")
    assert any(r.getMessage().startswith("compiled ") for r in caplog.records)


@pytest.fixture
def impatience(monkeypatch):
    """Report work that takes a twentieth of a second."""
    while logs._is_watched:  # the watcher of earlier work looks after half a second
        time.sleep(0.01)
    monkeypatch.setattr(logs, "_LONG", 0.05)
    monkeypatch.setattr(logs, "_INTERVAL", 0.01)
    monkeypatch.setattr(logs, "_reported", set())


def wait_for_a_report(caplog):
    stop = time.monotonic() + 100
    while not caplog.records and time.monotonic() < stop:
        time.sleep(0.01)


@pytest.mark.usefixtures("impatience")
def test_long_work_is_reported_once(caplog, monkeypatch):
    with caplog.at_level(logging.INFO, logger="gpuarray"):
        with logs.report_if_long("test", "testing, as tests do"):
            wait_for_a_report(caplog)
        with logs.report_if_long("test", "testing, as tests do"):
            time.sleep(0.3)
        monkeypatch.setattr(logs, "_LONG", 100)
        with logs.report_if_long("short", "nothing of note"):
            pass
    assert [r.getMessage() for r in caplog.records] == ["testing, as tests do ..."]


def no_thread(*arguments):
    raise RuntimeError("can't create new thread at interpreter shutdown")


@pytest.mark.usefixtures("impatience")
def test_work_goes_on_where_no_thread_can_watch_it(monkeypatch):
    monkeypatch.setattr(logs, "start_new_thread", no_thread)
    with logs.report_if_long("test", "testing, as tests do"):
        pass
    assert not logs._is_watched
    assert not logs._under_way


@pytest.mark.usefixtures("impatience")
def test_a_long_loop_on_the_host_is_reported(caplog):
    timing = workers.ChunkTiming(1)
    for _ in range(2):
        timing.record(workers._LONG_NS)
    with caplog.at_level(logging.INFO, logger="gpuarray"):
        workers.WorkerPool(1).run_each(3, lambda number: wait_for_a_report(caplog), timing)
    assert [r.getMessage() for r in caplog.records] == [
        "computing on the host what was recorded, because a value is read ..."
    ]


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize("calls", [0, 3], ids=["evaluated", "replayed"])
def test_a_long_product_on_the_host_is_reported(calls, caplog, monkeypatch):
    product = xp.jit(lambda x: x @ x) if calls else lambda x: x @ x
    x = xp.asarray(np.ones((600, 600)), device="cpu")
    for _ in range(calls):
        xp.evaluate(product(x))
    run = InProcessProvider.run

    def run_slowly(*arguments):
        wait_for_a_report(caplog)
        run(*arguments)

    monkeypatch.setattr(logs, "_reported", {"plan"})
    monkeypatch.setattr(InProcessProvider, "run", run_slowly)
    with xp.using(direct_limit=0) if not calls else nullcontext(), caplog.at_level(logging.INFO, logger="gpuarray"):
        xp.evaluate(product(x))
    assert [r.getMessage() for r in caplog.records] == [f"{logs.ON_HOST} ..."]


@pytest.mark.usefixtures("impatience")
def test_a_long_wait_for_a_device_is_reported(caplog, monkeypatch):
    monkeypatch.setattr(logs, "_reported", {"plan", "compile", "calibration"})
    x = xp.asarray(np.ones((1500, 1500), np.float32), device="wgpu:0")
    with caplog.at_level(logging.INFO, logger="gpuarray"):
        for _ in range(20):
            assert float((x @ x)[0, 0]) == 1500
            messages = [r.getMessage() for r in caplog.records if not r.getMessage().startswith("compiled")]
            if messages:
                break
    assert messages == ["waiting for the GPU to compute a value that is read ..."]
