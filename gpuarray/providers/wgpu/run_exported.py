"""Runs the kernels of this folder with wgpu, and compares their results with the saved ones, bit for bit.

``python run.py`` runs all steps, ``python run.py 0 2`` two of them.

``plan.json`` has the steps in order: the arrays that one reads, its launches, and the arrays that it leaves. A launch
is a text in WGSL, its workgroups, the words of the uniform block at binding 0, and the windows of buffers at bindings
1, 2, ..., whose ``kind`` and ``slot`` name an input, an output or a scratch buffer of the step. Needs wgpu and numpy.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import wgpu

FOLDER = Path(__file__).resolve().parent


def open_device(plan: Any) -> Any:
    """Return a device on the adapter that the results come from, or else on the first one."""
    adapters = wgpu.gpu.enumerate_adapters_sync()
    adapter = next((a for a in adapters if a.info["device"] == plan["adapter"]), adapters[0])
    if adapter.info["device"] != plan["adapter"]:
        print(f"there is no {plan['adapter']} here; on {adapter.info['device']} bits may differ", file=sys.stderr)
    limits = dict(adapter.limits)
    limits["max-non-sampler-bindings"] = min(limits.get("max-non-sampler-bindings", 1_000_000), 1_000_000)
    return adapter.request_device_sync(required_features=plan["features"], required_limits=limits)


def run(device: Any, step: Any) -> tuple[list[bytes], list[bytes]]:
    """Return the bytes that a step leaves in its outputs, and those that are saved."""
    storage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC
    arrays = {"input": [np.load(FOLDER / name) for name in step["inputs"]]}
    results = [np.load(FOLDER / name) for name in step["results"]]
    arrays["output"] = [
        np.zeros_like(result) if name is None else np.load(FOLDER / name)
        for name, result in zip(step["before"], results, strict=True)
    ]
    arrays["scratch"] = [np.zeros(nbytes, np.uint8) for nbytes in step["scratch"]]
    ends = [
        (b["kind"], b["slot"], b["offset"] + b["nbytes"]) for launch in step["launches"] for b in launch["bindings"]
    ]
    buffers = {}
    for kind, group in arrays.items():
        for slot, array in enumerate(group):
            data = array.tobytes()
            size = max([len(data), *(end for which, number, end in ends if (which, number) == (kind, slot))])
            buffers[kind, slot] = device.create_buffer(size=-(-size // 256) * 256 or 256, usage=storage)
            if data:
                device.queue.write_buffer(buffers[kind, slot], 0, data.ljust(-(-len(data) // 4) * 4, b"\0"))
    for launch in step["launches"]:
        dispatch(device, launch, buffers)
    read = [device.queue.read_buffer(buffers["output", slot]) for slot in range(len(results))]
    results_read = [bytes(data[: result.nbytes]) for data, result in zip(read, results, strict=True)]
    return results_read, [result.tobytes() for result in results]


def dispatch(device: Any, launch: Any, buffers: Any) -> None:
    """Run one kernel."""
    words = np.array(launch["words"], np.uint32)
    uniform = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
    parameters = device.create_buffer(size=words.nbytes, usage=uniform)
    device.queue.write_buffer(parameters, 0, words)
    kinds = ["uniform", *("storage" if b["writable"] else "read-only-storage" for b in launch["bindings"])]
    layout = device.create_bind_group_layout(
        entries=[
            {"binding": number, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
            for number, kind in enumerate(kinds)
        ]
    )
    windows = [{"buffer": parameters, "offset": 0, "size": words.nbytes}]
    for binding in launch["bindings"]:
        buffer = buffers[binding["kind"], binding["slot"]]
        windows.append({"buffer": buffer, "offset": binding["offset"], "size": binding["nbytes"]})
    group = device.create_bind_group(
        layout=layout, entries=[{"binding": number, "resource": window} for number, window in enumerate(windows)]
    )
    stage = {"module": device.create_shader_module(code=(FOLDER / launch["source"]).read_text(encoding="utf-8"))}
    if launch["constants"]:
        stage["constants"] = launch["constants"]
    pipeline = device.create_compute_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=[layout]), compute={**stage, "entry_point": "main"}
    )
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, group)
    compute.dispatch_workgroups(*launch["workgroups"])
    compute.end()
    device.queue.submit([encoder.finish()])


def main(numbers: list[int]) -> int:
    """Run the steps of these numbers, or all; return how many have other results than the saved ones."""
    plan = json.loads((FOLDER / "plan.json").read_text(encoding="utf-8"))
    device = open_device(plan)
    wrong = 0
    for number in numbers or range(len(plan["steps"])):
        step = plan["steps"][number]
        computed, expected = run(device, step)
        wrong += computed != expected
        names = ", ".join(dict.fromkeys(launch["label"] for launch in step["launches"]))
        print(f"step {number} ({names}): {'identical' if computed == expected else 'DIFFERENT'}")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main([int(number) for number in sys.argv[1:]]), 1))
