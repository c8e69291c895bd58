"""The clips that every decoder is put through: whatever may put frames out of their order."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

from tests.support.stamped import Recipe

SMALL = (96, 64)
HDR = {
    "color_primaries": ColorPrimaries.BT2020,
    "color_trc": ColorTrc.SMPTE2084,
    "colorspace": Colorspace.BT2020,
}
FULL = {"color_range": ColorRange.JPEG, "colorspace": Colorspace.ITU709}


def h264(suffix: str = "mp4", *, gop: int = 12, more: str = "", **recipe: object) -> Recipe:
    """Return a recipe for H.264 with two B-frames between the others and a key frame each `gop`."""
    params = f"keyint={gop}:min-keyint={gop}:scenecut=0:bframes=2:b-adapt=0:threads=1{more}"
    return small(suffix, "libx264", {"preset": "superfast", "x264-params": params}, **recipe)


def hevc(suffix: str = "mp4", *, more: str = "", **recipe: object) -> Recipe:
    """Return a recipe for HEVC with three B-frames between the others, in groups of 12."""
    params = "keyint=12:min-keyint=12:scenecut=0:bframes=3:b-adapt=0:pools=none:frame-threads=1"
    quiet = f"{params}:log-level=none{more}"
    return small(suffix, "libx265", {"preset": "ultrafast", "x265-params": quiet}, **recipe)


def vp9(suffix: str = "webm", **recipe: object) -> Recipe:
    """Return a recipe for VP9 whose groups have reference frames that are never shown."""
    options = {"deadline": "good", "cpu-used": "5", "g": "20", "lag-in-frames": "16", "b": "1M"}
    return small(suffix, "libvpx-vp9", {**options, "auto-alt-ref": "1"}, **recipe)


def av1(suffix: str = "mp4", **recipe: object) -> Recipe:
    """Return a recipe for AV1 with its pyramid of frames that are shown later."""
    options = {"preset": "8", "crf": "8", "g": "20", "svtav1-params": "lp=1"}
    return small(suffix, "libsvtav1", options, **{"size": (192, 128), **recipe})


def mpeg4(suffix: str, *, between: int = 2, **recipe: object) -> Recipe:
    """Return a recipe for MPEG-4 ASP with so many B-frames between the others."""
    return small(suffix, "mpeg4", {"g": "12", "bf": str(between), "b": "2M"}, **recipe)


def mpeg2(suffix: str, *, flags: str = "", **recipe: object) -> Recipe:
    """Return a recipe for MPEG-2; its groups are open, as they are on discs and in broadcasts."""
    options = {"g": "12", "bf": "2", "b": "2M", "sc_threshold": "1000000000"}
    return small(suffix, "mpeg2video", {**options, "flags": flags} if flags else options, **recipe)


def small(suffix: str, codec: str, options: dict[str, str], **recipe: object) -> Recipe:
    """Return a recipe of 40 frames of 96x64, unless told otherwise."""
    return Recipe(suffix, codec, options, **{"size": SMALL, "count": 40, **recipe})  # type: ignore[arg-type]


TURN = 2**33 // 90_000 * 25 - 2
"""In frames: shortly before the 33 bits of a transport stream's clock run over."""
VP8 = {"deadline": "realtime", "cpu-used": "8", "g": "20", "b": "1M"}
UNEVEN = (*range(0, 20, 2), *range(20, 100, 8), *range(100, 120))
KINDS = {
    "h264, groups of 12": h264(),
    "h264, groups of 250": h264(gop=250, count=260),
    "h264, open groups": h264(more=":open-gop=1"),
    "h264, pyramid of b-frames": h264(more=":bframes=5:b-pyramid=normal:ref=4"),
    "h264, open groups and pyramid": h264(more=":open-gop=1:bframes=5:b-pyramid=normal:ref=4"),
    "h264, no b-frames": h264(more=":bframes=0"),
    "h264, fields": h264(more=":tff=1"),
    "h264, key frames only": h264(gop=1),
    "h264, intra refresh": h264(more=":intra-refresh=1"),
    "h264 in mov": h264("mov"),
    "h264 in mkv": h264("mkv"),
    "h264 in avi": h264("avi"),
    "h264 in avi, no b-frames": h264("avi", more=":bframes=0"),
    "h264 in flv": h264("flv"),
    "h264 in ts": h264("ts"),
    "h264 in ts, open groups": h264("ts", more=":open-gop=1"),
    "h264 in ts, long groups": h264("ts", gop=250, count=400),
    "hevc, open groups": hevc(more=":open-gop=1"),
    "hevc, closed groups": hevc(more=":open-gop=0"),
    "hevc in mkv": hevc("mkv"),
    "hevc in ts": hevc("ts"),
    "hevc, ten bits, hdr": hevc(pix_fmt="yuv420p10le", tags=HDR),
    "vp8": small("webm", "libvpx", VP8),
    "vp8, hidden frames": small("webm", "libvpx", VP8, hidden=(7, 8, 26)),
    "vp9": vp9(),
    "vp9 in mp4": vp9("mp4"),
    "av1": av1(),
    "av1 in webm": av1("webm"),
    "av1, ten bits, hdr": av1(pix_fmt="yuv420p10le", tags=HDR),
    "mpeg4 in avi": mpeg4("avi"),
    "mpeg4 in avi, packed": mpeg4("avi", between=1, is_packed=True),
    "mpeg4 in avi, packed, two between": mpeg4("avi", is_packed=True),
    "mpeg4 in avi, packed, four between": mpeg4("avi", between=4, is_packed=True),
    "mpeg4 in avi, no b-frames": mpeg4("avi", between=0),
    "mpeg4 in mp4": mpeg4("mp4"),
    "mpeg2 in ts": mpeg2("ts"),
    "mpeg2 in mpg": mpeg2("mpg"),
    "mpeg2 in ts, fields": mpeg2("ts", flags="+ildct+ilme"),
    "prores in mov": small("mov", "prores_ks", {"profile": "0"}, pix_fmt="yuv422p10le", count=20),
    "mjpeg in avi": small("avi", "mjpeg", {"q": "4"}, pix_fmt="yuvj420p"),
    "mjpeg in mov": small("mov", "mjpeg", {"q": "4"}, pix_fmt="yuvj420p"),
    "uneven times": h264(ticks=UNEVEN),
    "uneven times in mkv": h264("mkv", ticks=UNEVEN),
    "uneven times in webm": vp9(ticks=UNEVEN),
    "turned by 90": h264(turn=90),
    "turned by 180": h264(turn=180),
    "turned by 270": h264(turn=270),
    "turned by 90 in mkv": h264("mkv", turn=90),
    "turned, wide pixels": h264(turn=270, aspect=Fraction(4, 3)),
    "wide pixels": h264(aspect=Fraction(4, 3)),
    "narrow pixels": mpeg2("ts", size=(96, 54), aspect=Fraction(8, 9)),
    "odd size": h264(size=(97, 65), pix_fmt="yuv444p"),
    "odd size in webm": vp9(size=(97, 65)),
    "ten bits": h264(pix_fmt="yuv420p10le"),
    "full range": h264(tags=FULL),
    "starts late": h264(start=50),
    "starts late in mkv": h264("mkv", start=50),
    "start cut off": h264(cut=7),
    "start cut off at a key frame": h264(cut=24),
    "fifteen thousandths": h264(rate=Fraction(30000, 1001)),
    "fragments": h264(muxing={"movflags": "frag_keyframe+empty_moov+default_base_moof"}),
    "no edit list": h264(muxing={"use_editlist": "0"}),
    "times before decoding": h264(muxing={"movflags": "negative_cts_offsets"}),
    "no table to seek by": h264("mkv", muxing={"live": "1"}),
    "clock that turns over": h264("ts", start=TURN),
    "one frame": h264(count=1),
    "two frames": h264(count=2),
    "two seconds": h264(count=50),
}
QUICK = (
    "h264, open groups and pyramid",
    "h264 in avi",
    "h264 in ts, open groups",
    "hevc in mkv",
    "vp8, hidden frames",
    "vp9 in mp4",
    "mpeg4 in avi, packed",
    "mpeg2 in mpg",
    "uneven times in mkv",
    "turned, wide pixels",
    "odd size",
    "start cut off",
    "no table to seek by",
    "clock that turns over",
    "one frame",
)
"""One kind for each thing that may go wrong."""


def each(kinds: Iterable[str] = KINDS, quick: Iterable[str] = QUICK) -> list[Any]:
    """Return kinds as parameters of a test, which is slow with those that are not quick."""
    return [k if k in quick else pytest.param(k, marks=pytest.mark.slow) for k in kinds]
