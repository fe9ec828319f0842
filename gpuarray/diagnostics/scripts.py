"""Running a user's program under a tool: ``python -m gpuarray explain SCRIPT`` and ``profile SCRIPT``.

The program runs as under ``python SCRIPT``: with its own arguments, its directory first on the path, and the name
``__main__``. The tool exits with the status of the program, and prints its results also if the program fails.
"""

import argparse
import runpy
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gpuarray import observers
from gpuarray.diagnostics.explain import explanation_of
from gpuarray.diagnostics.explanation import STAGES, counted
from gpuarray.diagnostics.profile import profile
from gpuarray.diagnostics.profile_result import Profile
from gpuarray.runtime.history import Evaluation

#: What a program interrupted by the keyboard exits with, by the shells' convention.
_INTERRUPTED: Final = 130
_USAGE: Final = 2


def add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m gpuarray explain``."""
    parser.add_argument("--stage", choices=STAGES, help="the part of each plan to show; graph and plan by default")
    parser.add_argument("--plans", type=int, default=20, metavar="N", help="maximum number of different plans to show")
    _add_script(parser)


def add_profile_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m gpuarray profile``."""
    parser.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page with timeline, kernels and plans")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write a Chrome trace, for ui.perfetto.dev")
    _add_script(parser)


def _add_script(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the program")


def explain_main(parsed: argparse.Namespace) -> int:
    """Run a program, show the different plans that ran, and return its exit status."""
    if not _is_there(parsed.script):
        return _USAGE
    watcher = _PlanObserver()
    observers.subscribe(watcher)
    try:
        status = run(parsed.script, parsed.arguments)
    finally:
        observers.unsubscribe(watcher)
    shown = list(watcher.evaluations.values())
    for number, (evaluation, times) in enumerate(shown[: parsed.plans], 1):
        print(f"\n== plan {number} of {len(shown)}, evaluated {counted(times, 'time')}")
        print(explanation_of(evaluation).text(parsed.stage))
    if len(shown) > parsed.plans:
        print(f"\n{len(shown) - parsed.plans} more plans are not shown; --plans N shows more", file=sys.stderr)
    if not shown:
        print("the program evaluated no array of gpuarray", file=sys.stderr)
    return status


class _PlanObserver(observers.Observer):
    """An observer that counts the runs of plans."""

    def __init__(self) -> None:
        self.evaluations: dict[int, tuple[Evaluation, int]] = {}

    def evaluation(self, evaluated: observers.Evaluated, /) -> None:
        """Count an evaluation."""
        evaluation = evaluated[0]
        first, times = self.evaluations.get(id(evaluation.prepared), (evaluation, 0))
        self.evaluations[id(evaluation.prepared)] = first, times + 1


def profile_main(parsed: argparse.Namespace) -> int:
    """Run a program under :func:`gpuarray.profile`, show and write the result, and return its exit status."""
    if not _is_there(parsed.script):
        return _USAGE
    with profile() as result:
        status = run(parsed.script, parsed.arguments)
    with progress("measuring how fast the devices copy"):
        text = str(result)
    if sys.stdout.isatty():
        _print_richly(result, text)
    else:
        print(f"\n{text}")
    try:
        for path, write in ((parsed.html, result.html), (parsed.trace, result.trace)):
            if path is not None:
                print(f"wrote {write(path)}", file=sys.stderr)
    except OSError as error:
        print(f"profile: {error}", file=sys.stderr)
        return status or 1
    return status


def _print_richly(result: Profile, text: str) -> None:
    try:
        import rich
    except ImportError:
        print(f"\n{text}")
    else:
        rich.print(result)


def _is_there(script: Path) -> bool:
    if script.is_file():
        return True
    print(f"there is no file {str(script)!r}; give the path of a Python program", file=sys.stderr)
    return False


def run(script: Path, arguments: Sequence[str]) -> int:
    """Run a program in this process, and return its exit status."""
    before: tuple[list[str], list[str]] = (sys.argv[:], sys.path[:])
    sys.argv[:] = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as error:
        return _status(error.code)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # whatever the program raises ends the program, not the tool
        _print_trace(error, str(script))
        return 1
    finally:
        sys.argv[:], sys.path[:] = before
    return 0


def _status(code: Any) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def _print_trace(error: Exception, script: str) -> None:
    """Print a traceback that starts in the program."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace or error.__traceback__)


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Print progress on stderr, if the work takes longer than a second."""
    timer = threading.Timer(1.0, print, [f"gpuarray: {doing} ..."], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
