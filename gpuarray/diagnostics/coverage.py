"""The status of NumPy's functions, as printed by ``python -m gpuarray coverage``."""

import argparse
import json
import sys
from collections import Counter
from textwrap import wrap
from typing import Any, Final

from gpuarray.functions.registry import COMPOSED, KINDS, NATIVE, NOT_NUMERIC, Implementation, current

#: The share of the numeric functions that the device must answer, in percent; with less the command fails.
LEAST_SHARE: Final = 80.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--status", choices=KINDS, help="list only the functions with this status, with reasons")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def counts(table: dict[str, Implementation]) -> dict[str, int]:
    """Return the number of functions of each status, in the order of :data:`gpuarray.functions.registry.KINDS`."""
    counter = Counter(status.kind for status in table.values())
    return {kind: counter[kind] for kind in KINDS}


def numeric_share(table: dict[str, Implementation]) -> float:
    """Return the percentage of numeric functions that are native or composed; text and files are not numeric."""
    numeric = [s.kind for s in table.values() if s.reason not in NOT_NUMERIC]
    return 100.0 * sum(kind in (NATIVE, COMPOSED) for kind in numeric) / len(numeric)


def partly(table: dict[str, Implementation]) -> list[str]:
    """Return the names of the functions of which a part runs on the host for some arguments."""
    return [name for name, status in table.items() if status.kind in (NATIVE, COMPOSED) and status.reason]


def report(table: dict[str, Implementation], only: str | None = None) -> str:
    """Return the table as text: the counts, and the functions, with the reasons of those without kernels.

    Parameters
    ----------
    table : dict
        Implementations by NumPy's name.
    only : str, optional
        The status to list; by default all.
    """
    lines = [f"{len(table)} functions and ufuncs of NumPy that other arrays can override"]
    lines += [f"  {kind:<10}{count:>5}" for kind, count in counts(table).items()]
    lines.append(f"{numeric_share(table):.1f} % of the numeric ones run on the device: native or composed")
    lines.append(f"{len(partly(table))} of those run in part on the host, with some arguments")
    for kind in KINDS if only is None else (only,):
        lines += ["", f"{kind}:"]
        by_reason: dict[str, list[str]] = {}
        for name, status in table.items():
            if status.kind == kind:
                by_reason.setdefault(status.reason, []).append(name)
        for reason, names in sorted(by_reason.items()):
            lines += [f"  {reason}:"] if reason else []
            lines += wrap(" ".join(names), 100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def document(table: dict[str, Implementation], only: str | None = None) -> dict[str, Any]:
    """Return the table as data for JSON; the arguments are those of :func:`report`."""
    return {
        "counts": counts(table),
        "numeric_share": numeric_share(table),
        "functions": {
            name: {"status": kind, "reason": reason}
            for name, (kind, reason, _) in table.items()
            if only in (None, kind)
        },
    }


def main(parsed: argparse.Namespace) -> int:
    """Print the table. Return 1 if less than :data:`LEAST_SHARE` of the numeric functions run on the device."""
    table = current()
    if parsed.json:
        print(json.dumps(document(table, parsed.status), indent=1))
    else:
        print(report(table, parsed.status))
    share = numeric_share(table)
    if share < LEAST_SHARE:
        print(
            f"only {share:.1f} % of the numeric functions run on the device; it must be {LEAST_SHARE} %",
            file=sys.stderr,
        )
        return 1
    return 0
