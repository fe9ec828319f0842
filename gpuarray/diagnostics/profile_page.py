"""The HTML page of a profile, which contains its styles, script and data.

Invariant: the page refers to no external resources, so that it can be archived and sent by mail.
"""

import json
from html import escape
from pathlib import Path
from typing import Any, Final

from gpuarray.diagnostics.explanation import amount, counted, duration
from gpuarray.diagnostics.profile_lines import SHOWN

_PAGE: Final = Path(__file__).with_name("profile_page.html")
#: Bars of the timeline; of more, the longest are drawn.
_BARS: Final = 20_000


def page(profile: Any) -> str:
    """Return the whole page."""
    text = _PAGE.read_text(encoding="utf-8")
    parts = {
        "TITLE": escape(f"Profile: {duration(profile.wall)}, {len(profile.launches):,} launches"),
        "TABLES": tables(profile),
        "PLANS": _plans(profile),
        "DATA": json.dumps(_timeline(profile)).replace("</", "<\\/"),
    }
    for name, value in parts.items():
        text = text.replace(f"<!-- {name} -->", value)
    return text


def tables(profile: Any) -> str:
    """Return the summary and the kernels as HTML tables."""
    facts = "".join(f"<tr><th>{escape(n)}</th><td>{escape(v)}</td></tr>" for n, v in profile.summary())
    head, *_ = profile.rows()
    cells = "".join(f'<th tabindex="0" scope="col">{escape(name)}</th>' for name in head)
    body = "".join(_row(profile, kernel) for kernel in profile.kernels)
    top, *lines = profile.line_rows()
    tops = "".join(f'<th scope="col">{escape(name)}</th>' for name in top)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in lines[:SHOWN])
    return (
        f'<table class="facts"><tbody>{facts}</tbody></table><p>{escape(profile.advice)}</p>'
        f'<table class="lines"><thead><tr>{tops}</tr></thead><tbody>{rows}</tbody></table>'
        f'<table class="kernels" id="kernels"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>'
    )


def _row(profile: Any, kernel: Any) -> str:
    share = profile.share(kernel)
    cells: list[tuple[Any, str]] = [
        (kernel.label, kernel.label + ("" if kernel.is_device_time else " *")),
        (kernel.launches, f"{kernel.launches:,}"),
        (kernel.total, duration(kernel.total)),
        (kernel.mean, duration(kernel.mean)),
        (kernel.read, amount(kernel.read)),
        (kernel.written, amount(kernel.written)),
        (kernel.bandwidth, f"{kernel.bandwidth:,.1f}"),
        (share or 0, "" if share is None else f"{share:.0%}"),
        (kernel.rate, f"{kernel.rate:,.1f}"),
        (", ".join(kernel.places), ", ".join(kernel.places)),
    ]
    shown = "".join(f'<td data-value="{escape(str(value))}">{escape(text)}</td>' for value, text in cells)
    return f'<tr title="{escape(kernel.step)}">{shown}</tr>'


def _plans(profile: Any) -> str:
    parts = []
    for number, (explanation, times) in enumerate(profile.plans):
        names = "; ".join(step.name for step in explanation.steps[:3]) or "no steps"
        launches = sum(step.launches for step in explanation.steps)
        sizes = [counted(times, "time"), counted(len(explanation.steps), "step"), counted(launches, "launch")]
        title = f"{names}: {', '.join(sizes)}, {explanation.device}"
        parts.append(
            f"<details{' open' if number == 0 else ''}><summary>{escape(title)}</summary>"
            f'<div class="drawing">{explanation.svg()}</div><pre>{escape(explanation.text())}</pre></details>'
        )
    return "".join(parts)


def _timeline(profile: Any) -> dict[str, Any]:
    """Return the bars of the timeline, in microseconds, and the names of its tracks."""
    named = [event for event in profile.trace_events() if event["ph"] == "M"]
    bars = [event for event in profile.trace_events() if event["ph"] == "X"]
    processes = {event["pid"]: event["args"]["name"] for event in named if event["name"] == "process_name"}
    order: dict[tuple[int, int, int], int] = {}
    for event in bars:  # evaluations contain what else the thread does, and so have a track above it
        event["track"] = (event["pid"], event["tid"], int(event["cat"] != "evaluation"))
    for track in sorted({event["track"] for event in bars}):
        order[track] = len(order)
    names = []
    for process, thread, level in order:
        name = processes[process]
        names.append(name if process > 1 else f"{name} {thread}: {'phases' if level else 'evaluations'}")
    longest = sorted(bars, key=lambda event: -event["dur"])[:_BARS]
    return {
        "wall": profile.wall / 1e3,
        "tracks": names,
        "left_out": len(bars) - len(longest),
        "bars": [
            [order[e["track"]], e["ts"], e["dur"], e["cat"], e["name"], ", ".join(e["args"].get("lines", ()))]
            for e in sorted(longest, key=lambda event: event["ts"])
        ],
    }
