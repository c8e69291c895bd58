"""Files that are broken on purpose or out to do harm: what each is, and what may come of it."""

from __future__ import annotations

import os
import random
import socket
import struct
import zlib
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import av
import numpy as np
from PIL import Image

from tests.support import boxes
from tests.support.boxes import box, element, patched, poke

FRAMES = "frames"
"""It gives pictures."""
EITHER = "either"
"""Frames or a reason: which of them hangs on the version of libav."""
UNKNOWN = "is damaged, cut short or in no video format known here"
HOLLOW = "holds no frame that can be decoded"
EMPTY = "holds a video stream without a single frame"


class Goods(NamedTuple):
    """Sound clips of 25 small pictures, to be broken."""

    mp4: bytes
    """Its index is at the end."""
    faststart: bytes
    h264: bytes
    mkv: bytes
    avi: bytes
    ts: bytes
    mjpeg: bytes
    png: bytes


def goods() -> Goods:
    """Encode the sound clips."""
    return Goods(
        clip("mp4", "mpeg4"),
        clip("mp4", "mpeg4", movflags="faststart"),
        clip("mp4", "libx264"),
        clip("matroska", "mpeg4"),
        clip("avi", "mpeg4"),
        clip("mpegts", "mpeg2video"),
        clip("mov", "mjpeg"),
        clip("mov", "png"),
    )


def clip(container: str, codec: str, **muxing: str) -> bytes:
    """Return a clip of a second; every picture is another grey."""
    # A real file: to put the index first, libav opens what it has written once more.
    with TemporaryDirectory() as folder:
        path = Path(folder) / "clip"
        write_clip(path, container, codec, muxing)
        return path.read_bytes()


def write_clip(path: Path, container: str, codec: str, muxing: dict[str, str]) -> None:
    """Write what `clip` returns."""
    with av.open(str(path), "w", format=container, options=muxing) as output:
        stream = output.add_stream(codec, rate=25)
        stream.width = 64
        stream.height = 48
        stream.pix_fmt = {"mjpeg": "yuvj420p", "png": "rgb24"}.get(codec, "yuv420p")
        for number in range(25):
            picture = np.full((48, 64, 3), 10 * number, np.uint8)
            output.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        output.mux(stream.encode())


def flipped(data: bytes, seed: int) -> bytes:
    """Return the data with one bit in every two hundred bytes or so turned over."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(len(data) // 200):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def picture(kind: str) -> bytes:
    """Return an image file."""
    file = BytesIO()
    Image.new("RGB", (64, 48)).save(file, kind)
    return file.getvalue()


class Bad(NamedTuple):
    """One file."""

    data: bytes
    outcome: str
    """FRAMES, EITHER, or how the reason begins."""
    suffix: str = "mp4"


def bad_files(good: Goods, canary: Path) -> dict[str, Bad]:
    """Return every bad file that is made of bytes; some refer to the canary, which no one may open.

    Args:
        good: what they are made from.
        canary: a sound clip that is not theirs.
    """
    kinds = (_cut, _no_videos, _lists, _huge, _of_time, _of_boxes, _of_tracks)
    files = {name: file for kind in kinds for name, file in kind(good).items()}
    return {**files, **_references(good, canary)}


def _cut(good: Goods) -> dict[str, Bad]:
    half = {name: data[: len(data) // 2] for name, data in good._asdict().items()}
    flips = {
        f"flipped {kind} {seed}": Bad(flipped(getattr(good, kind), seed), EITHER, suffix)
        for kind, suffix in (
            *(("faststart", "mp4"), ("mp4", "mp4"), ("mkv", "mkv")),
            *(("avi", "avi"), ("ts", "ts"), ("mjpeg", "mov")),
        )
        for seed in range(4)
    }
    return {
        "nothing": Bad(b"", "is empty"),
        "one byte": Bad(b"\0", UNKNOWN),
        "cut, index last": Bad(half["mp4"], UNKNOWN),
        "cut, index first": Bad(half["faststart"], FRAMES),
        "cut mkv": Bad(half["mkv"], FRAMES, "mkv"),
        "cut avi": Bad(good.avi[: len(good.avi) * 4 // 5], FRAMES, "avi"),
        "cut ts": Bad(half["ts"], FRAMES, "ts"),
        "header alone": Bad(good.faststart[: good.faststart.index(b"mdat") + 4], EITHER),
        "hollow": Bad(_hollow(good.mp4), HOLLOW),
        "wrong suffix": Bad(good.mkv, FRAMES, "mp4"),
        "grown": Bad(good.mp4 + bytes(100_000), FRAMES),
        "twice": Bad(good.mp4 * 2, FRAMES),
        **flips,
    }


def _hollow(data: bytes) -> bytes:
    start = data.index(b"mdat") + 4
    end = data.index(b"moov") - 4
    return data[:start] + bytes(end - start) + data[end:]


def _no_videos(_good: Goods) -> dict[str, Bad]:
    archive = b"PK\3\4" + bytes(26) + b"a" * 500 + b"PK\5\6" + bytes(18)
    with Path("/bin/sh").open("rb") as program:
        elf = program.read(65536)
    return {
        "page": Bad(b"<html>404 not found</html>\n" * 100, "is an HTML page"),
        "noise": Bad(random.Random(1).randbytes(50_000), UNKNOWN),
        "zeros": Bad(bytes(100_000), "begins with nothing but zeros", "mkv"),
        "png": Bad(picture("PNG"), "is a picture (PNG)"),
        "jpeg": Bad(picture("JPEG"), "is a picture (JPEG)"),
        "gif": Bad(picture("GIF"), "is a picture (GIF)"),
        "zip": Bad(archive, "is an archive (zip)"),
        "program": Bad(elf, "is a program"),
        "subtitles": Bad(b"1\n00:00:01,000 --> 00:00:02,000\nhello\n", "is a text"),
        "empty packets": Bad((b"\x47\x1f\xff\x10" + b"\xff" * 184) * 2000, EITHER, "ts"),
    }


def _lists(_good: Goods) -> dict[str, Bad]:
    session = (
        *(b"v=0", b"o=- 0 0 IN IP4 127.0.0.1", b"c=IN IP4 127.0.0.1", b"t=0 0"),
        *(b"m=video 5004 RTP/AVP 96", b"a=rtpmap:96 H264/90000", b""),
    )
    return {
        "session": Bad(b"\r\n".join(session), "is a text"),
        "page of a stream": Bad(
            b"#EXTM3U\n#EXTINF:2,\nhttp://127.0.0.1:9/a.ts\n", "is a playlist", "m2ts"
        ),
        "redirection": Bad(
            b"[Reference]\r\nRef1=http://127.0.0.1:9/a.asf\r\n", "is a playlist", "asf"
        ),
    }


def _references(good: Goods, canary: Path) -> dict[str, Bad]:
    name = os.fsencode(canary)
    dash = (
        b'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
        b'mediaPresentationDuration="PT1S"><Period><AdaptationSet><Representation id="1" '
        b'bandwidth="1"><BaseURL>file:%s</BaseURL></Representation></AdaptationSet></Period></MPD>'
    )
    linked = element(boxes.NEXT_FILE, name)
    return {
        "list of files": Bad(b"ffconcat version 1.0\nfile '%s'\n" % name, "is a playlist"),
        "playlist": Bad(
            b"#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:2,\n%s\n#EXT-X-ENDLIST\n" % name,
            "is a playlist",
        ),
        "dash": Bad(dash % name, "is a playlist (DASH)"),
        "external track": Bad(_external(good.mp4, canary), EITHER, "mov"),
        "linked segment": Bad(
            boxes.matroska(info=linked, tracks=boxes.track(1), rest=boxes.cluster()), EMPTY, "mkv"
        ),
    }


def _external(data: bytes, canary: Path) -> bytes:
    """Return an MP4 file that says its pictures are in another one, by name and whole path."""
    name = os.fsencode(canary)
    record = bytearray(150)
    record[10:38] = bytes([1]) + b"v" + bytes(26)
    record[50:52] = bytes([min(63, len(canary.name)), *os.fsencode(canary.name)[:1]])
    record[130:134] = struct.pack(">hh", 1, 1)
    paths = b"".join(
        struct.pack(">hh", kind, len(text)) + text + bytes(len(text) % 2)
        for kind, text in ((2, name), (18, name))
    )
    alias = box(b"alis", bytes(4) + bytes(record) + paths + struct.pack(">h", -1))
    parents = (b"dinf", b"minf", b"mdia", b"trak", b"moov")
    return boxes.regrown(data, b"dref", bytes(4) + struct.pack(">I", 1) + alias, parents)


def _huge(good: Goods) -> dict[str, Bad]:
    far = (100_000).to_bytes(4, "big")
    avi = good.avi.index(b"strf") + 12
    giant = boxes.h264_header(100_000, 100_000)
    start = b"\x01\x42\xc0\x1e\xff\xe1"
    end = b"\x01\0\4\x68\xce\x3c\x80"
    config = start + struct.pack(">H", len(giant)) + giant + end
    at = good.h264.index(b"avcC")
    room = int.from_bytes(good.h264[at - 4 : at], "big") - 8
    return {
        "huge in avi": Bad(good.avi[:avi] + far[::-1] * 2 + good.avi[avi + 8 :], EITHER, "avi"),
        "huge in mkv": Bad(
            boxes.matroska(
                tracks=boxes.track(1, codec=b"V_VP8", size=100_000), rest=boxes.cluster(b"\0" * 50)
            ),
            EMPTY,
            "mkv",
        ),
        "huge in h264": Bad(
            good.h264[: at + 4] + config[:room].ljust(room, b"\0") + good.h264[at + 4 + room :],
            EITHER,
        ),
        "huge in mjpeg": Bad(
            good.mjpeg.replace(
                b"\xff\xc0\0\x11\x08\0\x30\0\x40", b"\xff\xc0\0\x11\x08" + b"\xff\xdc" * 2
            ),
            HOLLOW,
            "mov",
        ),
        "huge in png": Bad(_giant_pngs(good.png), HOLLOW, "mov"),
        "huge in the list": Bad(patched(good.mp4, b"mp4v", poke(24, b"\xff\xff\xff\xff")), EITHER),
    }


def _giant_pngs(data: bytes) -> bytes:
    at = data.index(b"IHDR")
    head = b"IHDR" + struct.pack(">II", 100_000, 100_000) + data[at + 12 : at + 17]
    return data.replace(data[at : at + 21], head + struct.pack(">I", zlib.crc32(head)))


def _of_time(good: Goods) -> dict[str, Bad]:
    longest = b"\xff" * 4
    lengths = data_of(good.mp4, b"stts")
    stretched = lengths[:4] + struct.pack(">III", 1, 25, 0x7FFF_FFFF)
    edits = struct.pack(">IIIiIIiI", 0, 2, longest[0], -5, 0, 0, 0x7FFF_FFFF, 0)
    return {
        "endless": Bad(patched(good.mp4, b"mvhd", poke(16, longest)), FRAMES),
        "endless mkv": Bad(_with_length(float("inf")), EITHER, "mkv"),
        "length of no number": Bad(_with_length(float("nan")), EITHER, "mkv"),
        "frames of years": Bad(_regrown_table(good.mp4, b"stts", stretched), EITHER),
        "no time scale": Bad(patched(good.mp4, b"mdhd", poke(12, bytes(4))), EITHER),
        "no length": Bad(clip("matroska", "mpeg4", live="1"), FRAMES, "mkv"),
        "negative times": Bad(_shifted(good.mkv), EITHER, "mkv"),
        "negative offsets": Bad(patched(good.h264, b"ctts", _backwards), EITHER),
        "senseless edits": Bad(_regrown_table(good.mp4, b"elst", edits), EITHER),
    }


def data_of(data: bytes, kind: bytes) -> bytes:
    """Return the content of an MP4 file's first box of a kind."""
    at = data.index(kind) - 4
    return data[at + 8 : at + int.from_bytes(data[at : at + 4], "big")]


def _regrown_table(data: bytes, kind: bytes, content: bytes) -> bytes:
    inner = (b"stbl", b"minf", b"mdia") if kind != b"elst" else (b"edts",)
    return boxes.regrown(data, kind, content, (*inner, b"trak", b"moov"))


def _with_length(length: float) -> bytes:
    return boxes.matroska(
        info=element(boxes.LENGTH, length), tracks=boxes.track(1), rest=boxes.cluster(b"\0" * 50)
    )


def _shifted(data: bytes) -> bytes:
    """Return a Matroska file whose first blocks are before the start of time."""
    whole = bytearray(data)
    at = whole.find(b"\xa3")
    while at >= 0:
        place = at + 3 if whole[at + 1] & 0x80 else at + 4
        whole[place : place + 2] = b"\x80\x01"
        at = whole.find(b"\xa3", at + 200)
    return bytes(whole)


def _backwards(table: bytearray) -> None:
    for at in range(12, len(table), 8):
        table[at : at + 4] = b"\x80\0\0\1"


def _of_boxes(good: Goods) -> dict[str, Bad]:
    head = good.mp4[: good.mp4.index(b"mdat") - 4]
    nested = b""
    for _ in range(5000):
        nested = box(b"moov", nested)
    bomb = zlib.compress(box(b"moov", bytes(4_000_000)))
    packed = box(
        b"cmov", box(b"dcom", b"zlib") + box(b"cmvd", struct.pack(">I", 0x7FFF_FFFF) + bomb)
    )
    count = bytes(4) + struct.pack(">II", 1, 0x7FFF_FFF0)
    return {
        "boxes in boxes": Bad(head + nested, UNKNOWN),
        "boxes of no size": Bad(head + b"\0\0\0\0moov" + b"\0\0\0\0trak" * 1000, EITHER),
        "boxes of size one": Bad(head + b"\0\0\0\1moov" + b"\xff" * 8 + bytes(1000), EITHER),
        "boxes too small": Bad(head + b"\0\0\0\4moov" * 1000, EITHER),
        "packed index": Bad(head + box(b"moov", packed), "asks for more memory", "mov"),
        "two thousand million frames": Bad(_regrown_table(good.mp4, b"stsz", count), EITHER),
        "unknown codec": Bad(good.h264.replace(b"avc1", b"zzzz"), EITHER),
        "encrypted": Bad(_encrypted("libx264"), "is encrypted"),
        "encrypted, decoded to noise": Bad(_encrypted("libsvtav1"), "is encrypted"),
    }


def _encrypted(codec: str) -> bytes:
    return clip(
        "mp4",
        codec,
        encryption_scheme="cenc-aes-ctr",
        encryption_key="76a6c65c5ea762046bd749a2e632ccbb",
        encryption_kid="a7e61c373e219033c21091fa607bf3b8",
    )


def _of_tracks(_good: Goods) -> dict[str, Bad]:
    many = b"".join(boxes.track(number) for number in range(1, 10_001))
    words = boxes.track(1, kind=17, codec=b"S_TEXT/UTF8")
    strange = boxes.track(1, codec=b"V_NOBODY")
    return {
        "ten thousand tracks": Bad(boxes.matroska(tracks=many), EITHER, "mkv"),
        "only subtitles": Bad(
            boxes.matroska(tracks=words, rest=boxes.cluster(b"hello")), "holds no pictures", "mkv"
        ),
        "no tracks": Bad(boxes.matroska(rest=boxes.cluster(b"hello")), EITHER, "mkv"),
        "unknown codec in mkv": Bad(
            boxes.matroska(tracks=strange, rest=boxes.cluster(b"\0" * 50)), "is in a codec", "mkv"
        ),
        "frames of nothing": Bad(
            boxes.matroska(tracks=boxes.track(1), rest=boxes.cluster(*[b"\0"] * 20_000)),
            HOLLOW,
            "mkv",
        ),
    }


NAMES = (
    b"-i.mp4",
    b"line\nbreak.mp4",
    b"%s%n%03d.mp4",
    b"\x1b[31mred\x1b]0;title\x07.mp4",
    b"\xff\xfe.mp4",
    "🎬 視.mp4".encode(),
    b"n" * 251 + b".mp4",
    b"concat:a|b.mp4",
    b"subfile,,start,0,end,0,,:x.mp4",
    b"file:x.mp4",
    b"fd:.mp4",
    b"pipe:0.mp4",
    b"|cat.mp4",
    b"http:x.mp4",
    b"frame*?[a].mp4",
    b"'; drop table battles; --.mp4",
    b"..mp4",
)
"""Names, as bytes, that mean something to some program; the file is sound."""


def lay_out_odd_things(folder: Path) -> dict[str, str]:
    """Put what is no regular file into a folder; return the reason for each."""
    os.mkfifo(folder / "pipe.mp4")
    (folder / "device.mp4").symlink_to("/dev/zero")
    (folder / "nowhere.mp4").symlink_to(folder / "gone")
    (folder / "loop.mp4").symlink_to("loop.mp4")
    (folder / "here.mp4").symlink_to(folder)
    (folder / "folder.mp4").mkdir()
    with socket.socket(socket.AF_UNIX) as server, chdir(folder):
        server.bind("socket.mp4")
    return {
        "pipe.mp4": "a named pipe",
        "device.mp4": "a device",
        "nowhere.mp4": "a link that leads nowhere",
        "loop.mp4": "a link that leads nowhere",
        "here.mp4": "a link to a folder, which is not followed",
        "socket.mp4": "a socket",
    }
