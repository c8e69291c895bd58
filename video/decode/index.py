"""What a container says of its frames, learnt without decoding any; AVI's order, and its clock.

AVI knows only the order of decoding. libav works the times of its frames out where it can; not
for H.264, and not for MPEG-4 as DivX packed it, two frames to a packet.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import dropwhile, islice
from pathlib import Path
from typing import Final, NamedTuple

from av import VideoFrame
from av.container import InputContainer
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.video.decode.container import claimed_s, cut_short, opened, passed_over
from videoautoarena.video.decode.damage import (
    DecodingPass,
    PacketGaps,
    errors_reported,
    heard,
    packet_tick,
)

_FRAME = b"\0\0\1\xb6"
"""Bytes that each frame of MPEG-4 begins with."""
_NOTHING = 8
"""Size in bytes up to which a packet holds no picture; libav takes some of them for key frames."""
LOOK = 100
"""Packets that are looked at; B-frames, where a file has them, come within the first few."""


def has_guessed_times(path: Path, container: InputContainer, stream: VideoStream) -> bool:
    """Return whether libav gets the times of an AVI's frames wrong.

    It takes the order of decoding for that of showing with H.264, and with packed MPEG-4 it goes by
    the first frame of each packet. The open container stays as it is.
    """
    if container.format.name != "avi" or not stream.codec_context.has_b_frames:
        return False
    packets = _looked_at(path)
    ticks = [packet.pts for packet in packets if packet.pts is not None]
    return ticks == sorted(ticks) or _holds_two(stream, packets)


def is_packed(path: Path, container: InputContainer, stream: VideoStream) -> bool:
    """Return whether packets hold two frames: MPEG-4 as DivX and Xvid put it into AVI."""
    return container.format.name == "avi" and _holds_two(stream, _looked_at(path))


def _looked_at(path: Path) -> list[Packet[VideoStream]]:
    packets: list[Packet[VideoStream]] = []
    with opened(path) as (container, stream), passed_over():
        packets += islice(container.demux(stream), LOOK)
    return packets


def _holds_two(stream: VideoStream, packets: Iterable[Packet[VideoStream]]) -> bool:
    is_mpeg4 = stream.codec_context.name == "mpeg4"
    return is_mpeg4 and any(bytes(packet).count(_FRAME) > 1 for packet in packets)


def frames_in_order(
    container: InputContainer, stream: VideoStream, shown: Sequence[int], *, last: int
) -> Iterator[tuple[VideoFrame, bool]]:
    """Yield the frames as they come out of the decoder, each with the tick that is its by order.

    With each comes whether no damage was reported of it, nor since decoding last began afresh.
    Reads the file from its start, since only so is it known which frame is which, up to the tick
    `last`; `shown` are the ticks of all frames, ascending.
    """
    fed: list[int] = []
    delay: int | None = None
    place = -1
    state = _Soundness()
    for packet in _packets(container, stream):
        if packet is not None and packet.dts is not None:
            fed.append(packet.dts)
        for frame in state.decode(packet, stream.codec_context):
            if frame.dts is None:
                place += 1
            else:
                came = bisect_left(fed, frame.dts)
                delay = came if delay is None else delay
                place = came - delay
            if place >= len(shown) or shown[place] > last:
                return
            frame.pts = shown[place]
            yield frame, state.is_sound(frame)


@dataclass
class _Soundness:
    """Whether damage was reported since decoding last began afresh, as frames come out."""

    is_hurt: bool = False
    is_fresh: bool = False
    """A key frame behind the damage was fed unharmed and has yet to come out."""

    def decode(
        self, packet: Packet[VideoStream] | None, decoding: VideoCodecContext
    ) -> list[VideoFrame]:
        frames, has_error = heard(lambda: decoding.decode(packet))
        is_torn = has_error or any(frame.is_corrupt for frame in frames)
        if is_torn or (packet is not None and packet.is_corrupt):
            self.is_hurt = True
            self.is_fresh = False
        elif packet is not None and packet.is_keyframe and packet.size > _NOTHING:
            self.is_fresh = True
        return frames

    def is_sound(self, frame: VideoFrame) -> bool:
        """Return whether a frame that came out is untouched by damage."""
        if frame.key_frame and self.is_fresh:
            self.is_hurt = self.is_fresh = False
        return not self.is_hurt


def _packets(
    container: InputContainer, stream: VideoStream
) -> Iterator[Packet[VideoStream] | None]:
    """Yield packets that hold data, then None, which makes the decoder give what it held back."""
    with passed_over():
        yield from (packet for packet in container.demux(stream) if packet.size)
    yield None


JUMP_S = 1.0
"""Seconds that a clock may go back: not all writers are exact."""
END_S = 1.0
"""Seconds before its end in which a video that is cut short may be damaged by that."""
ENCRYPTION: Final = "encryption_info"
"""Name of the data that MP4 has beside each encrypted packet."""
STREAMS = ("mpegts", "mpeg")
EVEN = ("mpeg1video", "mpeg2video", "mpeg4")
"""Containers that are searched for frames, and codecs in which one that was not found goes unsaid
and no still is left out: there a hole in the times is a gap. Others number their frames."""


class Index(NamedTuple):
    """Presentation times of all frames, in ticks of `time_base` seconds."""

    shown: tuple[int, ...]
    """Ascending, without repeats."""
    keys: tuple[int, ...]
    """Ticks at which decoding can start; at least one."""
    time_base: Fraction
    rate: Fraction | None
    """Frames per second as the container claims."""
    problems: tuple[str, ...] = ()
    """Faults of the file that do not keep it from being used, a clause each."""
    can_seek: bool = True
    """Whether each time occurs once; otherwise a seek may end somewhere else."""
    hurt: frozenset[int] = frozenset()
    """Ticks damaged by what is torn or missing in the file, up to the next fresh start."""
    encrypted: tuple[int, ...] = ()
    """Key frames that the container calls encrypted: decoding them gives noise, if anything, and
    some decoders do not report it."""

    def seconds(self, tick: int) -> float:
        """Return the time of a tick in seconds from the first frame."""
        return float((tick - self.shown[0]) * self.time_base)

    def tick(self, second: float) -> int:
        """Return the tick nearest to a time in seconds from the first frame."""
        return self.shown[0] + round(second / self.time_base)

    @property
    def fps(self) -> float:
        """Frames per second as counted; as claimed where there is only one frame."""
        span_s = self.seconds(self.shown[-1])
        return (len(self.shown) - 1) / span_s if span_s else float(self.rate or 1)

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame until the last has been shown."""
        return self.seconds(self.shown[-1]) + 1 / self.fps


def read_index(path: Path) -> Index:
    """Return the times of every frame the file really holds; UnusableVideo where there is none."""
    tape = _PacketScan()
    with opened(path) as (container, stream):
        tape.is_packed = is_packed(path, container, stream)
        claimed = claimed_s(container, stream)
        # An error while reading ends the index: frames behind it count as not there.
        tape.is_torn = True
        with passed_over():
            tape.run(container, stream)
            tape.is_torn = False
        time_base = stream.time_base
        rate = stream.average_rate
    if not tape.shown or time_base is None:
        raise UnusableVideo("holds a video stream without a single frame")
    shown = tuple(sorted(tape.shown))
    if tape.fresh is not None and (tape.is_stream or tape.fresh > shown[0]):
        shown = _without_lead_in(path, shown, tape.fresh)
    keys = tuple(sorted(tick for tick in tape.keys if tick >= shown[0])) or shown[:1]
    if tape.is_even:
        tape.gaps.look_for_holes(shown, frozenset(keys))
    hurt = frozenset(tape.gaps.hurt.intersection(shown))
    encrypted = tuple(key for key in keys if key in tape.encrypted)
    index = Index(shown, keys, time_base, rate, hurt=hurt, encrypted=encrypted)
    problems = _lost(index, tape.gaps, _problems(path, index, tape, claimed))
    return index._replace(problems=problems, can_seek=not tape.is_reset)


def _without_lead_in(path: Path, shown: tuple[int, ...], fresh: int) -> tuple[int, ...]:
    """Return the ticks without those at the start that cannot be decoded.

    A recording that begins anywhere holds frames that refer to others before it: they were never
    in this file, and so they are neither part of the video nor damage. `fresh` is the tick of the
    frame with which decoding begins.
    """
    came = list[int]()
    feed = DecodingPass()
    with opened(path) as (container, stream), passed_over():
        packets = container.demux(stream)
        for packet in dropwhile(lambda packet: not packet.is_keyframe, packets):
            frames = feed.decode(packet, stream.codec_context)
            came += [frame.pts for frame in frames if frame.pts is not None]
            if came and came[-1] >= fresh:
                break
    # Where pictures build up without key frames, the first whole one is shown later than `fresh`.
    start = min((t for t in came if t >= fresh or feed.is_sound(t)), default=fresh)
    return tuple(tick for tick in shown if tick >= start) or shown


class Clock:
    """The times of decoding as packets are read; within one recording they never go back."""

    def __init__(self, time_base: Fraction | None) -> None:
        self._jump = int(JUMP_S / time_base) if time_base else 0
        self._before: int | None = None

    def goes_back(self, packet: Packet[VideoStream]) -> bool:
        """Return whether another recording begins with this packet."""
        dts = packet.dts
        if dts is None:
            return False
        before = self._before
        self._before = dts
        return before is not None and dts < before - self._jump


@dataclass
class _PacketScan:
    """What reading the packets has shown so far, in ticks."""

    is_packed: bool = False
    """Its packets hold two frames or none, which makes libav's times of showing wrong."""
    shown: set[int] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)
    fresh: int | None = None
    """The first key frame in the file, even a damaged one."""
    encrypted: set[int] = field(default_factory=set)
    """Key frames whose packets came with data for their decryption."""
    gaps: PacketGaps = field(default_factory=PacketGaps)
    end: int = 0
    """The latest end of a frame that says how long it is shown."""
    is_torn: bool = False
    is_stream: bool = False
    """A stream, which may begin and end anywhere."""
    is_even: bool = False
    """All frames are shown equally long, and none is left out."""
    is_reset: bool = False
    """Reading ended where the clock jumped back: the file holds two recordings, one after the
    other."""

    def run(self, container: InputContainer, stream: VideoStream) -> None:
        """Read to the end, or until times come again that have been."""
        is_vp8 = stream.codec_context.name == "vp8"
        self.is_stream = container.format.name in STREAMS
        self.is_even = self.is_stream and stream.codec_context.name in EVEN
        clock = Clock(stream.time_base)
        errors = errors_reported()
        for packet in container.demux(stream):
            self.is_reset = clock.goes_back(packet)
            if self.is_reset:
                break
            before = errors
            errors = errors_reported()
            tick = packet.dts if self.is_packed and packet.size else packet_tick(packet)
            # Only where something may be wrong: for most packets of most files these four looks are
            # all.
            if errors != before or self.is_even or self.gaps.is_open or packet.is_corrupt:
                self.gaps.pass_by(packet, tick, is_behind=errors != before)
            if packet.is_keyframe and self.fresh is None:
                self.fresh = tick
            # VP8 keeps reference frames that are never shown in packets of their own; bit 4 says
            # so.
            is_hidden = is_vp8 and packet.size and not memoryview(packet)[0] & 0x10
            if tick is None or packet.is_discard or is_hidden:
                continue
            self.shown.add(tick)
            self.end = max(self.end, tick + (packet.duration or 0))
            if packet.is_keyframe and not packet.is_corrupt:
                self.keys.add(tick)
            if packet.is_keyframe and packet.has_sidedata(ENCRYPTION):
                self.encrypted.add(tick)


def _problems(
    path: Path, index: Index, tape: _PacketScan, claimed: float | None
) -> tuple[str, ...]:
    found = max(index.duration_s, index.seconds(tape.end))
    if claimed and (short := cut_short(path, claimed=claimed, found=found)):
        return (short,)
    if tape.is_reset:
        return (f"its clock starts again after {found:.1f} s: what follows is left out",)
    return (f"ends in an error after {found:.1f} s",) if tape.is_torn else ()


def _lost(index: Index, gaps: PacketGaps, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the known problems, and how much is damaged by torn or missing packets, if any."""
    first_s = index.seconds(min(index.hurt, default=index.shown[-1]))
    # A file that ends in the middle of a frame is reported as cut short already.
    if not gaps.count or (known and first_s > index.seconds(index.shown[-1]) - END_S):
        return known
    of = f"{len(index.hurt)} of {len(index.shown)} frames"
    found = f", first at {first_s:.1f} s: {of}" if index.hurt else ": parts of it cannot be read"
    return (*known, f"damaged{found}")


def choose(shown: Sequence[int], count: int) -> list[int]:
    """Return at most `count` (>= 2) of the ascending ticks, uniform in time, both ends included.

    Each is the frame on screen at its instant, so a still that lasts counts once.
    """
    if len(shown) <= count:
        return list(shown)
    first = shown[0]
    span = shown[-1] - shown[0]
    instants = (first + span * i // (count - 1) for i in range(count))
    return sorted({shown[bisect_right(shown, instant) - 1] for instant in instants})


def first_shown_s(path: Path) -> float:
    """Return when the first frame is shown, in seconds on the clock that subtitles keep to.

    MPEG streams start their clock anywhere, so players count from where the file starts.
    """
    index = read_index(path)
    with opened(path) as (container, _):
        is_anywhere = container.format.name in ("mpegts", "mpeg")
        start_s = (container.start_time or 0) / 1_000_000 if is_anywhere else 0.0
    return float(index.shown[0] * index.time_base) - start_s
