"""Decoding the very frames that were chosen, by PyAV, and what is known of a video before that.

Whether a frame is damaged depends on the file and that frame alone, not on what else was chosen.
So damage to a frame that no other refers to, of which only those learn who want that frame, is its
own; and what is called damaged is decoded once more from the start of the file, everything of it.
"""

from __future__ import annotations

import gc
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import chain, dropwhile
from pathlib import Path
from typing import NamedTuple, TypeAlias

from av import VideoFrame
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream
from PIL import Image

from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.video.decode.container import opened, passed_over
from videoautoarena.video.decode.damage import DecodingPass, errors_reported, heard, packet_tick
from videoautoarena.video.decode.index import (
    Clock,
    Index,
    choose,
    frames_in_order,
    has_guessed_times,
    read_index,
)
from videoautoarena.video.decode.jpeg import (
    DecodedPictures,
    Develop,
    Turn,
    displayed_size,
    rotation,
    turn_of,
    upright,
)

NOTHING_PX = (2, 2)
"""Size of pictures that are decoded only to see whether they can be."""
LEADS_S = (0.0, 1.0, 5.0)
"""Seconds before a key frame to seek to. MPEG-TS is searched by times of decoding, which lie before
those of showing, so a seek to the key frame itself ends up just behind it."""


class AvDecoder:
    """libav by PyAV: exact to the frame, and the only one that reports damage.

    Sizes are (width, height) in pixels, ticks are those of the index.
    """

    name = "av"

    def index(self, path: Path) -> Index:
        """Return the times of every frame the file really holds; raises as `read_index` does."""
        return read_index(path)

    def shape(self, path: Path) -> tuple[int, int]:
        """Return the size at which a player shows the first frame: upright, square pixels."""
        first = first_frame(path)
        if first is None:
            raise UnusableVideo("holds no frame that can be decoded")
        size = displayed_size(*first)
        # A frame that was asked for its turn and its side data hold each other: 100 MB in 8K.
        del first
        gc.collect(1)
        return size

    def pictures(
        self,
        path: Path,
        index: Index,
        *,
        wanted: Sequence[int],
        size: tuple[int, int],
        develop: Develop,
    ) -> DecodedPictures:
        """Return the pictures at the wanted ticks, each upright and scaled to `size`.

        What could not be had stays in `missing`; a damaged file is no error. Raises UnusableVideo
        where the file cannot be opened any more, or is not for this library at all.
        """
        darkroom = _PictureCollector(DecodedPictures(develop, frozenset(wanted)), size, index.hurt)
        _decode(path, index, wanted=wanted, room=darkroom)
        if wanted and not darkroom.catch.pictures and (first := first_frame(path)):
            picture = upright(first[0], size, turn_of(first[0]))
            darkroom.catch.rough[min(wanted)] = develop(picture)
        return darkroom.catch


@dataclass
class _PictureCollector:
    """Decoded frames on their way to pictures."""

    catch: DecodedPictures
    size: tuple[int, int]
    hurt: frozenset[int]
    """Ticks of frames that are damaged whatever decoding shows."""
    drying: dict[int, bytes] = field(default_factory=dict)
    """Pictures of which it is not known yet whether damage touches them."""
    turn: Turn | None = None
    """What sets them upright, asked of one frame: each that is asked would not be freed at once."""
    asked: int = 0
    """How many frames have been set upright."""

    @property
    def missing(self) -> frozenset[int]:
        return self.catch.missing

    @property
    def is_waiting(self) -> bool:
        """Whether some wanted picture has not come at all, not even a damaged one."""
        had = self.catch.exact.keys() | self.catch.rough.keys() | self.drying.keys()
        return not self.catch.wanted <= had

    def take(self, frames: Iterable[VideoFrame]) -> None:
        """Develop those of the frames that are wanted and still missing."""
        wanted = self.catch.wanted
        exact = self.catch.exact
        for frame in frames:
            tick = frame.pts
            if tick in wanted and tick not in exact and tick not in self.drying:
                self.drying[tick] = self.catch.develop(self._upright(frame))

    def sort(self, is_sound: Callable[[int], bool], *, keeps_rest: bool) -> None:
        """Keep the sound ones of the pictures that came, the others as damaged or not at all."""
        for tick, picture in self.drying.items():
            if tick not in self.hurt and is_sound(tick):
                self.catch.exact[tick] = picture
            elif keeps_rest:
                self.catch.rough.setdefault(tick, picture)
        self.drying.clear()

    def _upright(self, frame: VideoFrame) -> Image.Image:
        if self.asked == 0:
            self.turn = turn_of(frame)
        elif self.asked == 1:
            # By now the frame that was asked for its turn can go; see `turn_of`.
            gc.collect(1)
        self.asked += 1
        return upright(frame, self.size, self.turn)


def _decode(path: Path, index: Index, *, wanted: Sequence[int], room: _PictureCollector) -> None:
    with opened(path) as (container, stream):
        if wanted and has_guessed_times(path, container, stream):
            # From the start, since only counting tells which frame is which.
            for frame, is_sound in frames_in_order(
                container, stream, index.shown, last=max(wanted)
            ):
                with passed_over():
                    room.take([frame])
                room.sort({frame.pts: is_sound}.__getitem__, keeps_rest=True)
            return
        reel = SeekableFile(container, stream)
        groups: dict[int, list[int]] = {}
        # One seek for each group of pictures: one for each frame took nine times as long.
        for tick in sorted(wanted) if index.can_seek else ():
            key = index.keys[max(0, bisect_right(index.keys, tick) - 1)]
            groups.setdefault(key, []).append(tick)
        for key, ticks in groups.items():
            feed = _fed(reel, key=key, last=ticks[-1], wanted=frozenset(ticks), room=room)
            # Whoever wants other frames of the group skips some of these. Only damage that
            # everybody meets may count against the rest, or what is damaged would depend on what
            # was asked.
            common = _fed(reel, key=key, last=ticks[-1]) if feed.reported else feed
            room.sort(partial(feed.is_sound, until=common.first), keeps_rest=False)
    if room.missing:
        _decode_through(path, index, room)


@dataclass
class SeekableFile:
    """An open file to be read from any of its key frames on."""

    container: InputContainer
    stream: VideoStream
    lead: int = 0
    """Place in LEADS_S that was needed last: a container that seeks too late does so everywhere."""

    def packets_from(self, key: int) -> Iterator[Packet[VideoStream]]:
        """Return the packets from that of a key frame on, in the order in which they are stored.

        Where the key frame cannot be reached, they are packets behind it, which cannot be decoded.
        """

        def is_before(packet: Packet[VideoStream]) -> bool:
            tick = packet_tick(packet)
            return tick is not None and tick < key

        base = self.stream.time_base
        for place in range(self.lead, len(LEADS_S)):
            self.lead = place
            lead = round(LEADS_S[place] / base) if base else 0
            self.container.seek(key - lead, stream=self.stream, backward=True)
            self.stream.codec_context.flush_buffers()
            packets = self.container.demux(self.stream)
            first = next(packets, None)
            tick = packet_tick(first) if first else None
            if tick is None or tick <= key:
                break
        behind = chain([first] if first else [], packets)
        return dropwhile(is_before, behind)


def first_frame(path: Path) -> tuple[VideoFrame, Fraction | None] | None:
    """Return the first frame that can be decoded, and its pixels' aspect; None if none can be."""
    with opened(path) as (container, stream), passed_over():
        for packet in container.demux(stream):
            with passed_over():
                for frame in stream.codec_context.decode(packet):
                    return frame, stream.sample_aspect_ratio
    return None


def _fed(
    reel: SeekableFile,
    *,
    key: int,
    last: int,
    wanted: frozenset[int] = frozenset(),
    room: _PictureCollector | None = None,
) -> DecodingPass:
    """Decode from a key frame to a later one: all frames that others refer to, and those wanted."""
    feed = DecodingPass(key)
    waiting = {last, *wanted}
    codec = reel.stream.codec_context
    with passed_over():
        for packet in reel.packets_from(key):
            if packet.size:
                is_wanted = packet.pts is None or packet.pts in wanted
                # Frames that no other refers to are skipped unless wanted: 2.5 s of CPU instead of
                # 3.2 for five minutes of 720p.
                codec.skip_frame = "DEFAULT" if is_wanted else "NONREF"
                _decode_packet(feed, packet, reel.stream, room)
            waiting.discard(packet_tick(packet) or 0)
            if not waiting or _is_past(packet, last):
                break
    _drain(feed, reel.stream, room)
    return feed


def _decode_through(path: Path, index: Index, room: _PictureCollector) -> None:
    """Decode everything from the start for what is missing: some containers cannot seek.

    Behind damage it begins afresh at the next key frame, as after a seek: without what is shown
    before that frame. So where reading alone shows damage that ends sooner, it goes on.
    """
    last = max(room.missing)
    keys = frozenset(index.keys) - index.hurt
    feed = DecodingPass()
    clock = Clock(index.time_base)
    with opened(path) as (container, stream):
        with passed_over():
            for packet in container.demux(stream):
                tick = packet_tick(packet)
                if clock.goes_back(packet):
                    break
                is_lead_in = tick is not None and packet.is_keyframe and tick < index.shown[0]
                if (tick in keys or is_lead_in) and (
                    feed.reported or _is_led_by_hurt(index, tick, feed)
                ):
                    _drain(feed, stream, room)
                    room.sort(feed.is_sound, keeps_rest=True)
                    feed = DecodingPass(tick)
                if packet.size:
                    _decode_packet(feed, packet, stream, room)
                if not room.is_waiting or _is_past(packet, last):
                    break
        _drain(feed, stream, room)
    room.sort(feed.is_sound, keeps_rest=True)


def _decode_packet(
    feed: DecodingPass,
    packet: Packet[VideoStream] | None,
    stream: VideoStream,
    room: _PictureCollector | None,
) -> None:
    frames = feed.decode(packet, stream.codec_context)
    if room:
        with passed_over():
            room.take(frames)


def _drain(feed: DecodingPass, stream: VideoStream, room: _PictureCollector | None) -> None:
    """Take the frames that the decoder still holds back, and reset it."""
    stream.codec_context.skip_frame = "DEFAULT"
    _decode_packet(feed, None, stream, room)
    stream.codec_context.flush_buffers()


def _is_led_by_hurt(index: Index, key: int | None, feed: DecodingPass) -> bool:
    """Return whether damage that was fed lasts up to the frame shown before a key frame."""
    place = bisect_left(index.shown, key) if key is not None else 0
    is_hurt = place > 0 and index.shown[place - 1] in index.hurt
    return is_hurt and not index.hurt.isdisjoint(feed.places)


def _is_past(packet: Packet[VideoStream], tick: int) -> bool:
    # No frame is shown before it is decoded: from a later dts on, the frame's packet was fed.
    return packet.dts is not None and packet.dts > tick


class VideoShape(NamedTuple):
    """The shape of a video; its size is the one that a player shows."""

    duration_s: float
    width_px: int
    height_px: int
    fps: float
    codec: str
    rotation: int = 0
    """Degrees clockwise by which a player turns the stored picture."""
    problems: tuple[str, ...] = ()
    """Faults that do not keep it from being used, a clause each."""


def probe(path: Path) -> VideoShape:
    """Return the shape of a video, after one pass of reading; UnusableVideo is a bare reason."""
    with opened(path) as (_, stream):
        if KEY_ID in stream.metadata:
            raise UnusableVideo(ENCRYPTED)
    index = read_index(path)
    if index.encrypted[:1] == index.keys[:1]:
        raise UnusableVideo(ENCRYPTED)
    before = errors_reported()
    first = first_frame(path)
    if first is None:
        raise UnusableVideo("holds no frame that can be decoded")
    size = displayed_size(*first)
    turned = rotation(first[0])
    del first
    # A file whose first frame decodes without an error needs no further look, which would cost
    # decoding.
    if errors_reported() > before or index.shown[0] in index.hurt:
        refuse_noise(path, index)
    with opened(path) as (_, stream):
        codec = stream.codec_context.name
    length_s = round(index.duration_s, 3)
    fps = round(index.fps, 3)
    problems = index.problems
    if index.encrypted:
        problems = (*problems, f"encrypted from {index.seconds(index.encrypted[0]):.1f} s on")
    return VideoShape(length_s, *size, fps, codec, rotation=turned, problems=problems)


KEY_ID = "enc_key_id"
"""Key of libav's metadata for a track that is encrypted in Matroska or WebM."""
ENCRYPTED = "is encrypted; pass a copy that any player shows without a key"
CHECKED = 8
"""Frames that are looked at before a file is refused as damaged throughout."""
CHECKED_AMONG = 250
"""The frames from the start among which they are chosen, which bounds the decoding."""


def refuse_noise(path: Path, index: Index) -> None:
    """Raise UnusableVideo where every frame that is checked is damaged, as in an encrypted file.

    Checked are key frames over its whole length, and then frames near its start.
    """
    keys = choose(index.keys, CHECKED)
    if index.can_seek:
        with opened(path) as (container, stream):
            reel = SeekableFile(container, stream)
            for key in keys:
                if key not in index.hurt and _fed(reel, key=key, last=key).is_sound(key):
                    return
    near = choose(index.shown[:CHECKED_AMONG], CHECKED)
    room = _PictureCollector(
        DecodedPictures(lambda _: b"", frozenset(near)), NOTHING_PX, index.hurt
    )
    _decode(path, index, wanted=near, room=room)
    if not room.catch.exact:
        count = len({*keys, *near})
        raise UnusableVideo(f"is damaged in all of the {count} frames checked; it may be encrypted")


Packets: TypeAlias = "Iterable[Packet[VideoStream]]"


def frames_from(path: Path, index: Index, first: int) -> Generator[tuple[int, VideoFrame]]:
    """Yield each frame from the `first` on with its number, as they are shown, from 0.

    It holds a frame or two at a time. No other frame stands in for one that is missing or behind
    reported damage: UnusableVideo is raised instead, and after the last frame, too.
    """
    due = first
    # What is damaged when decoded from the key frame before it may be whole from the start on.
    for seeks in (True, False) if index.can_seek and first else (False,):
        with closing(_decoded(path, index, first, seeks=seeks)) as decoded:
            for frame, is_sound in decoded:
                number = _number(index, frame)
                if number is None or number < due:
                    continue
                if number > due or not is_sound or frame.pts in index.hurt:
                    break
                yield number, frame
                due += 1
        if due > first:
            break
    at_s = index.seconds(index.shown[min(due, len(index.shown) - 1)])
    raise UnusableVideo(f"is damaged at {at_s:.1f} s")


def _number(index: Index, frame: VideoFrame) -> int | None:
    """Return the number of a frame among those that are shown; None for one that is not."""
    if frame.pts is None:
        return None
    number = bisect_left(index.shown, frame.pts)
    is_shown = number < len(index.shown) and index.shown[number] == frame.pts
    return number if is_shown else None


def _decoded(
    path: Path, index: Index, first: int, *, seeks: bool
) -> Generator[tuple[VideoFrame, bool]]:
    """Yield frames up to the last, each with whether no damage was reported that could be in it."""
    with opened(path) as (container, stream):
        if has_guessed_times(path, container, stream):
            yield from frames_in_order(container, stream, index.shown, last=index.shown[-1])
        elif seeks:
            key = index.keys[max(0, bisect_right(index.keys, index.shown[first]) - 1)]
            yield from _soundly(SeekableFile(container, stream).packets_from(key), stream, key)
        else:
            packets = _one_recording(container.demux(stream), index)
            yield from _soundly(packets, stream, index.shown[0])


def _one_recording(packets: Packets, index: Index) -> Packets:
    clock = Clock(index.time_base)
    for packet in packets:
        if clock.goes_back(packet):
            return
        yield packet


def _soundly(packets: Packets, stream: VideoStream, key: int) -> Generator[tuple[VideoFrame, bool]]:
    """Yield the frames of packets; damage reported before the key frame does not touch them."""
    is_hurt = False
    with passed_over():
        for packet in chain(packets, [None]):
            if packet is not None and not packet.size:
                continue
            tick = packet_tick(packet) if packet else None
            frames, has_error = heard(partial(stream.codec_context.decode, packet))
            is_hurt |= has_error and (tick is None or tick >= key)
            for frame in frames:
                is_late = frame.pts is not None and frame.pts >= key
                is_hurt |= frame.is_corrupt and is_late
                yield frame, not is_hurt
