"""What a container says of its frames, learnt without decoding any."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from av.container import InputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from memory.errors import UnusableVideo
from video.claims import claimed_s, cut_short
from video.container import opened, passed_over

JUMP_S = 1.0
"""So far a clock may go back: writers are not all exact."""


class Index(NamedTuple):
    """Presentation times of all frames, in ticks of `time_base` seconds."""

    shown: tuple[int, ...]
    """Ascending, without repeats."""
    keys: tuple[int, ...]
    """Those at which decoding can start; at least one."""
    time_base: Fraction
    rate: Fraction | None
    """Frames per second as the container claims."""
    problems: tuple[str, ...] = ()
    """What is wrong with the file though it can be used, a clause each."""
    can_seek: bool = True
    """Each time is there once; else a seek to it may end somewhere else."""

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
    tape = _Tape()
    with opened(path) as (container, stream):
        claimed = claimed_s(container, stream)
        # Everything before damage is good; the frames behind it do not exist for us.
        tape.is_torn = True
        with passed_over():
            tape.run(container, stream)
            tape.is_torn = False
        time_base, rate = stream.time_base, stream.average_rate
    if not tape.shown or time_base is None:
        raise UnusableVideo("holds a video stream without a single frame")
    shown = tuple(sorted(tape.shown))
    index = Index(shown, tuple(sorted(tape.keys)) or shown[:1], time_base, rate)
    problems = _problems(path, index, tape, claimed)
    return index._replace(problems=problems, can_seek=not tape.is_reset)


@dataclass
class _Tape:
    """What reading the packets has brought so far, in ticks."""

    shown: set[int] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)
    end: int = 0
    """Until when a frame is shown that says how long it is."""
    is_torn: bool = False
    """Reading ended in an error."""
    is_reset: bool = False
    """Reading ended where the clock jumped back: two recordings stand one behind the other."""

    def run(self, container: InputContainer, stream: VideoStream) -> None:
        """Read to the end, or until times come again that have been."""
        before, jump = None, int(JUMP_S / stream.time_base) if stream.time_base else 0
        is_vp8 = stream.codec_context.name == "vp8"
        for packet in container.demux(stream):
            dts, tick = packet.dts, packet_tick(packet)
            if dts is not None:
                self.is_reset = before is not None and dts < before - jump
                before = dts
            if self.is_reset:
                break
            if tick is None or packet.is_discard or (is_vp8 and _is_hidden(packet)):
                continue
            self.shown.add(tick)
            self.end = max(self.end, tick + (packet.duration or 0))
            if packet.is_keyframe and not packet.is_corrupt:
                self.keys.add(tick)


def _problems(path: Path, index: Index, tape: _Tape, claimed: float | None) -> tuple[str, ...]:
    found = max(index.duration_s, index.seconds(tape.end))
    if claimed and (short := cut_short(path, claimed=claimed, found=found)):
        return (short,)
    if tape.is_reset:
        return (f"its clock starts again after {found:.1f} s: what follows is left out",)
    return (f"ends in an error after {found:.1f} s",) if tape.is_torn else ()


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
