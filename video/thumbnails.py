"""Small copies of frames, for pages that show many of them."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

_QUALITY = 75


def thumbnail(jpeg: bytes, *, longer_px: int = 192) -> bytes:
    """Return a JPEG whose longer side is at most `longer_px`; raises OSError for what is none."""
    with Image.open(BytesIO(jpeg), formats=["JPEG"]) as picture:
        picture.draft("RGB", (longer_px, longer_px))
        picture.thumbnail((longer_px, longer_px))
        small = BytesIO()
        picture.convert("RGB").save(small, "JPEG", quality=_QUALITY)
    return small.getvalue()
