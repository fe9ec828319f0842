"""Finalizers: what is called at the end of an object, and that interrupts are not lost in it."""

import gc
import signal
from _thread import interrupt_main
from collections import deque
from operator import methodcaller

import pytest

from gpuarray.device import Device
from gpuarray.finalizers import AtEnd
from gpuarray.providers import registry


def test_what_is_dropped_calls_a_function_once() -> None:
    result: deque[object] = deque()
    held = AtEnd(result.append, "a")
    assert held.args == ("a",)
    cycle: list[object] = [held, AtEnd(result.append, "b")]
    cycle.append(cycle)
    del held, cycle
    gc.collect()
    assert [*result] == ["a", "b"]


@pytest.mark.parametrize("name", ["cpu", "wgpu"])
def test_an_interrupt_is_not_lost_while_a_buffer_is_dropped(name: str) -> None:
    buffers = [registry.open_device(Device(name)).allocate(1000)]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            # no instruction of Python comes between the calls, so that the first function of Python handles the signal
            list(map(methodcaller("__call__"), (interrupt_main, buffers.clear)))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not buffers
