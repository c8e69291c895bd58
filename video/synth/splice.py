"""Clips spliced out of videos and plain cards, sampled as any video is.

A spliced clip is a list of parts and never a file. Its frames are those that a file of these parts
would give, decoded from the videos themselves; the cache knows them by the digest of the list.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Record, Sampling
from videoautoarena.video.decode.decoders import decoder_named
from videoautoarena.video.decode.index import Index
from videoautoarena.video.decode.jpeg import fitted_size, on_black, to_jpeg
from videoautoarena.video.sampling.policies import Sampled, stand_in

COLOURS = {
    "red": (215, 25, 30),
    "green": (20, 150, 45),
    "blue": (30, 60, 215),
    "yellow": (250, 225, 25),
    "white": (255, 255, 255),
    "black": (0, 0, 0),
}
"""Colours that everybody calls by the same name, with their RGB."""
WIDTH_PX = 240
HEIGHT_PX = 160


def draw_card(names: Sequence[str]) -> bytes:
    """Return a JPEG of equally wide stripes in these colours, from left to right."""
    card = Image.new("RGB", (WIDTH_PX, HEIGHT_PX))
    for place, name in enumerate(names):
        left, right = (WIDTH_PX * end // len(names) for end in (place, place + 1))
        card.paste(COLOURS[name], (left, 0, right, HEIGHT_PX))
    out = BytesIO()
    card.save(out, "JPEG", quality=90)
    return out.getvalue()


SPLICER = "1"
"""To be raised whenever this code would give other bytes for the same parts."""
CHEQUERS = 32
"""Squares across a chequered card: too many for any footage to look as busy."""
FLAT = 16
"""Largest difference in grey levels within a picture that counts as one flat colour."""
ALIKE = 12.0
"""Mean difference in grey levels up to which a foreign picture looks like one of the clip's."""
LAYOUT_PX = 16

Card = Literal["red", "green", "blue", "yellow", "white", "black", "chequered"]
Layout: TypeAlias = NDArray[np.float32]


class SplicePart(Record):
    """A stretch of a clip: of a video from `start_s` on, or a card that fills the picture."""

    seconds: float = Field(gt=0)
    video: str = ""
    """sha256 of the video; empty for a card."""
    start_s: float = Field(default=0.0, ge=0)
    card: Card | None = None


class Splice(Record):
    """A clip: parts one after the other. The first one's video gives the picture its size."""

    parts: tuple[SplicePart, ...] = Field(min_length=1)

    @property
    def sha256(self) -> str:
        """Digest by which the clip is known, as a video is by that of its bytes."""
        return digest(canonical_json(["splice", SPLICER, self.model_dump()]))

    @property
    def id(self) -> str:
        """First 12 hex digits of `sha256`, as for a video."""
        return self.sha256[:12]

    @property
    def ground(self) -> str:
        """sha256 of the video that the other parts are set into."""
        return self.parts[0].video

    @property
    def ends(self) -> list[float]:
        """When each part ends, in seconds of the clip."""
        return list(accumulate(part.seconds for part in self.parts))

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame until the last has been shown."""
        return self.ends[-1]

    @property
    def videos(self) -> list[str]:
        """sha256 of every video that is needed, in order of first use."""
        return list(dict.fromkeys(part.video for part in self.parts if part.video))


class ShownPart(NamedTuple):
    """What is on screen at one instant of a clip."""

    time_s: float
    part: SplicePart
    offset_s: float


class _PartPictures(NamedTuple):
    """The pictures that a clip takes from one video, by their ticks there."""

    times: Index
    pictures: dict[int, bytes]
    damaged: int

    def picture(self, shown: ShownPart) -> bytes:
        return self.pictures[_tick(self.times, shown)]


def sample_splice(splice: Splice, files: Mapping[str, Path], *, sampling: Sampling) -> Sampled:
    """Return `sampling.frames` frames of a clip, uniform in time. Blocks; CPU only.

    Pictures of other videos are scaled into the size of the first one's and stand on black. It
    costs the decoding of the stretches that are used, and a pass of reading over their videos.
    `files` is where each video lies by its sha256. Raises UnusableVideo where one cannot be
    decoded, or what was set in could not be distinguished from it.
    """
    shown = instants(splice, sampling.frames)
    size = fitted_size(decoder_named(sampling.decoder).shape(files[splice.ground]), sampling)
    videos = {
        sha256: _take(files[sha256], [s for s in shown if s.part.video == sha256], sampling, size)
        for sha256 in splice.videos
    }
    cards = {p.card: to_jpeg(draw(p.card, size), sampling.quality) for p in splice.parts if p.card}
    jpegs = tuple(
        cards[s.part.card] if s.part.card else videos[s.part.video].picture(s) for s in shown
    )
    _refuse_unclear(splice, shown, jpegs)
    damaged = sum(video.damaged for video in videos.values())
    return Sampled.of(splice.id, size, (s.time_s for s in shown), jpegs, damaged=damaged)


def instants(splice: Splice, count: int) -> list[ShownPart]:
    """Return what is on screen at `count` (>= 2) instants, uniform in time, both ends included."""
    ends = splice.ends
    shown = []
    for number in range(count):
        time_s = ends[-1] * number / (count - 1)
        place = min(bisect_right(ends, time_s), len(ends) - 1)
        part = splice.parts[place]
        # At the end of the last part its last frame is still on screen, not the one after it.
        offset_s = min(time_s - (ends[place] - part.seconds), part.seconds * 0.999)
        shown.append(ShownPart(time_s, part, max(0.0, offset_s)))
    return shown


def draw(card: Card, size: tuple[int, int]) -> Image.Image:
    """Return a card that fills a picture of `size` pixels."""
    if card != "chequered":
        return Image.new("RGB", size, COLOURS[card])
    side = max(1, size[0] // CHEQUERS)
    across, down = (np.arange(length) // side for length in size)
    odd = (across[None, :] + down[:, None]) % 2
    return Image.fromarray((odd * 255).astype(np.uint8)).convert("RGB")


def _tick(index: Index, shown: ShownPart) -> int:
    """Return the frame of a video that is on screen at an instant of the clip."""
    time_s = shown.part.start_s + shown.offset_s
    wanted = index.shown[0] + int(time_s / index.time_base)
    return index.shown[max(0, bisect_right(index.shown, wanted) - 1)]


def _take(
    path: Path, shown: Sequence[ShownPart], sampling: Sampling, size: tuple[int, int]
) -> _PartPictures:
    decoder = decoder_named(sampling.decoder)
    own = decoder.shape(path)
    index = decoder.index(path)
    inner = size if sampling.fit == "stretch" else _inside(own, size)

    def develop(picture: Image.Image) -> bytes:
        return to_jpeg(on_black(picture, size), sampling.quality)

    ticks = sorted({_tick(index, s) for s in shown})
    catch = decoder.pictures(path, index, wanted=ticks, size=inner, develop=develop)
    if not catch.pictures:
        raise UnusableVideo("holds no frame there that can be decoded")
    return _PartPictures(
        index, dict(zip(ticks, stand_in(ticks, catch), strict=True)), catch.damaged
    )


def _inside(own: tuple[int, int], room: tuple[int, int]) -> tuple[int, int]:
    """Return the largest size of the same shape that fits into `room`, or `room` if nearly that."""
    scale = min(room[0] / own[0], room[1] / own[1])
    width, height = (max(1, round(side * scale)) for side in own)
    # A bar one pixel wide comes of rounding alone.
    if width >= room[0] - 1 and height >= room[1] - 1:
        return room
    return width, height


def _refuse_unclear(splice: Splice, shown: Sequence[ShownPart], jpegs: Sequence[bytes]) -> None:
    """Raise UnusableVideo for a clip in which nobody could see what was set in."""
    ground: list[Layout] = []
    foreign: list[Layout] = []
    for one, data in zip(shown, jpegs, strict=True):
        if one.part.video:
            (ground if one.part.video == splice.ground else foreign).append(_layout(data))
    has_cards = any(part.card for part in splice.parts)
    if has_cards and any(_is_flat(layout) for layout in ground):
        raise UnusableVideo("shows one flat colour itself, like the cards to be set in")
    if any(_is_flat(layout) for layout in foreign):
        raise UnusableVideo("the piece to be set in shows nothing but one flat colour")
    for layout in foreign:
        # The mean difference from the most similar picture of the ground, in grey levels.
        if np.abs(np.stack(ground) - layout).mean(axis=(1, 2, 3)).min() <= ALIKE:
            raise UnusableVideo("looks too much like the piece to be set in")


def _layout(data: bytes) -> Layout:
    """Return a picture as 16 x 16 mean colours, shape (16, 16, 3)."""
    with Image.open(BytesIO(data)) as picture:
        picture.draft("RGB", (4 * LAYOUT_PX, 4 * LAYOUT_PX))
        small = picture.convert("RGB").resize((LAYOUT_PX, LAYOUT_PX), Image.Resampling.BOX)
    return np.asarray(small, np.float32)


def _is_flat(layout: Layout) -> bool:
    return bool(np.ptp(layout.reshape(-1, 3), axis=0).max() <= FLAT)
