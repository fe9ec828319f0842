"""Plans and kernels of named programs, word for word; `pytest --update-golden` writes the texts again.

Nothing here needs a device but the last test, which lets a real one compile every kernel.
"""

from pathlib import Path
from typing import Any

import pytest
from programs import CAPABILITIES, PROGRAMS

import gpuarray as xp
from gpuarray.codegen import emit
from gpuarray.device import Device
from gpuarray.fusion.plan import Plan, make_plan
from gpuarray.fusion.steps import CallStep, text
from gpuarray.fusion.verify import check_plan
from gpuarray.graph.walk import current, merge, topological
from gpuarray.providers import registry

TEXTS = Path(__file__).parent / "texts"


def plan_of(name: str) -> Plan:
    wanted = PROGRAMS[name]()
    arrays = wanted if isinstance(wanted, tuple) else (wanted,)
    nodes, position, *_ = merge(topological([current(a.node()) for a in arrays]))
    plan = make_plan(nodes, position, {position[current(a.node())] for a in arrays}, CAPABILITIES)
    check_plan(plan, nodes)
    return plan


def programs_of(name: str) -> list[Any]:
    steps = [planned.step for planned in plan_of(name).steps]
    return [emit.emit(step, CAPABILITIES) for step in steps if not isinstance(step, CallStep)]


def compare(path: Path, found: str, update: bool) -> None:
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8", newline="\n")
        return
    assert path.exists(), f"{path.name} is missing; write it with pytest --update-golden"
    assert found == path.read_text(encoding="utf-8"), f"{path.name} differs; if it should, run pytest --update-golden"


@pytest.mark.parametrize("name", PROGRAMS)
def test_plan(name: str, request: pytest.FixtureRequest) -> None:
    lines = []
    for number, planned in enumerate(plan_of(name).steps):
        lines.append(f"step {number}: reads {list(planned.inputs)}, writes {list(planned.outputs)}")
        lines += [f"  {line}" for line in text(planned.step).splitlines()]
    compare(TEXTS / f"{name}.plan", "\n".join(lines) + "\n", request.config.getoption("--update-golden"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels(name: str, request: pytest.FixtureRequest) -> None:
    launches = [launch for program in programs_of(name) for launch in program.launches]
    sources = [f"// workgroups {'x'.join(map(str, launch.workgroups))}\n{launch.source}" for launch in launches]
    compare(TEXTS / f"{name}.wgsl", "\n".join(sources), request.config.getoption("--update-golden"))


def test_every_text_belongs_to_a_program() -> None:
    assert {path.stem for path in TEXTS.iterdir()} == set(PROGRAMS)


@pytest.mark.wgpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_device_compiles_the_kernels(name: str) -> None:
    provider = registry.open_device(Device("wgpu"))
    needed = {dtype for planned in plan_of(name).steps for dtype in emit._dtypes(planned.step)}
    if not needed <= provider.capabilities.dtypes:
        pytest.skip("the device lacks a dtype")
    with xp.using(verify=True):
        for program in programs_of(name):
            assert provider.prepare_program(program) is not None
