"""What an SVG picture says, and where its text stands."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

_TEXT = "{http://www.w3.org/2000/svg}text"
_RENDERER = RendererAgg(1, 1, 72)


class Box(NamedTuple):
    """A text, and the points between which it stands in a picture."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two overlap by more than a hair."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > 0.5 and down > 0.5


def size_of(svg: bytes) -> tuple[float, float]:
    """Width and height in points."""
    _, _, width, height = ElementTree.fromstring(svg).attrib["viewBox"].split()
    return float(width), float(height)


def texts_of(svg: bytes) -> list[str]:
    return [box.text for box in boxes_of(svg)]


def boxes_of(svg: bytes) -> list[Box]:
    """Every text of a picture; upright or turned by a quarter."""
    return [_box(node) for node in ElementTree.fromstring(svg).iter(_TEXT) if node.text]


def _box(node: ElementTree.Element) -> Box:
    style = node.attrib["style"]
    text = node.text or ""
    size = float(re.findall(r"([\d.]+)px", style)[0])
    weight = "bold" if re.search(r"\b(bold|700)\b", style) else "normal"
    font = FontProperties(family="DejaVu Sans", size=size, weight=weight)
    wide, high, below = _RENDERER.get_text_width_height_descent(text, font, False)
    if "x" in node.attrib:
        is_upright = "rotate(-90" not in node.attrib.get("transform", "")
        x = float(node.attrib["x"])
        y = float(node.attrib["y"])
    else:
        moved = re.fullmatch(r"translate\((\S+) (\S+)\) rotate\(-90\)", node.attrib["transform"])
        assert moved
        x = float(moved[1])
        y = float(moved[2])
        is_upright = False
    anchor = (re.findall(r"text-anchor: (\w+)", style) or ["start"])[0]
    begin = {"start": 0.0, "middle": -wide / 2, "end": -wide}[anchor]
    if is_upright:
        return Box(text, x + begin, y - high + below, x + begin + wide, y + below)
    return Box(text, x - high + below, y - begin - wide, x + below, y - begin)
