"""Items made from clips in many colours, and what is sent of their films, without writing any.

A small folder has few descriptions, so each clip stands there six times, with red, green and blue
swapped around. Every frame of these clips is developed once, as a film's sampler develops it; which
of them a film shows, and which of these are sent, is what the sampler would find.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from PIL import Image

from benchmarks.decode import whole
from videoautoarena.agents.offline.vision.frame_features import (
    FrameMeasurement,
    Memo,
    ModelInput,
    ReceivedFrame,
    measured,
    picture,
)
from videoautoarena.agents.prompting.fences import with_options
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Frame, Sampling, VideoFrames
from videoautoarena.runs.making.tasks.items import DraftItem
from videoautoarena.runs.making.tasks.options import Bank
from videoautoarena.runs.making.tasks.sight import look
from videoautoarena.video.decode.av import AvDecoder
from videoautoarena.video.decode.decoders import decoder_named
from videoautoarena.video.decode.index import Index, choose
from videoautoarena.video.decode.jpeg import (
    covering_size,
    cropped,
    fitted_size,
    on_black,
    scaled_size,
    to_jpeg,
)
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.policies import Sampled, sample
from videoautoarena.video.sampling.thinning import kept_places, thin
from videoautoarena.video.synth.timeline import Timeline, lay_out

COLOUR_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))
LONGEST_PX, RATE, MOST_FRAMES = 192, 10.0, 1000
"""Of the clips that items are made from."""
SAMPLING = Sampling()
Size = tuple[int, int]


def tint(clips: Path, to: Path) -> Path:
    """Return a folder of all clips in all orders of colours; each is made once and stays."""
    to.mkdir(parents=True, exist_ok=True)
    for video in find_videos(clips).videos:
        names = [to / f"{Path(video.path).stem}-{k}.mp4" for k in range(len(COLOUR_ORDERS))]
        if all(name.exists() for name in names):
            continue
        rate = min(RATE, MOST_FRAMES / video.duration_s)
        sampling = Sampling(
            frames=1024, size_px=LONGEST_PX, policy="fps", fps=rate, quality=95, fit="keep"
        )
        jpegs = sample(clips / video.path, sampling=sampling).jpegs
        pictures = [np.asarray(Image.open(BytesIO(jpeg)).convert("RGB")) for jpeg in jpegs]
        for name, order in zip(names, COLOUR_ORDERS, strict=True):
            swapped = [np.ascontiguousarray(one[..., list(order)]) for one in pictures]
            whole(name, partial(write, pictures=swapped, rate=rate))
    return to


def write(path: Path, pictures: Sequence[np.ndarray], rate: float) -> None:
    """Write pictures as H.264, cut to even sides."""
    height, width = (side // 2 * 2 for side in pictures[0].shape[:2])
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(rate).limit_denominator(1001))
        stream.width = width
        stream.height = height
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": "12", "preset": "veryfast"}
        for one in pictures:
            cut = np.ascontiguousarray(one[:height, :width])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(cut, format="rgb24")))
        container.mux(stream.encode(None))


async def look_at(folder: Path) -> tuple[Bank, dict[str, Path]]:
    """Return what items are drawn from, and where each video lies by its sha256."""
    found = find_videos(folder).videos
    looked = await look(folder, found, on_progress=lambda *_: None)
    return Bank(looked.footage), {one.sha256: folder / one.path for one in found}


class Shown(NamedTuple):
    """What is sampled of a film."""

    frames: VideoFrames
    numbers: tuple[int, ...]
    """Which frames of the film these are."""
    timeline: Timeline

    def sent(self, most: int) -> tuple[VideoFrames, list[int]]:
        """Return what a model is sent that takes at most so many, and which frames these are."""
        kept = kept_places(len(self.numbers), most)
        return thin(self.frames, most), [self.numbers[place] for place in kept]


@dataclass
class Films:
    """The films of plans over some videos, as the sampler would see them."""

    files: dict[str, Path]
    glances: Memo[bytes, FrameMeasurement]
    """Where stand-ins look up what they saw before."""

    def __post_init__(self) -> None:
        self._developed: dict[tuple[str, Size], list[str]] = {}
        self._pictures: dict[str, ReceivedFrame] = {}

    @cached_property
    def _decoder(self) -> AvDecoder:
        return decoder_named(SAMPLING.decoder)

    @cached_property
    def _indexes(self) -> dict[str, Index]:
        return {video: self._decoder.index(path) for video, path in self.files.items()}

    def shown(self, item: DraftItem) -> Shown:
        """Return the frames that are sampled of an item's film."""
        line = lay_out(item.plan, {video: self._indexes[video] for video in item.plan.videos})
        size = item.plan.size_of(self._decoder.shape(self.files[item.plan.ground[0].video]))
        numbers = tuple(choose(range(line.frames), SAMPLING.frames))
        places = [line.shown(number) for number in numbers]
        frames = tuple(
            Frame(
                time_s=round(float(number / line.rate), 2), digest=self._digests(video, size)[place]
            )
            for number, (video, place) in zip(numbers, places, strict=True)
        )
        width, height = fitted_size(size, SAMPLING)
        record = VideoFrames(video=item.plan.id, width_px=width, height_px=height, frames=frames)
        return Shown(record, numbers, line)

    def message(
        self, item: DraftItem, frames: VideoFrames, *, order: Sequence[int] = ()
    ) -> ModelInput:
        """Return what a contestant reads; with an order, the pictures stand at others' times."""
        places = order or range(len(frames.frames))
        pictures = tuple(
            replace(self._pictures[frames.frames[place].digest], time_s=frame.time_s)
            for frame, place in zip(frames.frames, places, strict=True)
        )
        return ModelInput(pictures, _text(item), 0)

    def _digests(self, video: str, size: Size) -> list[str]:
        """Return the digests of all frames of a video as a film of that size shows them."""
        if (video, size) not in self._developed:
            jpegs = self._develop(video, size)
            self._developed[video, size] = [digest(jpeg) for jpeg in jpegs]
            for name, jpeg in zip(self._developed[video, size], jpegs, strict=True):
                seen = picture(0.0, b64encode(jpeg).decode())
                # All that tasks ask for; the rest would be nine tenths of the memory.
                lean = replace(measured(jpeg), thumb=_NO_THUMB, layout=_NO_LAYOUT)
                self.glances.get(seen.digest, partial(replace, lean))
                self._pictures[name] = replace(seen, base64="")
        return self._developed[video, size]

    def _develop(self, video: str, size: Size) -> list[bytes]:
        path = self.files[video]
        index = self._indexes[video]
        outer = fitted_size(size, SAMPLING)
        inner = scaled_size(size, SAMPLING)

        def develop(shot: Image.Image) -> bytes:
            return to_jpeg(on_black(cropped(shot, inner), outer), SAMPLING.quality)

        cover = covering_size(self._decoder.shape(path), size, inner)
        catch = self._decoder.pictures(path, index, wanted=index.shown, size=cover, develop=develop)
        return [catch.pictures[tick] for tick in index.shown]


def sent_of(item: DraftItem, file: Sampled, most: int) -> ModelInput:
    """Return what a contestant reads about a film that was sampled as a file."""
    kept = kept_places(len(file.jpegs), most)
    pictures = tuple(
        picture(file.frames.frames[place].time_s, b64encode(file.jpegs[place]).decode())
        for place in kept
    )
    return ModelInput(pictures, _text(item), 0)


def _text(item: DraftItem) -> str:
    return with_options(item.question, list(item.options))


_NO_THUMB = np.zeros((0, 0), np.float16)
_NO_LAYOUT = np.zeros(0, np.float32)
