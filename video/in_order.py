"""Files that do not say when a frame is shown: AVI knows only the order of decoding.

libav works the times out where it can; not for H.264, and not for MPEG-4 as DivX packed it, two
frames to a packet.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from av import VideoFrame
from av.container import InputContainer
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from video.container import opened, passed_over
from video.damage import heard

_FRAME = b"\0\0\1\xb6"
"""What each frame of MPEG-4 begins with."""
_NOTHING = 8
"""Bytes of a packet that says nothing; libav takes some of them for key frames."""
LOOK = 100
"""So many packets are looked at; B-frames, where a file has them, come within the first few."""


def has_guessed_times(path: Path, container: InputContainer, stream: VideoStream) -> bool:
    """Return whether libav is wrong about when frames of an AVI are shown.

    It takes those of H.264 for shown in the order of decoding, and of packed MPEG-4 it goes by the
    first frame of each packet.

    Args:
        path: of the file.
        container: the same, open; it stays as it is.
        stream: its pictures.
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

    With each comes whether no damage was told of it, nor since decoding last began afresh. Reads
    the file up to the tick `last`: only from its start is it known which frame is which.

    Args:
        container: the file, at its start.
        stream: its pictures.
        shown: the ticks of all frames, ascending.
        last: a tick of them.
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
    """Whether damage was told since decoding last began afresh, as frames come out."""

    is_hurt: bool = False
    is_fresh: bool = False
    """A key frame went in unharmed behind the damage, and has yet to come out."""

    def decode(
        self, packet: Packet[VideoStream] | None, decoding: VideoCodecContext
    ) -> list[VideoFrame]:
        """Return what comes out as a packet goes in."""
        frames, has_told = heard(lambda: decoding.decode(packet))
        is_torn = has_told or any(frame.is_corrupt for frame in frames)
        if is_torn or (packet is not None and packet.is_corrupt):
            self.is_hurt, self.is_fresh = True, False
        elif packet is not None and packet.is_keyframe and packet.size > _NOTHING:
            self.is_fresh = True
        return frames

    def is_sound(self, frame: VideoFrame) -> bool:
        """Return whether a frame that came out is untouched by what was told."""
        if frame.key_frame and self.is_fresh:
            self.is_hurt = self.is_fresh = False
        return not self.is_hurt


def _packets(
    container: InputContainer, stream: VideoStream
) -> Iterator[Packet[VideoStream] | None]:
    """Yield packets with something in them, and None at the end, for what is still held back."""
    with passed_over():
        yield from (packet for packet in container.demux(stream) if packet.size)
    yield None
