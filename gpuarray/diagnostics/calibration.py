"""``python -m gpuarray calibrate``: measure a device and the host, and print the rates."""

import argparse
import sys
import time
from collections.abc import Sequence

from gpuarray.device import Device
from gpuarray.errors import GpuArrayError
from gpuarray.providers import registry
from gpuarray.runtime import places
from gpuarray.runtime.placement import auto, calibrate, tune
from gpuarray.runtime.placement.rates import Rates


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "devices",
        nargs="*",
        metavar="DEVICE",
        help="devices to calibrate; by default the host and the first GPU, if any",
    )
    parser.add_argument("--tune", action="store_true", help="also find the fastest tile sizes of matrix products")
    parser.add_argument(
        "--cached", action="store_true", help="show the stored record, and measure only what is missing"
    )


def main(parsed: argparse.Namespace) -> int:
    """Calibrate, and return the exit status."""
    try:
        devices = [Device(name) for name in parsed.devices] or registry.devices()[:2]
        for device in devices:
            start = time.perf_counter()
            provider = registry.open_device(device)
            rates = calibrate.rates_of(device, fresh=not parsed.cached, progress=_say)
            auto.set_rates(provider, rates)
            if parsed.tune and not places.is_host(provider):
                profile = tune.tune(provider, _say)
                print(f"  {profile.units} units, {profile.bandwidth / 1e3:.0f} GB/s")
                for name, speed in profile.product_speeds:
                    print(f"  {name}: {speed:.3f}")
            print(report(calibrate.subject_of(provider), rates, time.perf_counter() - start))
    except GpuArrayError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 1
    return 0


def _say(doing: str) -> None:
    print(f"  {doing} ...", file=sys.stderr)


def report(subject: str, rates: Rates, seconds: float) -> str:
    """Return rates as readable text."""
    lines = [f"{subject}: {seconds:.1f} s, times spread by a factor of {rates.spread_of_times:.2f}"]
    use, fetch, launch = (f"{time / 1e3:.1f} us" for time in (rates.use, rates.fetch, rates.launch))
    lines.append(f"  a submission {use}, to read its result {fetch} more, a launch {launch}")
    if rates.rows:
        lines.append(
            f"  threads: {rates.speedup:.1f} times as fast at most, {rates.handoff / 1e3:.1f} us to take turns"
        )
    lines += _rate("memory, beside the arithmetic" if rates.rows else "memory", rates.traffic, "GB/s")
    lines += [
        line for name, curve in sorted(rates.product.items()) for line in _rate(f"products of {name}", curve, "GFLOP/s")
    ]
    lines += _rate("random gathers", rates.work.get("gather", ()), "billion elements/s")
    lines += _rate("running sums", rates.work.get("scan", ()), "billion elements/s")
    lines += _rate("sorts", rates.work.get("sort", ()), "billion comparisons/s")
    for name, curve in (("to the device", rates.upload), ("to the host", rates.download)):
        if curve:
            lines.append(f"  {name}: {curve[0][1] / 1e3:.1f} us at least, {_last(curve):.3g} GB/s")
    return "\n".join(lines)


def _rate(name: str, curve: Sequence[tuple[float, float]], unit: str) -> list[str]:
    return [f"  {name}: {_last(curve):.3g} {unit}"] if curve else []


def _last(curve: Sequence[tuple[float, float]]) -> float:
    """Return the rate at the largest amount, in units of 10**9 per second."""
    amount, time = curve[-1]
    return amount / max(time, 1.0)
