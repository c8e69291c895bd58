"""What one message held, and what is seen in its frames: pure functions, remembered by digest."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from langchain_core.messages import BaseMessage
from numpy.typing import NDArray
from PIL import Image

from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    FORMAT_LINE,
    noted_scored,
    number_of,
)
from videoautoarena.agents.prompting.fences import Turn, history_in, open_fences, question_in
from videoautoarena.agents.prompting.languages import noted_language, noted_users

_STAMP = re.compile(r"t=(\d+(?:\.\d+)?)s")
_CONTRACT = re.compile(rf"^{FORMAT_LINE}(?P<role>\w+)(?: \(\d+\))?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class ReceivedFrame:
    """One JPEG as it came: base64 text, known by the digest of that text."""

    time_s: float
    base64: str
    digest: bytes


@dataclass(frozen=True)
class ModelInput:
    """Everything an offline model gets to know."""

    pictures: tuple[ReceivedFrame, ...]
    text: str
    """The role text: the last text block."""
    words: int
    """How many words the call held, system text and stamps included."""

    @property
    def question(self) -> str:
        """What a contestant is asked: everything after the first line that reads `Question:`."""
        return question_in(self.text)

    @cached_property
    def history(self) -> tuple[Turn, ...]:
        """What was said in the rounds before the question; empty if it is the first."""
        return history_in(self.text)

    @property
    def role(self) -> str | None:
        """The role named by the last contract line outside the fences; None without such a line."""
        return self._contract["role"] if self._contract else None

    @property
    def contracts(self) -> int:
        """The number of the contract that binds."""
        return number_of(self._contract[0]) if self._contract else CONTRACTS

    @property
    def language(self) -> str | None:
        """The code of the language that the note outside the fences asks for; None without one."""
        return noted_language(open_fences(self.text)[0])

    @property
    def user_languages(self) -> dict[int, str]:
        """The code of the language of each user to be invented, by number from 1."""
        return noted_users(open_fences(self.text)[0])

    @property
    def scored_rounds(self) -> int | None:
        """How many rounds the note outside the fences wants scored; None without one."""
        return noted_scored(open_fences(self.text)[0])

    @cached_property
    def _contract(self) -> re.Match[str] | None:
        # Outside the fences alone: a verdict forged in an answer once made an evolver reply as a
        # judge.
        found = list(_CONTRACT.finditer(open_fences(self.text)[0]))
        return found[-1] if found else None


def picture(time_s: float, base64: str) -> ReceivedFrame:
    """Return a picture known by its digest; nothing is decoded yet."""
    return ReceivedFrame(time_s, base64, hashlib.sha256(base64.encode()).digest())


_CASELESS = str.maketrans({"\u017f": "s", "\u0130": "I", "\u0131": "i", "\u212a": "K"})
"""Letters that patterns without case take for others, whose words no table has."""


def read(messages: Iterable[BaseMessage]) -> ModelInput:
    """Return what the messages hold. An image without a stamp is one second after the last."""
    pictures: list[ReceivedFrame] = []
    text = ""
    words = 0
    stamped: float | None = None
    for human, block in _blocks(messages):
        if block["type"] == "image":
            usual = pictures[-1].time_s + 1 if pictures else 0.0
            pictures.append(picture(usual if stamped is None else stamped, block["base64"]))
            stamped = None
            continue
        words += len(block["text"].split())
        stamp = _STAMP.fullmatch(block["text"].strip())
        if stamp:
            stamped = float(stamp[1])
        # The last text of the user is the role's; the system's is the same for all.
        elif human:
            text = block["text"]
    return ModelInput(tuple(pictures), text.translate(_CASELESS), words)


def _blocks(messages: Iterable[BaseMessage]) -> Iterator[tuple[bool, dict[str, Any]]]:
    for message in messages:
        content = message.content
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            entry = {"type": "text", "text": block} if isinstance(block, str) else block
            if entry.get("type") in ("text", "image"):
                yield message.type == "human", entry


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """The last `size` results, least recently used forgotten first.

    Only results of pure functions of the key belong here: then a forgotten result, made again,
    is the same, and a full memory changes no answer.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the result kept for `key`; make it first if none is kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        # Made outside the lock, so that threads decode side by side; two that make the same make
        # equals.
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)


Vector: TypeAlias = NDArray[np.float32]

COLOURS = (
    "black", "grey", "white", "red", "orange", "brown",
    "yellow", "green", "teal", "blue", "purple", "pink",
)  # fmt: skip
_SIDE_PX = 128
_THUMB_PX = 64
# The weights of ITU-R BT.601.
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
# In degrees; red lies at both ends of the circle.
_HUE_ENDS = (15, 42, 70, 160, 195, 255, 290, 340)
_HUES = tuple(
    COLOURS.index(name)
    for name in ("red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "red")
)


@dataclass(frozen=True, eq=False)
class FrameMeasurement:
    """One frame, measured. About 10 kB."""

    luma: float
    """Mean brightness, 0 to 1."""
    edge: float
    """Mean step between neighbouring pixels at 128 pixels, in grey levels."""
    shares: Vector
    """shape (12,): share of each of COLOURS."""
    histogram: Vector
    """shape (64,): share of each cell of 4 x 4 x 4 RGB."""
    layout: Vector
    """shape (192,): 8 x 8 mean colours."""
    thumb: NDArray[np.float16]
    """shape (64, 64): grey levels."""


@dataclass(frozen=True)
class FrameChange:
    """What changed from one frame to the next."""

    recoloured: float
    """Half the L1 distance of the histograms, 0 to 1."""
    relaid: float
    """1 - correlation of the colour layouts: light leaves it low, another scene does not."""
    moved: float
    """Mean difference of the thumbs, 0 to 1."""


# At about 10 kB a frame, 40 MB at most.
_GLANCES: Memo[bytes, FrameMeasurement] = Memo(4096)
_STEPS: Memo[tuple[bytes, bytes], FrameChange] = Memo(32768)


def glance(picture: ReceivedFrame) -> FrameMeasurement:
    """Return what one frame shows. Decodes once per digest, about 1 ms."""
    return _GLANCES.get(picture.digest, lambda: measured(base64.b64decode(picture.base64)))


def step(before: ReceivedFrame, after: ReceivedFrame) -> FrameChange:
    key = before.digest, after.digest
    return _STEPS.get(key, lambda: compare(glance(before), glance(after)))


def likeness(one: Vector, other: Vector) -> float | None:
    """Return the correlation of two colour layouts; None if they are too even to compare."""
    a = one - one.mean()
    b = other - other.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 50 else None


def apart(one: Vector, other: Vector) -> float:
    """Return half the L1 distance of two histograms, 0 to 1."""
    return float(0.5 * np.abs(one - other).sum())


def compare(one: FrameMeasurement, other: FrameMeasurement) -> FrameChange:
    """Return what changed from one frame to the next."""
    recoloured = apart(one.histogram, other.histogram)
    alike = likeness(one.layout, other.layout)
    if alike is None:
        alike = 1.0 if recoloured < 0.3 else 0.0
    # thumbs are kept in half precision: at full a film in memory would cost twice as much
    difference = one.thumb.astype(np.float32) - other.thumb.astype(np.float32)
    return FrameChange(recoloured, 1 - alike, float(np.abs(difference).mean() / 255))


def measured(jpeg: bytes) -> FrameMeasurement:
    """Return what one JPEG shows; not remembered, unlike `glance`."""
    with Image.open(io.BytesIO(jpeg)) as picture:
        scale = min(1.0, _SIDE_PX / max(picture.size))
        box = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
        # the draft must keep the picture's aspect: a square box leaves a wide picture unshrunk
        picture.draft("RGB", box)
        whole = picture.convert("RGB")
    if max(whole.size) > _SIDE_PX:
        whole = whole.resize(box, Image.Resampling.BOX)
    return seen_in(whole)


def seen_in(small: Image.Image) -> FrameMeasurement:
    """Return what a small RGB picture shows."""
    grey = np.asarray(small, np.float32) @ _LUMA
    steps = [np.abs(np.diff(grey, axis=axis)) for axis in (0, 1) if grey.shape[axis] > 1]
    square = small.resize((_THUMB_PX, _THUMB_PX), Image.Resampling.BOX)
    pixels = np.asarray(square).reshape(-1, 3)
    cells = pixels >> 6
    cell = cells[:, 0] * 16 + cells[:, 1] * 4 + cells[:, 2]
    layout = small.resize((8, 8), Image.Resampling.BOX)
    return FrameMeasurement(
        luma=float(grey.mean() / 255),
        edge=float(np.mean([one.mean() for one in steps])) if steps else 0.0,
        shares=(np.bincount(colour_names(pixels), minlength=12) / len(pixels)).astype(np.float32),
        histogram=(np.bincount(cell, minlength=64) / len(pixels)).astype(np.float32),
        layout=np.asarray(layout, np.float32).ravel(),
        thumb=(np.asarray(square, np.float32) @ _LUMA).astype(np.float16),
    )


def colour_names(pixels: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the place in COLOURS of the name of each pixel, given as rows of RGB."""
    cells = (pixels >> 3).astype(np.intp)
    return _names()[(cells[:, 0] << 10) + (cells[:, 1] << 5) + cells[:, 2]]


@cache
def _names() -> NDArray[np.intp]:
    """Shape (32768,): index into COLOURS of every 5-bit RGB value, by plain regions of HSV."""
    # Each value of five bits stands for the middle of its eight.
    rgb = (np.indices((32, 32, 32)).reshape(3, -1) * 8 + 4) / 255
    high = rgb.max(0)
    low = rgb.min(0)
    chroma = np.maximum(high - low, 1e-6)
    red, green, blue = rgb
    hue = 60 * np.where(
        high == red,
        ((green - blue) / chroma) % 6,
        np.where(high == green, (blue - red) / chroma + 2, (red - green) / chroma + 4),
    )
    pale = (high - low) / high
    # brown is a dark orange and pink a pale red: hue alone would call neither by its name
    name = np.array(_HUES)[np.searchsorted(_HUE_ENDS, hue, side="right")]
    index = COLOURS.index
    name = np.where((name == index("orange")) & (high < 0.62), index("brown"), name)
    is_red = name == index("red")
    name = np.where(is_red & (high < 0.4) & (hue < 20), index("brown"), name)
    name = np.where(is_red & (pale < 0.5) & (high > 0.7), index("pink"), name)
    is_grey = (pale < 0.16) | ((high < 0.3) & (pale < 0.35))
    name = np.where(is_grey, np.where(high > 0.8, index("white"), index("grey")), name)
    return np.where(high < 0.17, index("black"), name).astype(np.intp)
