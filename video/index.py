"""What a container says of its frames, learnt without decoding any."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from av.packet import Packet
from av.video.stream import VideoStream

from memory.errors import UnusableVideo
from video.container import Unreadable, opened


class Index(NamedTuple):
    """Presentation times of all frames, in ticks of `time_base` seconds."""

    shown: tuple[int, ...]
    """Ascending, without repeats."""
    keys: tuple[int, ...]
    """Those at which decoding can start; at least one."""
    time_base: Fraction
    rate: Fraction | None
    """Frames per second as the container claims."""

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
    """Return the times of every frame the file really holds; a missing tail is left out.

    Raises:
        UnusableVideo: it cannot be opened or holds no frame with a time.
    """
    shown: set[int] = set()
    keys: set[int] = set()
    with opened(path) as (container, stream):
        is_vp8 = stream.codec_context.name == "vp8"
        try:
            for packet in container.demux(stream):
                tick = packet_tick(packet)
                if tick is None or packet.is_discard or (is_vp8 and _is_hidden(packet)):
                    continue
                shown.add(tick)
                if packet.is_keyframe and not packet.is_corrupt:
                    keys.add(tick)
        except Unreadable:
            # Everything before the damage is good; the frames behind it do not exist for us.
            pass
        time_base, rate = stream.time_base, stream.average_rate
    if not shown or time_base is None:
        raise UnusableVideo("holds a video stream without a single frame")
    return Index(tuple(sorted(shown)), tuple(sorted(keys)) or (min(shown),), time_base, rate)


def packet_tick(packet: Packet[VideoStream]) -> int | None:
    """Return when a packet's frame is shown; None for an empty packet or one without a time."""
    if not packet.size:
        return None
    return packet.dts if packet.pts is None else packet.pts


def choose(shown: Sequence[int], count: int) -> list[int]:
    """Return at most `count` (>= 2) of the ascending ticks, uniform in time, both ends included.

    Each is the frame on screen at its instant, so a long still counts once.
    """
    if len(shown) <= count:
        return list(shown)
    first, span = shown[0], shown[-1] - shown[0]
    instants = (first + span * i // (count - 1) for i in range(count))
    return sorted({shown[bisect_right(shown, instant) - 1] for instant in instants})


def _is_hidden(packet: Packet[VideoStream]) -> bool:
    # VP8 keeps its never-shown reference frames in packets of their own; bit 4 says so.
    return not memoryview(packet)[0] & 0x10
