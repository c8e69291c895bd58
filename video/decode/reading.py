"""Frames one after the other from any place of a video on, exact or not at all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterable
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from av import VideoFrame
from av.packet import Packet
from av.video.stream import VideoStream

from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.video.decode.av import Reel
from videoautoarena.video.decode.container import opened, passed_over
from videoautoarena.video.decode.damage import heard, packet_tick
from videoautoarena.video.decode.index import Clock, Index, frames_in_order, has_guessed_times

Packets: TypeAlias = "Iterable[Packet[VideoStream]]"


def frames_from(path: Path, index: Index, first: int) -> Generator[tuple[int, VideoFrame]]:
    """Yield each frame from the `first` on with its number, as they are shown, from 0.

    It holds a frame or two at a time. Nothing stands in for a frame that is missing, or behind
    damage that was reported: UnusableVideo is raised instead, and also behind the last.
    """
    due = first
    # What is not whole from the key frame before it on may be so from the start.
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
    """Return which of the frames that are shown it is; None for one that is not."""
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
            yield from _fed(Reel(container, stream).packets_from(key), stream, key)
        else:
            packets = _one_recording(container.demux(stream), index)
            yield from _fed(packets, stream, index.shown[0])


def _one_recording(packets: Packets, index: Index) -> Packets:
    clock = Clock(index.time_base)
    for packet in packets:
        if clock.goes_back(packet):
            return
        yield packet


def _fed(packets: Packets, stream: VideoStream, key: int) -> Generator[tuple[VideoFrame, bool]]:
    """Yield what packets give; what is reported before a key frame is no matter behind it."""
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
