"""What a container claims to hold, against what it does: a recording cut short says so itself."""

from __future__ import annotations

from pathlib import Path

from av.container import InputContainer
from av.video.stream import VideoStream

from video.container import opened, passed_over

SLACK_S = 0.5
SLACK = 0.01
"""Seconds, and share of the claim, that may be missing: writers round, and a last picture that
stands for a while often says of no length."""
ESTIMATES = ("mpegts", "mpeg", "ogg")
"""Containers without a claim: libav takes their length from the last packet there is."""


def claimed_s(container: InputContainer, stream: VideoStream) -> float | None:
    """Return for how long after its first picture the container claims to go on, if it does."""
    names = container.format.name.split(",")
    if set(names) & set(ESTIMATES):
        return None
    if "avi" in names:
        # The length is counted from what is there; the number of frames is as it was written.
        rate = stream.average_rate
        return float(stream.frames / rate) if rate else None
    if "mov" in names:
        return _in_seconds(stream, stream.duration)
    until = _tagged_s(stream) or (container.duration / 1e6 if container.duration else None)
    return until and until - _start_s(stream)


def cut_short(path: Path, *, claimed: float, found: float) -> str | None:
    """Return the problem in one clause where much less is there than was claimed, else None.

    Costs a pass of reading where it looks so: sound may go on after the last picture.
    """
    if _is_enough(found, claimed) or _is_enough(_longest_s(path), claimed):
        return None
    return f"cut short: {found:.1f} of {claimed:.1f} s are there"


def _is_enough(found: float, claimed: float) -> bool:
    return found >= claimed - max(SLACK_S, SLACK * claimed)


def _tagged_s(stream: VideoStream) -> float | None:
    """Return the length of the stream as Matroska's writers leave it in a tag of text."""
    hours, _, rest = stream.metadata.get("DURATION", "").partition(":")
    minutes, _, seconds = rest.partition(":")
    try:
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except ValueError:
        return None


def _longest_s(path: Path) -> float:
    """Return how long any track of the file goes on, in seconds after the first picture."""
    last = start = 0.0
    with opened(path) as (container, stream):
        start = _start_s(stream)
        # Where it cannot be read on, it ends, and that is what is asked.
        with passed_over():
            for packet in container.demux():
                at = packet.dts if packet.pts is None else packet.pts
                if packet.size and at is not None:
                    base = packet.time_base or stream.time_base or 0
                    last = max(last, float((at + (packet.duration or 0)) * base))
    return last - start


def _start_s(stream: VideoStream) -> float:
    # Some count from the first picture and some from zero, which may lie well before it.
    return max(0.0, _in_seconds(stream, stream.start_time) or 0.0)


def _in_seconds(stream: VideoStream, ticks: int | None) -> float | None:
    return float(ticks * stream.time_base) if ticks and stream.time_base else None
