"""``python -m gpuarray``: what is found on this machine. ``python -m gpuarray demo``: the main job on a photograph."""

import argparse
import sys

import gpuarray
from gpuarray.diagnostics import demo, environment


def main(arguments: list[str] | None = None) -> int:
    """Run the command that ``arguments`` name, and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m gpuarray",
        description="Without a command: print versions, devices, the provider in use and why, and cache folders.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    demo.add_arguments(commands.add_parser("demo", help="run a photograph through NumPy and through gpuarray"))
    parsed = parser.parse_args(arguments)
    if parsed.command == "demo":
        return demo.main(parsed, gpuarray)
    print(environment.report())
    return 0


if __name__ == "__main__":
    sys.exit(main())
