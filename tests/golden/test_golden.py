"""Golden texts: the plan and the kernels of named programs, word for word.

A text holds what the code generator wrote for the program. Functions of the WGSL library are listed by name, those that
the kernel itself calls; their texts are tested by their values, in ``tests/codegen/test_math.py``.

``pytest tests/golden --update-golden`` writes the texts again. Nothing here needs a GPU but the last test, in which a
device compiles every kernel.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import CAPABILITIES, PROGRAMS, SOFTWARE

import gpuarray as xp
from gpuarray.codegen import emit, library
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.target import for_target
from gpuarray.device import Device
from gpuarray.fusion.plan import Plan
from gpuarray.fusion.planner import make_plan
from gpuarray.fusion.step_texts import text
from gpuarray.fusion.steps import CallStep, ContractStep
from gpuarray.fusion.verify import check_plan
from gpuarray.graph.walk import current, merge, topological
from gpuarray.providers import registry

TEXTS = Path(__file__).parent / "texts"


def plan_of(name: str) -> Plan:
    expected = PROGRAMS[name]()
    arrays = expected if isinstance(expected, tuple) else (expected,)
    nodes, position, *_ = merge(topological([current(a.node()) for a in arrays]))
    plan = make_plan(nodes, position, {position[current(a.node())] for a in arrays}, CAPABILITIES)
    check_plan(plan, nodes)
    return plan


def programs_of(plan: Plan) -> list[Any]:
    steps = [planned.step for planned in plan.steps if not isinstance(planned.step, CallStep)]
    return [emit.emit(step, SOFTWARE if isinstance(step, ContractStep) else CAPABILITIES) for step in steps]


def own_text(source: str) -> tuple[str, list[str]]:
    """Return a kernel's text without the library, and the names of the library functions that it calls itself."""
    with for_target(CAPABILITIES):
        included = [name for name in library.names_in(source) if library.text_of(name) in source]
        own = source
        for name in included:
            own = own.replace(f"{library.text_of(name)}\n", "", 1)
        called = sorted(library.names_in(own))
        # nothing but the functions that are called was taken away, with all that these call
        assert f"\n{library.functions(called)}\n" in f"\n{source}\n"
    return own, called


def described(plan: Plan) -> Iterator[str]:
    """Yield the lines that describe a plan."""
    for number, planned in enumerate(plan.steps):
        yield f"step {number}: reads {list(planned.inputs)}, writes {list(planned.outputs)}"
        yield from (f"  {line}" for line in text(planned.step).splitlines())


def launched(launch: Launch) -> str:
    """Return the text of a launch."""
    own, called = own_text(launch.source)
    head = [f"// workgroups: {' x '.join(map(str, launch.workgroups))}", f"// library: {', '.join(called) or 'none'}"]
    return "\n".join([*head, own])


@pytest.mark.parametrize("name", PROGRAMS)
def test_plan_and_kernels(name: str, request: pytest.FixtureRequest) -> None:
    plan = plan_of(name)
    launches = [launched(launch) for program in programs_of(plan) for launch in program.launches]
    result = "\n".join([*(f"// {line}" for line in described(plan)), "", *launches])
    path = TEXTS / f"{name}.wgsl"
    if request.config.getoption("--update-golden"):
        path.write_text(result, encoding="utf-8", newline="\n")
    assert path.exists(), f"{path.name} is missing; write it with pytest tests/golden --update-golden"
    assert result == path.read_text(encoding="utf-8"), (
        f"{path.name} differs; if the change is intended, run pytest tests/golden --update-golden"
    )


def test_every_text_belongs_to_a_program() -> None:
    assert {path.name for path in TEXTS.iterdir()} == {f"{name}.wgsl" for name in PROGRAMS}


@pytest.mark.wgpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_device_compiles_the_kernels(name: str) -> None:
    provider = registry.open_device(Device("wgpu"))
    plan = plan_of(name)
    needed = {dtype for planned in plan.steps for dtype in emit._dtypes(planned.step)}
    if not needed <= provider.capabilities.dtypes:
        pytest.skip("the device lacks a dtype")
    with xp.using(verify=True):
        for program in programs_of(plan):
            assert provider.prepare_program(program) is not None
