"""Opening a file that may be hostile: its own bytes, known containers, and claims held to facts.

libav is handed an open file and no name, so that no name can be taken for a protocol or a pattern.
Since no other protocol is allowed, nothing that a file refers to can be opened.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import av
import av.error
from av.container import InputContainer
from av.video.stream import VideoStream

from videoautoarena.memory.records.errors import UnusableVideo

KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a link to a folder, which is not followed"),
)


class Identity(NamedTuple):
    """Figures of a file, of which one changes when it is written to or replaced."""

    device: int
    inode: int
    size_bytes: int
    modified_ns: int


def trouble(path: str) -> str:
    """Return why a path leads to no regular file, or an empty text; the file is not opened."""
    try:
        # Not by opening it: a named pipe would wait for somebody to write.
        mode = os.stat(path).st_mode
    except OSError as error:
        if not os.path.islink(path):
            return f"not readable: {error.strerror}"
        return "a link that leads nowhere" + _of_annex(path)
    return kind_of(mode)


def _of_annex(path: str) -> str:
    """Return what to do about a link whose file git-annex has not fetched, or an empty text."""
    try:
        is_of_annex = ".git/annex/objects/" in os.readlink(path)
    except OSError:
        return ""
    return ": its file is kept by git-annex; fetch it with git annex get" if is_of_annex else ""


def kind_of(mode: int) -> str:
    """Return what a file is that is no regular one, or an empty text."""
    if stat.S_ISREG(mode):
        return ""
    return next((kind for matches, kind in KINDS if matches(mode)), "no regular file")


@contextmanager
def regular(path: Path) -> Iterator[BufferedReader]:
    """Yield a regular file, opened without waiting; UnusableVideo for pipes, devices and so on."""
    # NONBLOCK, since a pipe would wait for a writer; NOCTTY, so that no terminal becomes ours.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(handle, "rb", closefd=True) as file:
        # Asked of the open file: the path may lead somewhere else by now.
        if kind := kind_of(os.fstat(handle).st_mode):
            raise UnusableVideo(f"is {kind}")
        yield file


def sha256_of(path: Path) -> str:
    """Return the digest of a file's bytes, read as a stream; raises as `regular` does."""
    with regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity_of(path: Path) -> Identity:
    """Return what identifies a file without reading it."""
    about = path.stat()
    return Identity(about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)


@contextmanager
def unchanged(path: Path) -> Iterator[Identity]:
    """Yield a file's identity; UnusableVideo where it cannot be read or has changed by the end."""
    try:
        before = identity_of(path)
        yield before
        is_same = identity_of(path) == before
    except FileNotFoundError:
        raise UnusableVideo("is not there any more") from None
    except OSError as error:
        raise UnusableVideo(f"cannot be read: {error.strerror}") from None
    if not is_same:
        raise UnusableVideo("was changed while it was read")


FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg,ivf,mxf"
"""Demuxers that are tried. Playlists, subtitles and images are not among them: an `ffconcat` text
named .mp4 would make libav read whatever files it names."""
ATTACHED_PICTURE = 0x400
OPTIONS = {"protocol_whitelist": "fd", "format_whitelist": FORMATS}
MOST_PIXELS = 1 << 26
"""8192 x 8192, twice 8K. A header that claims more is refused before memory is taken for a
picture."""

# A title that is not UTF-8 must not cost the video; from PyAV 19 on it never does.
LENIENT: dict[str, Any] = (
    {} if int(av.__version__.split(".")[0]) >= 19 else {"metadata_errors": "ignore"}
)

UNKNOWN = "is damaged, cut short or in no video format known here"
"""What is said of a file that is neither a video nor anything else that is known."""

Unreadable = (av.error.FFmpegError, OSError, ValueError)


@contextmanager
def passed_over() -> Iterator[None]:
    """Pass over what libav cannot use, except a lack of memory, which says nothing about a file.

    For readers that count and report what is missing behind it: a torn index is a problem of its
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
    """Yield the container and its moving pictures, then close them; UnusableVideo if unusable."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(regular(path))
            options = {**OPTIONS, "fd": str(file.fileno())}
            container = av.open("fd:", options=options, timeout=(30.0, 30.0), **LENIENT)
        except Unreadable as error:
            raise UnusableVideo(_reason(error, path)) from None
        stack.enter_context(container)
        pictures = _pictures(container)
        width = pictures.codec_context.width
        height = pictures.codec_context.height
        if width * height > MOST_PIXELS:
            claim = f"claims pictures of {width} x {height} pixels"
            raise UnusableVideo(f"{claim}, which is too large")
        # Several threads make other pictures of damaged data from run to run, and each takes
        # memory.
        pictures.codec_context.thread_count = 1
        # A stream may go over to larger pictures than its header claims.
        pictures.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
        yield container, pictures


def _pictures(container: InputContainer) -> VideoStream:
    streams = [s for s in container.streams.video if not int(s.disposition) & ATTACHED_PICTURE]
    if not streams:
        heard = "only sound" if container.streams.audio else "no pictures"
        raise UnusableVideo(f"holds {heard}, no video stream")
    # As players choose: the first stream may be a still, or a track that is off by default.
    best = container.streams.best("video")
    chosen = next((stream for stream in streams if stream is best), streams[0])
    # PyAV leaves the context out where libav was built without the codec.
    if chosen.codec_context is None:
        raise UnusableVideo("is in a codec this build of libav cannot decode")
    return chosen


def _named(path: Path) -> str:
    """Return what a file is that libav does not know, as far as its first bytes tell."""
    # Imported here: only a file that cannot be opened needs it.
    from videoautoarena.video.decode.disguise import HEAD, what_it_is

    try:
        with regular(path) as file:
            return what_it_is(file.read(HEAD + 1)) or UNKNOWN
    except (UnusableVideo, OSError):
        return UNKNOWN


def _reason(error: BaseException, path: Path) -> str:
    if isinstance(error, PermissionError):
        return "may not be read by this user"
    if isinstance(error, FileNotFoundError):
        return "is not there any more"
    if isinstance(error, MemoryError):
        return "asks for more memory than it may have"
    if isinstance(error, av.error.InvalidDataError | EOFError | ValueError):
        return _named(path)
    return f"cannot be opened ({type(error).__name__})"


SLACK_S = 0.5
SLACK = 0.01
"""Seconds, and share of the claim, that may be missing: writers round, and a last picture that is
shown for a while often has no length of its own."""
ESTIMATES = ("mpegts", "mpeg", "ogg")
"""Containers that claim no length: libav takes it from the last packet there is."""


def claimed_s(container: InputContainer, stream: VideoStream) -> float | None:
    """Return for how long after its first picture the container claims to go on, if it does."""
    names = container.format.name.split(",")
    if set(names) & set(ESTIMATES):
        return None
    if "avi" in names:
        # libav counts the length from what is there; the number of frames is that of the header.
        rate = stream.average_rate
        return float(stream.frames / rate) if rate else None
    if "mov" in names:
        return _in_seconds(stream, stream.duration)
    until = _tagged_s(stream) or (container.duration / 1e6 if container.duration else None)
    return until and until - _start_s(stream)


def cut_short(path: Path, *, claimed: float, found: float) -> str | None:
    """Return the problem in one clause where much less is there than was claimed, else None.

    Where it seems so, the file is read once more: sound may go on after the last picture.
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
    """Return how long the longest track of the file goes on, in seconds after the first picture."""
    last = start = 0.0
    with opened(path) as (container, stream):
        start = _start_s(stream)
        # An error of reading is the end that is asked for.
        with passed_over():
            for packet in container.demux():
                at = packet.dts if packet.pts is None else packet.pts
                if packet.size and at is not None:
                    base = packet.time_base or stream.time_base or 0
                    last = max(last, float((at + (packet.duration or 0)) * base))
    return last - start


def _start_s(stream: VideoStream) -> float:
    # Some containers count from the first picture and some from zero, which may lie well before it.
    return max(0.0, _in_seconds(stream, stream.start_time) or 0.0)


def _in_seconds(stream: VideoStream, ticks: int | None) -> float | None:
    return float(ticks * stream.time_base) if ticks and stream.time_base else None
