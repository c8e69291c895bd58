"""Reading a test card's colours off its pixels."""

from __future__ import annotations

import io

from PIL import Image

from videoautoarena.video.synth.splice import COLOURS


def colours_of(jpeg: bytes, stripes: int) -> list[str]:
    """Return the names nearest to the colours in the middle of each stripe."""
    card = Image.open(io.BytesIO(jpeg)).convert("RGB")
    middles = [card.width * (2 * place + 1) // (2 * stripes) for place in range(stripes)]
    return [_nearest(card.getpixel((x, card.height // 2))) for x in middles]


def _nearest(pixel: object) -> str:
    assert isinstance(pixel, tuple)

    def distance(name: str) -> int:
        return sum((seen - meant) ** 2 for seen, meant in zip(pixel, COLOURS[name], strict=True))

    return min(COLOURS, key=distance)
