"""Decoding chosen frames exactly: one seek a group of pictures, and no more packets than needed."""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, dropwhile
from pathlib import Path

from av import VideoFrame
from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream
from PIL import Image

from memory.errors import UnusableVideo
from video.container import opened, passed_over
from video.decoders import Catch, Develop
from video.in_order import frames_in_order, has_guessed_times
from video.index import Index, packet_tick, read_index
from video.pictures import Turn, displayed_size, turn_of, upright

LEADS_S = (0.0, 1.0, 5.0)
"""How far before a key frame to seek: MPEG-TS is searched by when packets are decoded, which lies
before they are shown, and so ends up just behind it."""


class AvDecoder:
    """libav by PyAV: exact to the frame, and the only one that says what is damaged."""

    name = "av"

    def index(self, path: Path) -> Index:
        """Return the times of every frame the file really holds."""
        return read_index(path)

    def shape(self, path: Path) -> tuple[int, int]:
        """Return the size at which a player shows the first frame."""
        first = first_frame(path)
        if first is None:
            raise UnusableVideo("holds no frame that can be decoded")
        size = displayed_size(*first)
        # Asked how it is turned, a frame is held by itself: of 8K that would be 100 MB.
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
    ) -> Catch:
        """Return the pictures at the wanted ticks, each upright and scaled to `size`."""
        darkroom = _Darkroom(Catch(develop, frozenset(wanted)), size)
        _decode(path, index, wanted=wanted, room=darkroom)
        if wanted and not darkroom.catch.pictures:
            first = first_frame(path)
            if first is not None:
                darkroom.catch.rough[min(wanted)] = develop(
                    upright(first[0], size, turn_of(first[0]))
                )
        return darkroom.catch


@dataclass
class _Darkroom:
    """Where decoded frames become pictures."""

    catch: Catch
    size: tuple[int, int]
    turn: Turn | None = None
    """What sets them upright; to ask each frame would keep it from being freed at once."""
    asked: int = 0
    """How many frames have been set upright."""

    @property
    def missing(self) -> frozenset[int]:
        return self.catch.missing

    def take(self, frames: Iterable[VideoFrame]) -> None:
        """Develop the frames that are wanted and not yet had."""
        catch = self.catch
        for frame in frames:
            if frame.pts in catch.wanted and frame.pts not in catch.exact:
                shelf = catch.rough if frame.is_corrupt else catch.exact
                shelf[frame.pts] = catch.develop(self._upright(frame))

    def _upright(self, frame: VideoFrame) -> Image.Image:
        if self.asked == 0:
            self.turn = turn_of(frame)
        elif self.asked == 1:
            # The one that was asked is held by itself.
            gc.collect(1)
        self.asked += 1
        return upright(frame, self.size, self.turn)


def _decode(path: Path, index: Index, *, wanted: Sequence[int], room: _Darkroom) -> None:
    with opened(path) as (container, stream):
        if wanted and container.format.name == "avi" and has_guessed_times(path):
            room.take(frames_in_order(container, stream, index.shown, last=max(wanted)))
            return
        reel = _Reel(container, stream)
        for key, ticks in _groups(index, wanted) if index.can_seek else ():
            with passed_over():
                _decode_group(reel, key=key, ticks=ticks, room=room)
    if room.missing:
        _decode_through(path, room)


@dataclass
class _Reel:
    """An open file that can be wound to a key frame."""

    container: InputContainer
    stream: VideoStream
    lead: int = 0
    """Place in LEADS_S that was needed last: a container that seeks late does so everywhere."""

    def packets_from(self, key: int) -> Iterator[Packet[VideoStream]]:
        """Return the packets from that of a key frame on, in the order in which they are stored.

        Where it cannot be reached they are those behind it, of which nothing can be made.
        """
        for place in range(self.lead, len(LEADS_S)):
            self.lead = place
            packets = self._wound_to(key, LEADS_S[place])
            first = next(packets, None)
            if first is None or not _is_shown_after(first, key):
                break
        behind = chain([first] if first else [], packets)
        return dropwhile(lambda packet: _is_shown_before(packet, key), behind)

    def _wound_to(self, key: int, lead_s: float) -> Iterator[Packet[VideoStream]]:
        lead = round(lead_s / self.stream.time_base) if self.stream.time_base else 0
        self.container.seek(key - lead, stream=self.stream, backward=True)
        self.stream.codec_context.flush_buffers()
        return self.container.demux(self.stream)


def first_frame(path: Path) -> tuple[VideoFrame, Fraction | None] | None:
    """Return the first frame that can be decoded, and its pixels' aspect; None if none can be."""
    with opened(path) as (container, stream), passed_over():
        for packet in container.demux(stream):
            with passed_over():
                for frame in stream.codec_context.decode(packet):
                    return frame, stream.sample_aspect_ratio
    return None


def _groups(index: Index, wanted: Sequence[int]) -> list[tuple[int, list[int]]]:
    groups: dict[int, list[int]] = {}
    for tick in sorted(wanted):
        key = index.keys[max(0, bisect_right(index.keys, tick) - 1)]
        groups.setdefault(key, []).append(tick)
    return list(groups.items())


def _decode_group(reel: _Reel, *, key: int, ticks: list[int], room: _Darkroom) -> None:
    """Decode from the key frame until all packets of the wanted frames have been fed."""
    waiting = set(ticks)
    for packet in reel.packets_from(key):
        _feed(packet, reel.stream, room)
        waiting.discard(packet_tick(packet) or 0)
        if not waiting or _is_past(packet, ticks[-1]):
            break
    _drain(reel.stream, room)


def _decode_through(path: Path, room: _Darkroom) -> None:
    """Fill what is missing in one pass from the start: some containers cannot seek."""
    last = max(room.missing)
    with opened(path) as (container, stream):
        with passed_over():
            for packet in container.demux(stream):
                _feed(packet, stream, room)
                if not room.missing or _is_past(packet, last):
                    break
        _drain(stream, room)


def _feed(packet: Packet[VideoStream], stream: VideoStream, room: _Darkroom) -> None:
    """Decode one packet; one that nothing refers to and nobody wants is passed over."""
    if not packet.size:
        return
    codec = stream.codec_context
    is_wanted = packet.pts is None or packet.pts in room.catch.wanted
    codec.skip_frame = "DEFAULT" if is_wanted else "NONREF"
    with passed_over():
        room.take(codec.decode(packet))


def _drain(stream: VideoStream, room: _Darkroom) -> None:
    stream.codec_context.skip_frame = "DEFAULT"
    with passed_over():
        room.take(stream.codec_context.decode(None))
    stream.codec_context.flush_buffers()


def _is_shown_before(packet: Packet[VideoStream], tick: int) -> bool:
    own = packet_tick(packet)
    return own is not None and own < tick


def _is_shown_after(packet: Packet[VideoStream], tick: int) -> bool:
    own = packet_tick(packet)
    return own is not None and own > tick


def _is_past(packet: Packet[VideoStream], tick: int) -> bool:
    # No frame is shown before it is decoded, so a later dts means all packets have been fed.
    return packet.dts is not None and packet.dts > tick
