"""Decoding chosen frames exactly: one seek a group of pictures, and no more packets than needed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from av import VideoFrame
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from video.container import Unreadable, opened
from video.index import Index, packet_tick

Develop = Callable[[VideoFrame], bytes]


@dataclass
class Catch:
    """What decoding has brought so far: developed pictures by tick."""

    develop: Develop
    wanted: frozenset[int]
    exact: dict[int, bytes] = field(default_factory=dict)
    rough: dict[int, bytes] = field(default_factory=dict)
    """Pictures the decoder itself calls corrupt."""

    @property
    def missing(self) -> frozenset[int]:
        """The ticks still without an exact picture."""
        return self.wanted - self.exact.keys()

    def take(self, frames: Iterable[VideoFrame]) -> None:
        """Develop the frames that are wanted and not yet had."""
        for frame in frames:
            if frame.pts in self.wanted and frame.pts not in self.exact:
                shelf = self.rough if frame.is_corrupt else self.exact
                shelf[frame.pts] = self.develop(frame)


def decode(path: Path, index: Index, *, wanted: Sequence[int], develop: Develop) -> Catch:
    """Return the pictures at the wanted ticks; what could not be had stays in `missing`."""
    catch = Catch(develop, frozenset(wanted))
    with opened(path) as (container, stream):
        stream.thread_type = "AUTO"
        for key, ticks in _groups(index, wanted):
            with suppress(*Unreadable):
                _decode_group(container, stream, key=key, ticks=ticks, catch=catch)
    if catch.missing:
        _decode_through(path, catch)
    return catch


def first_frame(path: Path) -> tuple[VideoFrame, Fraction | None] | None:
    """Return the first frame that can be decoded, and its pixels' aspect; None if none can be."""
    with opened(path) as (container, stream), suppress(*Unreadable):
        for packet in container.demux(stream):
            with suppress(*Unreadable):
                for frame in stream.codec_context.decode(packet):
                    return frame, stream.sample_aspect_ratio
    return None


def _groups(index: Index, wanted: Sequence[int]) -> list[tuple[int, list[int]]]:
    groups: dict[int, list[int]] = {}
    for tick in sorted(wanted):
        key = index.keys[max(0, bisect_right(index.keys, tick) - 1)]
        groups.setdefault(key, []).append(tick)
    return list(groups.items())


def _decode_group(
    container: InputContainer, stream: VideoStream, *, key: int, ticks: list[int], catch: Catch
) -> None:
    """Decode from the key frame until all packets of the wanted frames have been fed."""
    container.seek(key, stream=stream, backward=True)
    stream.codec_context.flush_buffers()
    waiting = set(ticks)
    for packet in container.demux(stream):
        _feed(packet, stream, catch)
        waiting.discard(packet_tick(packet) or 0)
        if not waiting or _is_past(packet, ticks[-1]):
            break
    _drain(stream, catch)


def _decode_through(path: Path, catch: Catch) -> None:
    """Fill what is missing in one pass from the start: some containers cannot seek (MPEG-TS)."""
    last = max(catch.missing)
    with opened(path) as (container, stream):
        stream.thread_type = "AUTO"
        with suppress(*Unreadable):
            for packet in container.demux(stream):
                _feed(packet, stream, catch)
                if not catch.missing or _is_past(packet, last):
                    break
        _drain(stream, catch)


def _feed(packet: Packet[VideoStream], stream: VideoStream, catch: Catch) -> None:
    """Decode one packet; one that nothing refers to and nobody wants is passed over."""
    if not packet.size:
        return
    codec = stream.codec_context
    is_wanted = packet.pts is None or packet.pts in catch.wanted
    codec.skip_frame = "DEFAULT" if is_wanted else "NONREF"
    with suppress(*Unreadable):
        catch.take(codec.decode(packet))


def _drain(stream: VideoStream, catch: Catch) -> None:
    stream.codec_context.skip_frame = "DEFAULT"
    with suppress(*Unreadable):
        catch.take(stream.codec_context.decode(None))
    stream.codec_context.flush_buffers()


def _is_past(packet: Packet[VideoStream], tick: int) -> bool:
    # No frame is shown before it is decoded, so a later dts means all packets have been fed.
    return packet.dts is not None and packet.dts > tick
