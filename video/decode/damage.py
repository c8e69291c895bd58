"""What libav reports of damage, and which frames it damages: all up to the next fresh start.

An error, a gap and a picture that was patched up have one thing in common: what refers to it, and
what refers to that, may be wrong without another word. So all frames behind one, in the order of
decoding, are damaged until decoding starts afresh. Much damage is reported by no decoder: where
nothing is reported, nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import av.logging
from av import VideoFrame
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from videoautoarena.video.decode.container import Unreadable

FORGETTING = "mmco: unref short failure"
LONGEST = 1.75
"""Longest step between frames, in usual steps, that is no hole: film on discs has steps of 1.5."""
REORDERED = 5
"""Most steps between the decoding of a frame and its showing."""
UNEVEN = 0.05
"""Share of uneven steps above which no long step is taken for a loss."""
PAUSE = 30
"""A gap of so many steps that ends at a key frame is a pause: a loss would not end just there."""

# Setting a level makes PyAV count errors; at this one it hands none of their texts to Python.
av.logging.set_level(av.logging.PANIC)


def errors_reported() -> int:
    """Return how many errors libav has reported in this process; some are never raised."""
    return int(av.logging.get_last_error()[0])


def packet_tick(packet: Packet[VideoStream]) -> int | None:
    """Return when a packet's frame is shown; None for an empty packet or one without a time."""
    if not packet.size:
        return None
    return packet.dts if packet.pts is None else packet.pts


@dataclass
class DecodingPass:
    """One pass of decoding: the order in which frames were fed, and where damage was reported."""

    key: int | None = None
    """The tick it began at after a seek; frames shown before it lack what they refer to."""
    places: dict[int, int] = field(default_factory=dict)
    """From the tick of each frame to its place in the order of decoding."""
    reported: set[int] = field(default_factory=set)
    patched: set[int] = field(default_factory=set)
    """Ticks of frames that the decoder itself calls corrupt."""

    def decode(
        self, packet: Packet[VideoStream] | None, decoding: VideoCodecContext
    ) -> list[VideoFrame]:
        """Return the frames that come out as a packet goes in; None gives what was held back."""
        tick = packet_tick(packet) if packet else None
        # The second field of a picture may have no time of its own.
        if tick is not None and tick not in self.places:
            self.places[tick] = len(self.places)
        frames, has_error = heard(lambda: decoding.decode(packet))
        # Frames shown before the key frame refer to others that were not fed: no damage of the
        # file.
        if has_error and (tick is None or self.key is None or tick >= self.key):
            self.reported.add(max(0, len(self.places) - 1) if tick is None else self.places[tick])
        for frame in frames:
            if frame.is_corrupt and frame.pts is not None:
                self.patched.add(frame.pts)
                if self.key is None or frame.pts >= self.key:
                    self.reported.add(self.places.get(frame.pts, 0))
        return frames

    @property
    def first(self) -> float:
        """The place of the first reported damage; infinite where none was reported."""
        return min(self.reported, default=float("inf"))

    def is_sound(self, tick: int, *, until: float | None = None) -> bool:
        """Return whether a frame is free of known damage, and all before that it may refer to.

        `until` is the place of the first damage that other frames may refer to, if that is known;
        without it every damage counts as such.
        """
        place = self.places.get(tick)
        is_led_in = self.key is not None and tick < self.key
        if place is None or tick in self.patched or place in self.reported or is_led_in:
            return False
        return place < (self.first if until is None else until)


def heard(decode: Callable[[], list[VideoFrame]]) -> tuple[list[VideoFrame], bool]:
    """Return the frames, and whether an error was raised or reported; lack of memory is raised."""
    before = errors_reported()
    try:
        frames = decode()
    except MemoryError:
        raise
    except Unreadable:
        return [], True
    count = errors_reported() - before
    last = av.logging.get_last_error()[1]
    # H.264 that builds up without key frames tells the decoder to forget frames from before its
    # start. Where frames are really missing, more than this one error is reported.
    is_harmless = count == 1 and last is not None and FORGETTING in last[2]
    return frames, count > 0 and not is_harmless


@dataclass
class PacketGaps:
    """Which frames are damaged by what reading alone shows: packets that are torn or missing."""

    count: int = 0
    """How many packets are torn or follow a hole."""
    hurt: set[int] = field(default_factory=set)
    late: dict[int, set[int]] = field(default_factory=dict)
    """From the time of decoding of a packet before which another may be missing, to the ticks that
    follow up to a fresh start."""
    _is_hurt: bool = False
    _was_torn: bool = False
    _due: float | None = None
    """Latest time of decoding of the next packet, if none is missing before it."""
    _following: set[int] | None = None
    _key: int | None = None
    """The tick of a key frame behind a gap; frames shown before it refer to what was lost."""

    @property
    def is_open(self) -> bool:
        """Whether the next packet may be damaged by one before it."""
        return self._is_hurt or self._was_torn or self._key is not None

    def pass_by(self, packet: Packet[VideoStream], tick: int | None, *, is_behind: bool) -> None:
        """Take note of the next stored packet; `is_behind` an error of reading or not."""
        # Parsers give the torn frame with the packet after the one that they mark.
        is_torn = packet.is_corrupt or self._was_torn
        self._was_torn = packet.is_corrupt
        self.count += packet.is_corrupt or is_behind
        self._is_hurt |= is_torn or is_behind
        if packet.dts is not None and self._due is not None and packet.dts > self._due:
            self._following = self.late[packet.dts] = set()
        # A packet without a place in the file has a time worked out from others, which proves
        # nothing.
        is_known = packet.dts is not None and packet.duration and packet.pos is not None
        self._due = (packet.dts or 0) + LONGEST * (packet.duration or 0) if is_known else None
        if packet.is_keyframe and not is_torn:
            self._key = tick if self._is_hurt else None
            self._is_hurt = False
            self._following = None
        is_leading = tick is not None and self._key is not None and tick < self._key
        if tick is not None and (self._is_hurt or is_leading):
            self.hurt.add(tick)
        if tick is not None and self._following is not None:
            self._following.add(tick)

    def look_for_holes(self, shown: Sequence[int], keys: Collection[int]) -> None:
        """Take note of missing frames, where nearly all frames are shown equally long.

        Times are often worked out, and wrong by one: a hole counts where there is one in the times
        of showing and in those of decoding. Where a group of pictures begins behind it, only those
        refer to what was lost that are shown before its key frame; there need be none, and behind
        a pause they refer to what is there. `shown` are the ticks of all frames, ascending.
        """
        steps = [later - earlier for earlier, later in pairwise(shown)]
        usual = median(steps) if steps else 0.0
        uneven = sum(not usual <= LONGEST * step <= LONGEST**2 * usual for step in steps)
        if uneven > max(1, UNEVEN * len(steps)):
            return
        is_behind = False
        for step, tick in zip(steps, shown[1:], strict=True):
            near = [dts for dts in self.late if abs(dts - tick) <= REORDERED * usual]
            # A key frame is a fresh start itself, so nothing was noted behind it.
            is_group = not any(self.late[dts] for dts in near)
            is_whole = is_group and (tick in keys or step > PAUSE * usual)
            is_hole = step > LONGEST * usual and bool(near) and not is_whole
            self.count += is_hole
            self.hurt.update(*(self.late[dts] for dts in near if is_hole))
            # Frames stored before the hole may have a time that was worked out from a missing one.
            is_behind = (is_behind or is_hole) and tick not in keys
            if is_behind:
                self.hurt.add(tick)
