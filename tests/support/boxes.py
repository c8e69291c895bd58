"""The pieces that MP4 and Matroska files are built of, to take some apart and to build bad ones."""

from __future__ import annotations

import struct
from collections.abc import Callable

TRACK = 0xAE
NUMBER = 0xD7
UID = 0x73C5
KIND = 0x83
CODEC = 0x86
VIDEO = 0xE0
WIDTH = 0xB0
HEIGHT = 0xBA
HEADER = 0x1A45DFA3
DOCTYPE = 0x4282
SEGMENT = 0x18538067
INFO = 0x1549A966
TRACKS = 0x1654AE6B
SCALE = 0x2AD7B1
LENGTH = 0x4489
NEXT_FILE = 0x3E83BB
CLUSTER = 0x1F43B675
TIME = 0xE7
BLOCK = 0xA3


def box(kind: bytes, content: bytes = b"") -> bytes:
    """Return an MP4 box."""
    return struct.pack(">I4s", 8 + len(content), kind) + content


def patched(data: bytes, kind: bytes, change: Callable[[bytearray], object]) -> bytes:
    """Return an MP4 file with the content of its first box of a kind changed in place."""
    at = data.index(kind) - 4
    size = int.from_bytes(data[at : at + 4], "big")
    content = bytearray(data[at + 8 : at + size])
    change(content)
    assert len(content) == size - 8
    return data[: at + 8] + content + data[at + size :]


def poke(at: int, value: bytes) -> Callable[[bytearray], object]:
    """Return what overwrites some bytes of a box."""

    def change(content: bytearray) -> None:
        content[at : at + len(value)] = value

    return change


def regrown(data: bytes, kind: bytes, content: bytes, parents: tuple[bytes, ...]) -> bytes:
    """Return an MP4 file, its index at the end, with a box replaced by one of another size."""
    at = data.index(kind) - 4
    size = int.from_bytes(data[at : at + 4], "big")
    new = box(kind, content)
    whole = bytearray(data[:at] + new + data[at + size :])
    for parent in parents:
        place = data.index(parent) - 4
        grown = int.from_bytes(data[place : place + 4], "big") + len(new) - size
        whole[place : place + 4] = grown.to_bytes(4, "big")
    return bytes(whole)


def element(kind: int, content: bytes | int | float) -> bytes:
    """Return a Matroska element; numbers become what the format has for them."""
    if isinstance(content, float):
        content = struct.pack(">d", content)
    elif isinstance(content, int):
        content = content.to_bytes(max(1, (content.bit_length() + 7) // 8), "big")
    name = kind.to_bytes((kind.bit_length() + 7) // 8, "big")
    return name + (1 << 56 | len(content)).to_bytes(8, "big") + content


def matroska(*, info: bytes = b"", tracks: bytes = b"", rest: bytes = b"") -> bytes:
    """Return a Matroska file of the content of its parts."""
    head = element(HEADER, element(DOCTYPE, b"matroska"))
    scale = element(SCALE, 1_000_000)
    parts = element(INFO, scale + info) + element(TRACKS, tracks) + rest
    return head + element(SEGMENT, parts)


def track(
    number: int,
    *,
    kind: int = 1,
    codec: bytes = b"V_MPEG4/ISO/ASP",
    size: int = 64,
    more: bytes = b"",
) -> bytes:
    """Return a track of Matroska; kind 1 is pictures, 17 is subtitles."""
    shape = element(VIDEO, element(WIDTH, size) + element(HEIGHT, size)) if kind == 1 else b""
    about = element(NUMBER, number) + element(UID, number) + element(KIND, kind)
    return element(TRACK, about + element(CODEC, codec) + shape + more)


def cluster(*blocks: bytes) -> bytes:
    """Return a cluster of Matroska with a block of the first track every millisecond."""
    simple = (
        element(BLOCK, b"\x81" + struct.pack(">hB", number, 0x80) + data)
        for number, data in enumerate(blocks)
    )
    return element(CLUSTER, element(TIME, 0) + b"".join(simple))


def exp_golomb(*values: int) -> str:
    """Return the bits of unsigned numbers as H.264 writes them."""
    codes = (format(value + 1, "b") for value in values)
    return "".join("0" * (len(code) - 1) + code for code in codes)


def h264_header(width_px: int, height_px: int) -> bytes:
    """Return the sequence parameter set of baseline H.264 for pictures of this size.

    Source: ITU-T H.264, 7.3.2.1.1.
    """
    blocks = (width_px // 16 - 1, height_px // 16 - 1)
    bits = exp_golomb(0, 0, 2, 1) + "0" + exp_golomb(*blocks) + "1" + "1" + "0" + "0" + "1"
    bits += "0" * (-len(bits) % 8)
    return b"\x67\x42\xc0\x1e" + int(bits, 2).to_bytes(len(bits) // 8, "big")
