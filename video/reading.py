"""Text drawn into the picture, read by OCR before scaling: what stood there, from when to when.

Needs the extra `ocr` (RapidOCR on onnxruntime), whose models lie in its wheel: nothing is fetched.
What it reads is a stranger's text and is cleaned as that of a subtitle file is.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from memory.errors import BadInput
from memory.records import Cue
from video.cues import plain
from video.decoders import Decoder, decoder_named
from video.index import Index, choose
from video.sharpness import sharpness

READINGS = 16
"""At most so many frames of a video are read; 0.1 to 0.6 CPU seconds each."""
_TRIES = 2
"""Of so many neighbours the sharpest is read."""
_LONGEST_PX = 1600
"""Longer sides are scaled to it; small print of a large screen is still 10 pixels high."""
_SURE = 0.8
_SURE_AT_ONCE = 0.95
"""Confidence, 0 to 1, that a line needs; the second where only one reading shows it."""
_SAME = 0.8
"""Similarity from which two lines of neighbouring readings are one that stands on."""
_SHORTEST = 3
_LONGEST = 200
"""Letters and digits that a line has at least, and characters that are kept of it."""
_MOST_LINES = 8
"""Lines of one picture that are read, the tallest; a page of print is no caption."""
_STILL = 4
"""Grey levels by which a line's patch may change and be the same line."""
_MARGIN = 2
"""Pixels around a line that are read with it; small print is misread without."""
_HEAD = struct.Struct("<d")
Pixels = NDArray[np.uint8]
"""Shape (height, width, 3), blue first."""


class Line(NamedTuple):
    """One line of one picture."""

    text: str
    sure: float
    """Confidence, 0 to 1."""


Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels."""


class Engine(Protocol):
    """What RapidOCR does, one step at a time."""

    def find(self, pixels: Pixels) -> list[Box]:
        """Return where lines of text stand."""
        ...

    def read(self, patch: Pixels) -> Line:
        """Return what a line's patch says."""
        ...


def can_read() -> bool:
    """Return whether the extra `ocr` is installed. Imports nothing."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def refuse_without() -> None:
    """Return if text can be read here.

    Raises:
        BadInput: the extra is not installed.
    """
    if not can_read():
        raise BadInput(
            "text in the picture cannot be read here; pip install 'videoautoarena[ocr]', "
            "or leave out --ocr"
        )


def read_captions(path: Path, index: Index, *, decoder: Decoder | None = None) -> tuple[Cue, ...]:
    """Return the lines of text drawn into the picture, in the order of time.

    Each stands from halfway between the first reading that shows it and the one before to halfway
    to the next that does not: its ends are off by up to a thirtieth of the video. Blocks: 1 to 8
    CPU seconds, 450 MB.

    Raises:
        BadInput: the extra `ocr` is not installed.
        UnusableVideo: not one frame could be decoded.
    """
    refuse_without()
    # Decoded before the models are loaded: a large picture and they need much memory each.
    shots = sharpest(path, index, decoder or decoder_named("av"))
    reader = Reader(_engine())
    readings = [(time_s, reader.lines(image)) for time_s, image in shots]
    return merged(readings, duration_s=index.duration_s)


def sharpest(path: Path, index: Index, decoder: Decoder) -> Iterable[tuple[float, Image.Image]]:
    """Return up to `READINGS` pictures and their times in seconds, the sharpest of each two."""
    ticks = choose(index.shown, _TRIES * READINGS)
    width, height = decoder.shape(path)
    scale = min(1.0, _LONGEST_PX / max(width, height))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    catch = decoder.pictures(path, index, wanted=ticks, size=size, develop=_developed)
    had = catch.pictures
    each = max(1, -(-len(ticks) // READINGS))
    parts = (ticks[first : first + each] for first in range(0, len(ticks), each))
    groups = [[tick for tick in part if tick in had] for part in parts]
    best = [max(group, key=lambda tick: _HEAD.unpack_from(had[tick])) for group in groups if group]
    return ((index.seconds(tick), Image.open(BytesIO(had[tick][_HEAD.size :]))) for tick in best)


class Reader:
    """Reads one video's pictures in turn; a line that stands still is read once."""

    def __init__(self, engine: Engine) -> None:
        """Begin with nothing read."""
        self._engine = engine
        self._before: list[tuple[Box, Pixels, Line]] = []

    def lines(self, image: Image.Image) -> list[Line]:
        """Return the tallest lines of a picture from top to bottom, then from left to right."""
        # As OpenCV has it: blue first.
        pixels = np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])
        flat = [box for box in self._engine.find(pixels) if _is_flat(box)]
        tallest = sorted(flat, key=lambda box: (box[1] - box[3], box))[:_MOST_LINES]
        read = [self._read(box, pixels) for box in sorted(tallest, key=lambda b: (b[1], b[0]))]
        self._before = read
        return [line for _, _, line in read]

    def _read(self, box: Box, pixels: Pixels) -> tuple[Box, Pixels, Line]:
        for known, patch, line in self._before:
            left, top, right, bottom = known
            now = pixels[top:bottom, left:right]
            if _is_within(box, known) and np.abs(now.astype(np.int16) - patch).mean() <= _STILL:
                return known, patch, line
        left, top, right, bottom = box
        patch = pixels[top:bottom, left:right]
        return box, patch, self._engine.read(np.ascontiguousarray(patch))


def merged(
    readings: Sequence[tuple[float, Sequence[Line]]], *, duration_s: float
) -> tuple[Cue, ...]:
    """Return one cue for each line, however many readings in a row it was found in.

    Args:
        readings: time in seconds and lines of each, in the order of time.
        duration_s: how long the video is.
    """
    found: list[_Standing] = []
    standing: list[_Standing] = []
    for place, (_, lines) in enumerate(readings):
        still: list[_Standing] = []
        for line in _legible(lines):
            known = next((old for old in standing if old.is_like(line)), None)
            if known is None:
                known = _Standing(place, place, line)
                found.append(known)
            else:
                standing.remove(known)
                known.see(place, line)
            still.append(known)
        standing = still
    times = [time_s for time_s, _ in readings]
    halves = [(one + other) / 2 for one, other in pairwise(times)]
    bounds = [0.0, *(round(half, 3) for half in halves), round(duration_s, 3)]
    return tuple(
        Cue(start_s=bounds[kept.first], end_s=bounds[kept.last + 1], text=kept.best.text)
        for kept in found
        if kept.is_sure
    )


def alike(one: str, other: str) -> float:
    """Return how like two texts are by letters and digits alone, 0 to 1."""
    a, b = letters(one), letters(other)
    return SequenceMatcher(None, a, b, autojunk=False).ratio() if a and b else 0.0


def letters(text: str) -> str:
    """Return the letters and digits of a text, small, without what stands between."""
    return "".join(char for char in text.casefold() if char.isalnum())


@dataclass
class _Standing:
    """A line and the readings in a row that show it; the surest reading of it is its text."""

    first: int
    last: int
    best: Line

    @property
    def is_sure(self) -> bool:
        return self.last > self.first or self.best.sure >= _SURE_AT_ONCE

    def is_like(self, line: Line) -> bool:
        return alike(self.best.text, line.text) >= _SAME

    def see(self, place: int, line: Line) -> None:
        self.last = place
        if line.sure > self.best.sure:
            self.best = line


def _is_flat(box: Box) -> bool:
    """Return whether a box is one of a line that runs from side to side."""
    left, top, right, bottom = box
    return right > left and bottom > top and 1.2 * (right - left) >= bottom - top


def _is_within(box: Box, known: Box) -> bool:
    """Return whether two boxes have their sides in the same places, but for a few pixels."""
    slack = max(2, (known[3] - known[1]) // 5)
    return all(abs(a - b) <= slack for a, b in zip(box, known, strict=True))


def _legible(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that are sure and long enough, each in one line of plain text."""
    sure = (line for line in lines if line.sure >= _SURE)
    told = (Line(plain(line.text)[:_LONGEST].rstrip(), line.sure) for line in sure)
    return [line for line in told if len(letters(line.text)) >= _SHORTEST]


def _developed(image: Image.Image) -> bytes:
    """Return how sharp a picture is, and the picture; 48 of them are held at once."""
    out = BytesIO()
    image.save(out, "JPEG", quality=95)
    return _HEAD.pack(sharpness(image)) + out.getvalue()


class _RapidOCR:
    """RapidOCR in one thread, silent, with the models of its own wheel."""

    def __init__(self) -> None:
        # From 1.29 on onnxruntime tells its maker of every session; it looks here while it loads.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import cv2
        import onnxruntime
        import rapidocr

        onnxruntime.disable_telemetry_events()
        cv2.setNumThreads(1)
        models = Path(rapidocr.__file__).parent / "models"
        self._call: Any = rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                # The default enlarges small pictures, takes 0.8 GB for large ones and finds no
                # more: this only says where lines are, they are cut out of the whole picture.
                "Det.limit_type": "max",
                "Det.limit_side_len": 736,
                # By name, for without one a model that is missing would be fetched.
                "Det.model_path": str(_only(models, "*det*.onnx")),
                "Rec.model_path": str(_only(models, "*rec*.onnx")),
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def find(self, pixels: Pixels) -> list[Box]:
        found = self._call(pixels, use_det=True, use_cls=False, use_rec=False).boxes
        return [_box(corners, pixels.shape) for corners in (() if found is None else found)]

    def read(self, patch: Pixels) -> Line:
        found = self._call(patch, use_det=False, use_cls=False, use_rec=True)
        texts, scores = found.txts or ("",), found.scores or (0.0,)
        return Line(str(texts[0]), float(scores[0]))


@cache
def _engine() -> Engine:
    return _RapidOCR()


def _box(corners: Any, shape: tuple[int, ...]) -> Box:
    """Return the upright box around four corners of shape (4, 2), with a margin in the picture."""
    left, top = (max(0, int(side) - _MARGIN) for side in np.floor(np.min(corners, axis=0)))
    right, bottom = (int(side) + _MARGIN for side in np.ceil(np.max(corners, axis=0)))
    return left, top, min(right, shape[1]), min(bottom, shape[0])


def _only(folder: Path, pattern: str) -> Path:
    models = sorted(folder.glob(pattern))
    if not models:
        raise BadInput(
            "the package rapidocr here brings no models along; pip install 'videoautoarena[ocr]'"
        )
    return models[0]
