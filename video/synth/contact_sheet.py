"""Contact sheets and thumbnails: many pictures on one image of a bounded size.

Thumbnails take JPEGs of this project's own making only; they are not fit for a stranger's bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from io import BytesIO
from math import ceil, log, sqrt
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

_QUALITY = 75


def thumbnail(jpeg: bytes, *, longer_px: int = 192) -> bytes:
    """Return a JPEG whose longer side is at most `longer_px`; raises OSError for what is none."""
    with Image.open(BytesIO(jpeg), formats=["JPEG"]) as picture:
        picture.draft("RGB", (longer_px, longer_px))
        picture.thumbnail((longer_px, longer_px))
        small = BytesIO()
        picture.convert("RGB").save(small, "JPEG", quality=_QUALITY)
    return small.getvalue()


class Tiles(NamedTuple):
    """Small pictures of one size, row by row on one picture."""

    webp: bytes
    height_px: int
    """Height of each; the width is what was asked for."""


def tile(jpegs: Sequence[bytes], *, width_px: int, columns: int, quality: int = 45) -> Tiles:
    """Return pictures as tiles of one width, in rows of `columns`; all take the shape of the first.

    Raises OSError for what is no JPEG.
    """
    with Image.open(BytesIO(jpegs[0]), formats=["JPEG"]) as first:
        height = max(1, round(first.height * width_px / first.width))
    sheet = Image.new("RGB", (columns * width_px, ceil(len(jpegs) / columns) * height))
    for place, jpeg in enumerate(jpegs):
        row, column = divmod(place, columns)
        small = _picture(jpeg, (width_px, height), Image.Resampling.BICUBIC)
        sheet.paste(small, (column * width_px, row * height))
    out = BytesIO()
    # Method 2: files are 7 % larger than by the next one, in half of the time.
    sheet.save(out, "WEBP", quality=quality, method=2)
    return Tiles(out.getvalue(), height)


WIDTH_PX = 2000
"""Width of a sheet, about, where its pictures are large enough."""
SHAPE = 1.5
"""Ratio of width to height that is aimed at."""
MOST_PIXELS = 24_000_000
LONGEST_PX = 30_000
NARROWEST_PX = 112
"""Least width for a picture, so that its time fits under it."""
MARGIN_PX = 24
GAP_PX = 8
MOST_COLUMNS = LONGEST_PX // (NARROWEST_PX + GAP_PX)
TITLE_PX = 26
TEXT_PX = 17
SMALL_PX, LARGE_PX, LARGE_FROM_PX = 13, 16, 240
"""Heights of the letters under a picture, small and large, and its width from which they are
large."""
BARE = 1.5
"""Weight of the share of empty places against a number of columns, beside the logarithm of how far
the sheet is from `SHAPE`."""

Colour = tuple[int, int, int]
GROUND: Colour = (20, 22, 26)
BRIGHT: Colour = (236, 236, 236)
DIM: Colour = (160, 165, 172)
ACCENT: Colour = (244, 180, 60)
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


class SheetPicture(NamedTuple):
    """One picture of a sheet."""

    jpeg: bytes
    label: str
    note: str = ""
    """Text beside the label, in another colour; left out where there is no room."""


class Heading(NamedTuple):
    """What stands above the pictures."""

    title: str
    lines: Sequence[str] = ()
    warnings: Sequence[str] = ()


class SheetGrid(NamedTuple):
    """Where the pictures of a sheet stand; all in pixels but the first two."""

    columns: int
    rows: int
    picture: tuple[int, int]
    """Width and height of each."""
    slot: tuple[int, int]
    """Its room with the line under it, without the gap to the next."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of all of them with the gaps between."""
        width, height = (side + GAP_PX for side in self.slot)
        return self.columns * width - GAP_PX, self.rows * height - GAP_PX


def draw_sheet(
    shots: Sequence[SheetPicture],
    heading: Heading,
    *,
    columns: int | None = None,
    font: Path | None = None,
) -> bytes:
    """Return a PNG of the pictures in rows, none enlarged, with a heading above them.

    There is at least one picture, and all are of the first one's size. Lines that are too long are
    cut. No `columns` makes the sheet about half as wide again as high; no `font`, a file of
    outlines, takes Pillow's own letters, few of which have accents.
    """
    with Image.open(BytesIO(shots[0].jpeg)) as first:
        grid = lay_out(len(shots), first.size, columns)
    head = _Head(heading, font)
    # A heading may widen a narrow sheet up to half of the usual width, and is cut beyond.
    width = max(grid.size[0], min(WIDTH_PX // 2, head.width_px)) + 2 * MARGIN_PX
    top = head.height_px + MARGIN_PX
    sheet = Image.new("RGB", (width, top + grid.size[1] + MARGIN_PX), GROUND)
    draw = ImageDraw.Draw(sheet)
    head.draw(draw, width - 2 * MARGIN_PX)
    letters = _Letters(font, _label_px(grid.slot[0]))
    for place, shot in enumerate(shots):
        row, column = divmod(place, grid.columns)
        left = MARGIN_PX + column * (grid.slot[0] + GAP_PX)
        upper = top + row * (grid.slot[1] + GAP_PX)
        sheet.paste(_picture(shot.jpeg, grid.picture), (left, upper))
        _caption(draw, letters, shot, (left, upper + grid.picture[1] + 3), grid.slot[0])
    out = BytesIO()
    # Level 4: 3 MB instead of the 2.9 of the best level, in a third of the time.
    sheet.save(out, "PNG", compress_level=4)
    return out.getvalue()


def lay_out(count: int, size: tuple[int, int], columns: int | None = None) -> SheetGrid:
    """Return how `count` pictures of `size` are set: large, together near `SHAPE`, and bounded."""
    most = min(count, MOST_COLUMNS)
    if columns is not None:
        return _bounded(count, size, min(columns, most))

    def badness(grid: SheetGrid) -> float:
        width, height = grid.size
        bare = 1 - count / (grid.columns * grid.rows)
        return abs(log(width / height / SHAPE)) + BARE * bare

    return min((_bounded(count, size, columns) for columns in range(1, most + 1)), key=badness)


def _bounded(count: int, size: tuple[int, int], columns: int) -> SheetGrid:
    """Return the grid with the largest pictures that are within all bounds."""
    grid = _grid(count, size, columns, scale=1.0)
    room = max(NARROWEST_PX, (WIDTH_PX + GAP_PX) // columns - GAP_PX)
    scale = min(1.0, room / size[0])
    while True:
        grid = _grid(count, size, columns, scale)
        width, height = grid.size
        over = max(sqrt(width * height / MOST_PIXELS), width / LONGEST_PX, height / LONGEST_PX)
        if over <= 1 or max(grid.picture) <= 1:
            return grid
        # By 2 % at least, or rounding to whole pixels could keep it in place for ever.
        scale *= min(0.98, 1 / over)


def _grid(count: int, size: tuple[int, int], columns: int, scale: float) -> SheetGrid:
    width, height = (max(1, int(side * scale)) for side in size)
    room = max(width, NARROWEST_PX)
    slot = room, height + _label_px(room) + 6
    return SheetGrid(columns, ceil(count / columns), (width, height), slot)


def _label_px(room_px: int) -> int:
    return SMALL_PX if room_px < LARGE_FROM_PX else LARGE_PX


def _picture(
    jpeg: bytes, size: tuple[int, int], resampling: Image.Resampling = Image.Resampling.LANCZOS
) -> Image.Image:
    with Image.open(BytesIO(jpeg)) as image:
        # libjpeg scales while it decodes, which saves most of the work.
        image.draft("RGB", size)
        return image.convert("RGB").resize(size, resampling, reducing_gap=2.0)


class _Letters:
    """A font at one size, with a question mark for what it cannot draw."""

    def __init__(self, font: Path | None, size_px: int) -> None:
        self.font: Font = (
            ImageFont.truetype(font, size_px, layout_engine=ImageFont.Layout.BASIC)
            if font
            else ImageFont.load_default(size_px)
        )
        # No font has this one: it is drawn as what stands for all that are lacking.
        self._blank = bytes(self.font.getmask("\uffff"))
        self._known: dict[str, bool] = {}

    def fit(self, text: str, room_px: float) -> str:
        """Return the text as it can be drawn, cut with three dots where it is too long."""
        shown = "".join(c if self._can_draw(c) else "?" for c in text[:1000])
        if self.width(shown) <= room_px:
            return shown
        ends = range(1, len(shown))
        kept = bisect_right(ends, room_px, key=lambda end: self.width(f"{shown[:end]}..."))
        return f"{shown[:kept].rstrip()}..." if kept else ""

    def width(self, text: str) -> float:
        return self.font.getlength(text)

    def _can_draw(self, char: str) -> bool:
        if char not in self._known:
            self._known[char] = char.isascii() or bytes(self.font.getmask(char)) != self._blank
        return self._known[char]


class _Head:
    def __init__(self, heading: Heading, font: Path | None) -> None:
        title = _Letters(font, TITLE_PX)
        text = _Letters(font, TEXT_PX)
        self._lines: list[tuple[str, _Letters, Colour, int]] = [
            (heading.title, title, BRIGHT, TITLE_PX + 12),
            *((line, text, DIM, TEXT_PX + 8) for line in heading.lines),
            *((line, text, ACCENT, TEXT_PX + 8) for line in heading.warnings),
        ]
        self.height_px = MARGIN_PX + sum(height for *_, height in self._lines)
        self.width_px = ceil(max(letters.width(line[:1000]) for line, letters, *_ in self._lines))

    def draw(self, draw: ImageDraw.ImageDraw, room_px: int) -> None:
        top = MARGIN_PX
        for line, letters, colour, height in self._lines:
            draw.text((MARGIN_PX, top), letters.fit(line, room_px), colour, letters.font)
            top += height


def _caption(
    draw: ImageDraw.ImageDraw,
    letters: _Letters,
    shot: SheetPicture,
    at: tuple[int, int],
    room_px: int,
) -> None:
    label = letters.fit(shot.label, room_px)
    draw.text(at, label, ACCENT if shot.note else DIM, letters.font)
    left = letters.width(f"{label}  ")
    if shot.note and left + letters.width(shot.note) <= room_px:
        draw.text((at[0] + left, at[1]), letters.fit(shot.note, room_px), ACCENT, letters.font)
