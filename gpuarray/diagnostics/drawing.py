"""Small layered drawings of graphs, as SVG and as DOT, without an external layout program.

A box is one layer below the deepest box that it reads. Within a layer, boxes are ordered by the mean position of their
neighbours, in a few sweeps down and up, which removes most crossings. The width of a text is estimated from its length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_LETTER: Final = 6.7
_LINE: Final = 15
_PAD: Final = 9
_GAP: Final = 22
_BETWEEN: Final = 40
_SWEEPS: Final = 8
#: Letters of a line; what is longer is cut.
_WIDTH: Final = 44
#: The colours of the kinds of boxes: fill and border.
COLOURS: Final = {
    "leaf": ("#eef2f7", "#8292a6"),
    "node": ("#ffffff", "#5b6b7f"),
    "step": ("#e3f1ff", "#2f74b5"),
    "host": ("#fff1e0", "#c67a1f"),
    "result": ("#e5f6e8", "#3f8f4f"),
}


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its kind (of :data:`COLOURS`), its lines of text, its tooltip, and the boxes that it reads.

    ``reads`` has pairs of the number of a box and the text of the edge.
    """

    kind: str
    lines: tuple[str, ...]
    title: str = ""
    reads: tuple[tuple[int, str], ...] = ()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        width = max((min(len(line), _WIDTH) for line in self.lines), default=1)
        return width * _LETTER + 2 * _PAD, len(self.lines) * _LINE + 1.2 * _PAD


def dot(boxes: Sequence[Box]) -> str:
    """Return a drawing as text in the DOT language, for Graphviz."""
    lines = ["digraph gpuarray {", '  node [shape=box, style="filled,rounded", fontname="monospace", fontsize=10];']
    for number, box in enumerate(boxes):
        text = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in box.lines)
        fill, border = COLOURS[box.kind]
        lines.append(f'  n{number} [label="{text}", fillcolor="{fill}", color="{border}"];')
        for source, label in box.reads:
            shown = f' [label="{label}", fontsize=9]' if label else ""
            lines.append(f"  n{source} -> n{number}{shown};")
    return "\n".join([*lines, "}"]) + "\n"


def _layers(boxes: Sequence[Box]) -> list[list[int]]:
    """Return the numbers of the boxes of each layer, in order."""
    depth: list[int] = []
    for box in boxes:
        depth.append(max((depth[source] + 1 for source, _ in box.reads), default=0))
    readers: list[list[int]] = [[] for _ in boxes]
    for number, box in enumerate(boxes):
        for source, _ in box.reads:
            readers[source].append(number)
    for number, box in enumerate(boxes):  # an input stands right above its first reader
        if not box.reads and readers[number]:
            depth[number] = min(depth[reader] for reader in readers[number]) - 1
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for number, level in enumerate(depth):
        layers[level].append(number)
    above = [[source for source, _ in box.reads] for box in boxes]
    for sweep in range(_SWEEPS):
        near = readers if sweep % 2 else above
        centre = {number: (i + 0.5) / len(layer) for layer in layers for i, number in enumerate(layer)}
        for layer in layers[::-1] if sweep % 2 else layers:
            middle = {n: sum(centre[o] for o in near[n]) / len(near[n]) if near[n] else centre[n] for n in layer}
            layer.sort(key=middle.__getitem__)
            centre.update({number: (i + 0.5) / len(layer) for i, number in enumerate(layer)})
    return layers


def svg(boxes: Sequence[Box]) -> str:
    """Return a drawing as an SVG element, including its styles."""
    layers = _layers(boxes)
    widths = [sum(boxes[n].size[0] for n in layer) + _GAP * (len(layer) - 1) for layer in layers]
    width = max(widths, default=0) + 2 * _GAP
    corner: dict[int, tuple[float, float]] = {}
    y = float(_GAP)
    for layer, used in zip(layers, widths, strict=True):
        x = (width - used) / 2
        for number in layer:
            corner[number] = x, y
            x += boxes[number].size[0] + _GAP
        y += max(boxes[n].size[1] for n in layer) + _BETWEEN
    height = max(y - _BETWEEN, 0) + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="ui-monospace, monospace" font-size="11">'
    ]
    for number, box in enumerate(boxes):
        for source, label in box.reads:
            parts.append(_edge(corner[source], boxes[source].size, corner[number], box.size, label))
    parts += [_drawn(box, corner[number]) for number, box in enumerate(boxes)]
    return "\n".join([*parts, "</svg>"])


def _drawn(box: Box, corner: tuple[float, float]) -> str:
    fill, border = COLOURS[box.kind]
    (x, y), (width, height) = corner, box.size
    texts = "".join(
        f'<text x="{x + _PAD:.1f}" y="{y + _PAD + 9 + _LINE * i:.1f}" fill="#1b2733">{escape(_cut(line))}</text>'
        for i, line in enumerate(box.lines)
    )
    title = f"<title>{escape(box.title)}</title>" if box.title else ""
    return (
        f'<g>{title}<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" fill="{fill}" '
        f'stroke="{border}"/>{texts}</g>'
    )


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "\u2026"


def _edge(
    source: tuple[float, float],
    extent: tuple[float, float],
    target: tuple[float, float],
    centre: tuple[float, float],
    label: str,
) -> str:
    x0, y0 = source[0] + extent[0] / 2, source[1] + extent[1]
    x1, y1 = target[0] + centre[0] / 2, target[1]
    bend = max((y1 - y0) / 2, 12)
    path = f"M{x0:.1f} {y0:.1f} C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    line = f'<path d="{path}" fill="none" stroke="#9aa9ba"/>'
    if not label:
        return line
    x, y = (x0 + x1) / 2 + 4, (y0 + y1) / 2
    return f'{line}<text x="{x:.1f}" y="{y:.1f}" fill="#66788c" font-size="10">{escape(label)}</text>'
