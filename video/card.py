"""A test card: upright stripes in colours that have plain names."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

from PIL import Image

COLOURS = {
    "red": (215, 25, 30),
    "green": (20, 150, 45),
    "blue": (30, 60, 215),
    "yellow": (250, 225, 25),
    "white": (255, 255, 255),
    "black": (0, 0, 0),
}
"""Names of colours that nobody calls by another, and their RGB."""
WIDTH_PX, HEIGHT_PX = 240, 160


def draw_card(names: Sequence[str]) -> bytes:
    """Return a JPEG of equally wide stripes in these colours, from left to right."""
    card = Image.new("RGB", (WIDTH_PX, HEIGHT_PX))
    for place, name in enumerate(names):
        left, right = (WIDTH_PX * end // len(names) for end in (place, place + 1))
        card.paste(COLOURS[name], (left, 0, right, HEIGHT_PX))
    out = BytesIO()
    card.save(out, "JPEG", quality=90)
    return out.getvalue()
