"""One decoding process: a request a line on standard input, an answer a line on standard output.

It ends when its input does, so a parent that dies leaves none behind. Started by `video.studio`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from memory.errors import BadInput, UnusableVideo
from memory.records import Frames, Sampling
from video.cache import FrameCache
from video.find import read_video, sha256_of
from video.frames import sample
from video.splicing import Splice, sample_splice

Request = Mapping[str, Any]
Reply = Mapping[str, Any]


def decode_into_cache(path: Path, sha256: str, *, sampling: Sampling, cache: FrameCache) -> Frames:
    """Return the frames of a video after putting them into the cache.

    Raises:
        UnusableVideo: no frame could be decoded, or the file no longer has these bytes.
        BadInput: the cache cannot be written.
    """
    _refuse_changed(path, sha256)
    sampled = sample(path, sampling=sampling, video=sha256[:12])
    cache.put(sha256, sampling, sampled)
    return sampled.frames


def splice_into_cache(
    splice: Splice, files: Mapping[str, Path], *, sampling: Sampling, cache: FrameCache
) -> Frames:
    """Return the frames of a spliced clip after putting them into the cache.

    Raises:
        UnusableVideo: a video of it cannot be decoded or has changed, or it would be unclear.
        BadInput: the cache cannot be written.
    """
    for sha256 in splice.videos:
        _refuse_changed(files[sha256], sha256)
    sampled = sample_splice(splice, files, sampling=sampling)
    cache.put(splice.sha256, sampling, sampled)
    return sampled.frames


def _refuse_changed(path: Path, sha256: str) -> None:
    try:
        actual = sha256_of(path)
    except OSError as error:
        raise UnusableVideo(f"cannot be read: {error.strerror}") from None
    if actual != sha256:
        raise UnusableVideo("has changed since it was found")


def _frames(ask: Request) -> Reply:
    """The frames of one video: path, sha256, sampling, cache."""
    frames = decode_into_cache(
        Path(ask["path"]),
        ask["sha256"],
        sampling=Sampling.model_validate(ask["sampling"]),
        cache=FrameCache(Path(ask["cache"])),
    )
    return {"frames": frames.model_dump()}


def _splice(ask: Request) -> Reply:
    """The frames of a spliced clip: splice, files, sampling, cache."""
    frames = splice_into_cache(
        Splice.model_validate(ask["splice"]),
        {sha256: Path(path) for sha256, path in ask["files"].items()},
        sampling=Sampling.model_validate(ask["sampling"]),
        cache=FrameCache(Path(ask["cache"])),
    )
    return {"frames": frames.model_dump()}


def _video(ask: Request) -> Reply:
    """The record of a video that was found: folder, name."""
    return {"video": read_video(Path(ask["folder"]), ask["name"]).model_dump()}


ANSWERS: dict[str, Callable[[Request], Reply]] = {
    "frames": _frames,
    "splice": _splice,
    "video": _video,
}
"""What can be asked for, by the name under "want". Answers are JSON, a `LONGEST_REPLY` at most."""


def reply_to(line: bytes) -> bytes:
    """Return the answer to one request, or why there is none."""
    ask = json.loads(line)
    try:
        reply = ANSWERS[ask["want"]](ask)
    except (UnusableVideo, BadInput) as error:
        reply = {type(error).__name__: str(error)}
    return json.dumps(reply).encode()


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        try:
            replies.write(reply_to(line) + b"\n")
            replies.flush()
        except BrokenPipeError:
            return


def main() -> None:
    """Serve on the standard streams; Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Native libraries may print: whatever they say must not land among the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, replies)
