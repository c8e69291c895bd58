"""Films by a plan: a file, for which all is decoded and encoded once, or its frames alone."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from av import VideoFrame
from av.codec.context import Flags
from av.container import OutputContainer
from av.video.frame import PictureType
from av.video.reformatter import ColorRange
from av.video.stream import VideoStream
from PIL import Image

from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.frame_policies import FRAME_POLICIES
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.av import first_frame, frames_from
from videoautoarena.video.decode.decoders import decoder_named
from videoautoarena.video.decode.index import Index, read_index
from videoautoarena.video.decode.jpeg import (
    BT709,
    HLG,
    PQ,
    SWAPPED,
    UNKNOWN,
    WIDE,
    DecodedPictures,
    Turn,
    covering_size,
    cropped,
    displayed_size,
    fitted_size,
    on_black,
    scaled_size,
    to_jpeg,
    turn_of,
    upright,
)
from videoautoarena.video.sampling.policies import Sampled, choose_ticks
from videoautoarena.video.synth.timeline import (
    Film,
    FilmPlan,
    FrameRun,
    Timeline,
    lay_out,
    refuse_beyond,
)

SD, SD_TOO = 5, 6
"""The matrix of BT.601 as H.273 numbers it: for 625 lines, and for 525, which is the same."""
Size = tuple[int, int]


class FilmSource(NamedTuple):
    """A video of which excerpts are taken."""

    path: Path
    times: Index
    shape: Size
    """Size at which a player shows it."""
    turn: Turn | None
    matrix: int
    """`BT709` or `SD`: the matrix that its colours are stored by."""


class ExcerptReader:
    """The pictures of one excerpt, asked for in ascending order."""

    def __init__(self, source: FilmSource, first: int, *, size: Size, matrix: int) -> None:
        """Read from the video's `first` frame on, for a film of this size and matrix."""
        self._frames = frames_from(source.path, source.times, first)
        self._source = source
        self._size = size
        self._matrix = matrix
        self._number = -1
        self._picture = VideoFrame()

    def picture(self, number: int) -> VideoFrame:
        """Return the picture of a frame of the video."""
        if number != self._number:
            while self._number < number:
                self._number, frame = next(self._frames)
            self._picture = self._fitted(frame)
        return self._picture

    def close(self) -> None:
        """Close the video."""
        self._frames.close()

    def _fitted(self, frame: VideoFrame) -> VideoFrame:
        """Return a decoded frame as a picture of the film."""
        if _is_special(frame):
            inner = covering_size(self._source.shape, self._size, self._size)
            picture = cropped(upright(frame, inner, self._source.turn), self._size)
            rgb = VideoFrame.from_ndarray(np.asarray(picture), format="rgb24")
            return rgb.reformat(format="yuv420p", dst_colorspace=self._matrix, threads=1)
        if not self._is_fit(frame):
            return self._filled(frame)
        # The encoder would keep its type and so make key frames where the source had them.
        frame.pict_type = PictureType.NONE
        return frame

    def _is_fit(self, frame: VideoFrame) -> bool:
        return (
            (frame.width, frame.height) == self._source.shape == self._size
            and self._source.turn is None
            and frame.format.name == "yuv420p"
            and frame.color_range != ColorRange.JPEG
            and _matrix(frame) == self._matrix
        )

    def _filled(self, frame: VideoFrame) -> VideoFrame:
        """Return the frame scaled, upright and cropped, without the loss of going through RGB."""
        turn = self._source.turn
        inner = covering_size(self._source.shape, self._size, self._size)
        width, height = inner[::-1] if turn in SWAPPED.values() else inner
        # Chroma at full resolution, so that the picture can be cut at any line.
        scaled = frame.reformat(
            width=width,
            height=height,
            format="yuv444p",
            src_colorspace=_matrix(frame),
            dst_colorspace=self._matrix,
            src_color_range=frame.color_range,
            dst_color_range=ColorRange.MPEG,
            interpolation="AREA",
            threads=1,
        )
        planes = [Image.fromarray(plane) for plane in np.asarray(scaled.to_ndarray(), np.uint8)]
        turned = planes if turn is None else [plane.transpose(turn) for plane in planes]
        cut = np.stack([np.asarray(cropped(plane, self._size)) for plane in turned])
        return VideoFrame.from_ndarray(cut, format="yuv444p").reformat(format="yuv420p", threads=1)


def _is_special(frame: VideoFrame) -> bool:
    """Return whether a plain screen would show a frame's colours or lines wrongly.

    That is so for HDR, for matrices that `_matrix` does not know, and for interlaced frames.
    """
    is_plain = frame.colorspace in (BT709, SD, SD_TOO, UNKNOWN)
    is_hdr = frame.color_trc in (PQ, HLG) or frame.color_primaries == WIDE
    return is_hdr or frame.interlaced_frame or not is_plain


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Put the name of a file before what is wrong with it."""
    try:
        yield
    except UnusableVideo as error:
        raise UnusableVideo(f"{path.name!a} {error}") from None


def source_of(path: Path) -> FilmSource:
    index = read_index(path)
    first = first_frame(path)
    if first is None:
        raise UnusableVideo("holds no frame that can be decoded")
    source = FilmSource(path, index, displayed_size(*first), turn_of(first[0]), _matrix(first[0]))
    # A frame that was asked for its turn is only freed by the garbage collector; see `turn_of`.
    del first
    gc.collect(1)
    return source


def _matrix(frame: VideoFrame) -> int:
    """Return what a player takes the colours of a frame to be stored by, in a plain film."""
    is_hd = min(frame.width, frame.height) >= 720
    return BT709 if frame.colorspace == BT709 or (frame.colorspace == UNKNOWN and is_hd) else SD


CRF = 18
"""x264's constant quality: by eye it cannot be told from the source."""
GROUP_S = 2
"""Seconds from one key frame to the next. They lie on an even grid and not where the picture
changes, or the places where decoding can start would give away what was set in."""
FINEST = 10_000
"""Least ticks per second of the film's clock."""


class EncodedFilm(NamedTuple):
    """A film that was written, and what each of its frames shows."""

    film: Film
    runs: tuple[FrameRun, ...]


class _FilmParts(NamedTuple):
    """A plan with all that is needed to carry it out."""

    timeline: Timeline
    sources: dict[str, FilmSource]
    size: Size

    @property
    def film(self) -> Film:
        line = self.timeline
        width, height = self.size
        return Film(
            width_px=width,
            height_px=height,
            rate=str(line.rate),
            frames=line.frames,
            probes=line.probes,
        )


def encode(plan: FilmPlan, files: Mapping[str, Path], to: Path, *, crf: int = CRF) -> EncodedFilm:
    """Write a plan's film as H.264 without sound, and return what stands where. Blocks; CPU only.

    The file appears under its name only when it is whole. With one version of av the same plan
    gives the same bytes. `files` is where each video lies by its sha256. Raises UnusableVideo,
    which begins with the name of the file, where one cannot be opened, is too short, or gives a
    frame that is needed damaged or not at all; BadInput where `to` cannot be written.
    """
    ready = _set_up(plan, files)
    muxing = {
        # Without it libav writes its version into the file.
        "fflags": "+bitexact",
        "video_track_timescale": str(_ticks_a_second(ready.timeline.rate)),
    }
    try:
        with (
            whole_or_not(to) as part,
            av.open(part, "w", format="mp4", options=muxing) as container,
        ):
            _write(container, ready, crf)
    except OSError as error:
        shown = f"{os.fspath(to)!a}: {error.strerror}"
        raise BadInput(f"the film cannot be written to {shown}") from None
    return EncodedFilm(ready.film, tuple(ready.timeline.runs))


def film_of(plan: FilmPlan, files: Mapping[str, Path]) -> Film:
    """Return what `encode` would write, after a pass of reading over the videos; raises alike."""
    return _set_up(plan, files).film


@contextmanager
def whole_or_not(path: Path) -> Iterator[str]:
    """Yield the name to write a file under, which is renamed to its own once all is written."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # Without the prefix libav takes what stands before a colon in a path for a protocol.
        yield f"file:{part}"
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def sample_film(plan: FilmPlan, files: Mapping[str, Path], *, sampling: Sampling) -> Sampled:
    """Return the frames that `encode`'s file would be sampled to, without writing any.

    Pictures differ from those of the file by what H.264 loses. It costs the decoding of the
    stretches that are used, and a pass of reading over their videos. Raises as `encode` does, and
    BadInput for a policy that goes by scenes, and so by the pictures of a file.
    """
    if FRAME_POLICIES[sampling.policy].needs_scenes:
        raise BadInput("frames cannot be chosen by scenes where there is no file")
    ready = _set_up(plan, files)
    clock = _clock(ready.timeline)
    step = round(1 / (ready.timeline.rate * clock.time_base))
    ticks = choose_ticks(sampling, clock)
    shown = [ready.timeline.shown(tick // step) for tick in ticks]
    pictures: dict[tuple[str, int], bytes] = {}
    approximate = 0
    # Each video once, in the order of first use.
    for video in dict(shown):
        numbers = sorted({number for of, number in shown if of == video})
        catch = _developed(ready, video, numbers, sampling)
        had = catch.pictures
        ticks_of = ready.sources[video].times.shown
        pictures |= {(video, number): had[ticks_of[number]] for number in numbers}
        approximate += catch.approximate
    jpegs = tuple(pictures[one] for one in shown)
    size = fitted_size(ready.size, sampling)
    return Sampled.of(plan.id, size, map(clock.seconds, ticks), jpegs, approximate=approximate)


def _set_up(plan: FilmPlan, files: Mapping[str, Path]) -> _FilmParts:
    sources = {}
    for video in plan.videos:
        with named(files[video]):
            sources[video] = source = source_of(files[video])
            for excerpt in plan.excerpts:
                if excerpt.video == video:
                    refuse_beyond(excerpt, source.times)
    timeline = lay_out(plan, {video: source.times for video, source in sources.items()})
    return _FilmParts(timeline, sources, plan.size_of(sources[plan.ground[0].video].shape))


def _clock(timeline: Timeline) -> Index:
    """Return the times of the film's frames as its file has them."""
    per_s = _ticks_a_second(timeline.rate)
    step = int(per_s / timeline.rate)
    shown = range(0, timeline.frames * step, step)
    keys = shown[:: _group(timeline.rate)]
    return Index(tuple(shown), tuple(keys), Fraction(1, per_s), timeline.rate)


def _ticks_a_second(rate: Fraction) -> int:
    """Return ticks per second of a clock on which each frame lasts a whole number of ticks."""
    return rate.numerator * -(-FINEST // rate.numerator)


def _group(rate: Fraction) -> int:
    return max(1, round(GROUP_S * rate))


def _write(container: OutputContainer, ready: _FilmParts, crf: int) -> None:
    rate = ready.timeline.rate
    stream = h264_stream(container, rate, ready.size, x264_options(rate, crf))
    stream.codec_context.colorspace = _film_matrix(ready)
    stream.codec_context.color_range = ColorRange.MPEG
    mux_pictures(container, stream, _pictures(ready), rate)


def h264_stream(
    container: OutputContainer, rate: Fraction, size: Size, options: dict[str, object]
) -> VideoStream:
    """Add a stream of H.264 whose bytes follow from its pictures alone."""
    stream = container.add_stream("libx264", rate=rate)
    stream.width, stream.height = size
    stream.pix_fmt = "yuv420p"
    stream.codec_context.flags |= Flags.bitexact
    # x264's rate control, and with it the bytes, depends on the number of threads.
    stream.codec_context.thread_count = 1
    stream.options = options
    return stream


def mux_pictures(
    container: OutputContainer, stream: VideoStream, pictures: Iterable[VideoFrame], rate: Fraction
) -> None:
    """Encode pictures one after the other, all shown equally long."""
    for number, picture in enumerate(pictures):
        picture.pts = number
        picture.time_base = 1 / rate
        container.mux(stream.encode(picture))
    container.mux(stream.encode(None))


def x264_options(rate: Fraction, crf: int = CRF) -> dict[str, object]:
    """Return x264's options for films, without its macroblock tree, whose bytes vary by chance."""
    # Without `a53cc` captions hidden in a source's frames would be written into the film.
    fixed = {"preset": "veryfast", "x264-params": "scenecut=0:mbtree=0", "a53cc": "0"}
    return {**fixed, "crf": str(crf), "g": str(_group(rate))}


def _film_matrix(ready: _FilmParts) -> int:
    return ready.sources[ready.timeline.plan.ground[0].video].matrix


def _pictures(ready: _FilmParts) -> Iterator[VideoFrame]:
    """Yield the film's pictures in order; one that is shown for longer comes several times."""
    readers: dict[int, ExcerptReader] = {}
    excerpts = ready.timeline.plan.excerpts
    left = {piece.excerpt: place for place, piece in enumerate(ready.timeline.pieces)}
    for place, (excerpt, _, numbers) in enumerate(ready.timeline.pieces):
        source = ready.sources[excerpts[excerpt].video]
        if excerpt not in readers:
            readers[excerpt] = ExcerptReader(
                source, int(numbers[0]), size=ready.size, matrix=_film_matrix(ready)
            )
        with named(source.path):
            for number in numbers.tolist():
                yield readers[excerpt].picture(number)
        # An excerpt that probes cut is read on after them, so its video stays open until then.
        if left[excerpt] == place:
            readers.pop(excerpt).close()


def _developed(
    ready: _FilmParts, video: str, numbers: Sequence[int], sampling: Sampling
) -> DecodedPictures:
    """Return pictures of frames of a video by their numbers, fitted as in the film."""
    source = ready.sources[video]
    decoder = decoder_named(sampling.decoder)
    size = fitted_size(ready.size, sampling)
    inner = scaled_size(ready.size, sampling)

    def develop(picture: Image.Image) -> bytes:
        return to_jpeg(on_black(cropped(picture, inner), size), sampling.quality)

    with named(source.path):
        catch = decoder.pictures(
            source.path,
            source.times,
            wanted=[source.times.shown[number] for number in numbers],
            size=covering_size(source.shape, ready.size, inner),
            develop=develop,
        )
        if catch.damaged:
            at_s = source.times.seconds(min(catch.missing - catch.near.keys()))
            raise UnusableVideo(f"is damaged at {at_s:.1f} s")
    return catch
