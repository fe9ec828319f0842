"""The command line: ``python -m gpuarray COMMAND``; without a command, what is found on this machine."""

import argparse
import importlib.util
import runpy
import sys
from typing import Final

import gpuarray
from gpuarray.diagnostics import calibration, coverage, demo, environment, scripts

_EXPLAIN: Final = "run a program, and show its evaluations: graph, plan, placement, kernels"
_PROFILE: Final = "run a program, and show the time of each phase and kernel"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with all commands."""
    command_line = argparse.ArgumentParser(
        prog="python -m gpuarray",
        description="Without a command, the same as info.",
    )
    commands = command_line.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("info", help="print versions, devices, the provider in use and why, settings and directories")
    report = commands.add_parser("report", help="print info, and caches, memory and events: for bug reports")
    report.add_argument("--json", action="store_true", help="print JSON instead of text")
    calibration.add_arguments(
        commands.add_parser("calibrate", help="measure the rates that the device 'auto' uses to place steps")
    )
    scripts.add_explain_arguments(commands.add_parser("explain", help=_EXPLAIN))
    scripts.add_profile_arguments(commands.add_parser("profile", help=_PROFILE))
    if importlib.util.find_spec("bench") is not None:  # a package of the repository, which is not installed
        bench = commands.add_parser("bench", help="run the benchmarks", add_help=False)
        bench.add_argument("arguments", nargs=argparse.REMAINDER)
    demo.add_arguments(commands.add_parser("demo", help="process a photograph with NumPy and with gpuarray"))
    coverage.add_arguments(commands.add_parser("coverage", help="print which of NumPy's functions run on the device"))
    return command_line


def main(arguments: list[str] | None = None) -> int:
    """Run the command that ``arguments`` name, and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["bench"]:  # all that follows is for the benchmarks, options included
        return _bench(words[1:])
    parsed = parser().parse_args(words)
    match parsed.command:
        case "demo":
            return demo.main(parsed, gpuarray)
        case "calibrate":
            return calibration.main(parsed)
        case "coverage":
            return coverage.main(parsed)
        case "explain":
            return scripts.explain_main(parsed)
        case "profile":
            return scripts.profile_main(parsed)
        case "report":
            with scripts.progress("opening devices"):
                text = environment.report()
            print(text.json() if parsed.json else text)
        case _:
            with scripts.progress("opening devices"):
                text = environment.environment()
            print(text)
    return 0


def _bench(arguments: list[str]) -> int:
    """Run the benchmarks, which are a package of the repository."""
    spec = importlib.util.find_spec("bench")  # it may also be a program of the user
    if spec is None or not spec.submodule_search_locations or importlib.util.find_spec("bench.workloads") is None:
        print("bench: there is no package 'bench' here; run this in a checkout of the repository", file=sys.stderr)
        return 2
    sys.argv[1:] = arguments
    try:
        runpy.run_module("bench", run_name="__main__", alter_sys=True)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
