"""MPEG-4 as DivX and Xvid put it into AVI: a B-frame shares the packet of the frame before it."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import av
from av.packet import Packet

USER_DATA = re.compile(rb"\x00\x00\x01\xb2.*?(?=\x00\x00\x01|$)", re.DOTALL)
DIVX = b"\x00\x00\x01\xb2DivX503b1393p"
"""By its last letter decoders know that packets may hold two frames."""
NOT_CODED = b"\x00\x00\x01\xb6\x51\x80\x7f"
"""A frame that says nothing: it fills the place of the one that went into the packet before."""
FRAME = b"\x00\x00\x01\xb6"


def pack(path: Path) -> None:
    """Put the B-frames of an AVI into packets of others, as DivX and Xvid do."""
    with av.open(str(path)) as old:
        stream = old.streams.video[0]
        packets = [packet for packet in old.demux(stream) if packet.size]
        stored = [(USER_DATA.sub(DIVX, bytes(packet)), packet.is_keyframe) for packet in packets]
        size = (stream.width, stream.height)
        rate = stream.average_rate
    assert rate is not None
    with av.open(str(path), "w") as new:
        copy = new.add_stream("mpeg4", rate=rate)
        copy.width, copy.height = size
        for number, (data, is_key) in enumerate(_packed(stored)):
            packet = Packet(data)
            packet.stream = copy
            packet.is_keyframe = is_key
            packet.pts = number
            packet.dts = number
            packet.time_base = 1 / Fraction(rate)
            new.mux(packet)


def _packed(plain: list[tuple[bytes, bool]]) -> list[tuple[bytes, bool]]:
    """Return the packets: of B-frames in a row the first joins the one before, the next stand."""
    packets: list[tuple[bytes, bool]] = []
    owes = False
    for data, is_key in plain:
        if _is_between(data) and not owes:
            before, was_key = packets[-1]
            packets[-1], owes = (before + data, was_key), True
            continue
        if owes and not _is_between(data):
            packets.append((NOT_CODED, False))
            owes = False
        packets.append((data, is_key))
    return [*packets, *[(NOT_CODED, False)] * owes]


def _is_between(data: bytes) -> bool:
    """Return whether a frame is predicted from both sides."""
    return data[data.index(FRAME) + len(FRAME)] >> 6 == 2
