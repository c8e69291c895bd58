"""Opening a file that may be hostile: its own bytes, known containers, moving pictures only.

libav is handed an open file and no name, so that no name can be taken for a protocol or a pattern.
Since no other protocol is allowed, nothing that a file refers to can be opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import av
import av.error
from av.container import InputContainer
from av.video.stream import VideoStream

from memory.errors import UnusableVideo
from video.files import regular

FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,ivf,mxf"
"""Demuxers that are tried. Playlists, subtitles and images are not among them: an `ffconcat` text
named .mp4 would make libav read whatever files it names."""
ATTACHED_PICTURE = 0x400
OPTIONS = {"protocol_whitelist": "fd", "format_whitelist": FORMATS}
MOST_PIXELS = 1 << 26
"""8192 x 8192: twice 8K. What claims more is refused before a picture is made room for."""

# Titles that are no UTF-8 must not cost the video; from PyAV 19 on they never do.
LENIENT: dict[str, Any] = (
    {} if int(av.__version__.split(".")[0]) >= 19 else {"metadata_errors": "ignore"}
)

Unreadable = (av.error.FFmpegError, OSError, ValueError)
"""What libav raises for bytes it cannot use."""


@contextmanager
def passed_over() -> Iterator[None]:
    """Pass over what libav cannot use, but never a lack of memory, which says nothing of a file.

    For readers that count what is missing behind it and tell: a torn index is a problem of its
    video, a wanted frame that never came is damaged.
    """
    try:
        yield
    except MemoryError:
        raise
    except Unreadable:
        pass


@contextmanager
def opened(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Yield the container and its stream of moving pictures, and close them.

    Raises:
        UnusableVideo: not readable, no known container, no picture, or no decoder for it.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(regular(path))
            options = {**OPTIONS, "fd": str(file.fileno())}
            container = av.open("fd:", options=options, timeout=(30.0, 30.0), **LENIENT)
        except Unreadable as error:
            raise UnusableVideo(_reason(error)) from None
        stack.enter_context(container)
        pictures = _pictures(container)
        _refuse_huge(pictures)
        # What several make of damaged pictures differs from time to time, and each takes memory.
        pictures.codec_context.thread_count = 1
        # Pictures may turn larger on the way.
        pictures.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
        yield container, pictures


def _refuse_huge(stream: VideoStream) -> None:
    width, height = stream.codec_context.width, stream.codec_context.height
    if width * height > MOST_PIXELS:
        raise UnusableVideo(f"claims pictures of {width} x {height} pixels, which is too large")


def _pictures(container: InputContainer) -> VideoStream:
    streams = [s for s in container.streams.video if not int(s.disposition) & ATTACHED_PICTURE]
    if not streams:
        heard = "only sound" if container.streams.audio else "no pictures"
        raise UnusableVideo(f"holds {heard}, no video stream")
    # As players choose: a still may stand before the film, or a track that is off by default.
    best = container.streams.best("video")
    chosen = next((stream for stream in streams if stream is best), streams[0])
    # PyAV leaves the context out where libav was built without the codec.
    if chosen.codec_context is None:
        raise UnusableVideo("is in a codec this build of libav cannot decode")
    return chosen


def _reason(error: BaseException) -> str:
    if isinstance(error, PermissionError):
        return "may not be read by this user"
    if isinstance(error, FileNotFoundError):
        return "is not there any more"
    if isinstance(error, MemoryError):
        return "asks for more memory than it may have"
    if isinstance(error, av.error.InvalidDataError | EOFError | ValueError):
        return "is damaged, cut short or in no video format known here"
    return f"cannot be opened ({type(error).__name__})"
