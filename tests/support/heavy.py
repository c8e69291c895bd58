"""Files that cost whoever opens them more than they weigh."""

from __future__ import annotations

import struct
import zlib
from fractions import Fraction
from pathlib import Path

import av

from tests.support.boxes import regrown

TABLES = (b"stbl", b"minf", b"mdia", b"trak", b"moov")


def many_frames(data: bytes, count: int) -> bytes:
    """Return an MP4 file, of one whose index is at the end, that says every byte is a frame."""
    one_chunk = struct.pack(">IIIII", 0, 1, 1, count, 1)
    tables = {
        b"stsz": struct.pack(">III", 0, 1, count),
        b"stts": struct.pack(">IIII", 0, 1, count, 512),
        b"stsc": one_chunk,
        b"stco": struct.pack(">III", 0, 1, len(data)),
    }
    # Without the list of edits, which would leave out all but a second.
    data = data.replace(b"edts", b"free")
    for kind, content in tables.items():
        data = regrown(data, kind, content, TABLES)
    return data + bytes(count)


def write_large_pictures(path: Path, *, side_px: int, count: int) -> None:
    """Write a video of square pictures of one colour, which take 500 times its size."""
    picture = _png(side_px)
    with av.open(str(path), "w", format="mov") as output:
        stream = output.add_stream("png", rate=25)
        stream.width = side_px
        stream.height = side_px
        stream.pix_fmt = "rgb24"
        for number in range(count):
            packet = av.Packet(picture)
            packet.stream = stream
            packet.time_base = Fraction(1, 25)
            packet.pts = packet.dts = number
            output.mux(packet)


def _png(side_px: int) -> bytes:
    rows = zlib.compress((b"\0" + b"\x55" * (3 * side_px)) * side_px, 1)
    head = struct.pack(">IIBBBBB", side_px, side_px, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(*part) for part in parts)


def _part(kind: bytes, content: bytes) -> bytes:
    whole = kind + content
    return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))
