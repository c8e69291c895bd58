"""Files that do not say when a frame is shown: AVI knows only the order of decoding.

libav works the times out where it can; not for H.264, and not for MPEG-4 as DivX packed it, two
frames to a packet.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from av import VideoFrame
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from video.container import opened, passed_over

LOOK = 100
"""So many packets are looked at; B-frames, where a file has them, come within the first few."""


def has_guessed_times(path: Path) -> bool:
    """Return whether an AVI has times as if frames were shown in the order of decoding."""
    with opened(path) as (container, stream):
        if not stream.codec_context.has_b_frames:
            return False
        with passed_over():
            packets = islice(container.demux(stream), LOOK)
            ticks = [packet.pts for packet in packets if packet.pts is not None]
            return ticks == sorted(ticks)
    return True


def frames_in_order(
    container: InputContainer, stream: VideoStream, shown: Sequence[int], *, last: int
) -> Iterator[VideoFrame]:
    """Yield the frames as they come out of the decoder, each with the tick that is its by order.

    Reads the file up to the tick `last`: only from its start is it known which frame is which.

    Args:
        container: the file, at its start.
        stream: its pictures.
        shown: the ticks of all frames, ascending.
        last: a tick of them.
    """
    fed: list[int] = []
    delay: int | None = None
    place = -1
    for packet in _packets(container, stream):
        if packet is not None and packet.dts is not None:
            fed.append(packet.dts)
        for frame in _decoded(stream, packet):
            if frame.dts is None:
                place += 1
            else:
                came = bisect_left(fed, frame.dts)
                delay = came if delay is None else delay
                place = came - delay
            if place >= len(shown) or shown[place] > last:
                return
            frame.pts = shown[place]
            yield frame


def _packets(
    container: InputContainer, stream: VideoStream
) -> Iterator[Packet[VideoStream] | None]:
    """Yield packets with something in them, and None at the end, for what is still held back."""
    with passed_over():
        yield from (packet for packet in container.demux(stream) if packet.size)
    yield None


def _decoded(stream: VideoStream, packet: Packet[VideoStream] | None) -> list[VideoFrame]:
    with passed_over():
        return stream.codec_context.decode(packet)
    return []
