"""One decoding process: a request a line on standard input, an answer a line on standard output.

It ends when its input does, so a parent that dies leaves none behind. Started by
`video.workers.decoders`.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from videoautoarena.memory.records.errors import BadInput, DecoderLost, UnusableVideo
from videoautoarena.memory.records.records import Sampling, Video, VideoFrames
from videoautoarena.video.decode.av import probe
from videoautoarena.video.decode.container import sha256_of, trouble, unchanged
from videoautoarena.video.decode.index import first_shown_s, read_index
from videoautoarena.video.sampling.cache import FrameCache, found_scenes
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.synth.film import encode, film_of, named, sample_film
from videoautoarena.video.synth.splice import Splice, sample_splice
from videoautoarena.video.synth.timeline import Film, FilmPlan
from videoautoarena.video.workers.pool import MOST_BYTES, confine

GRACE_S = 10.0

Request = Mapping[str, Any]
Reply = Mapping[str, Any]


def decode_into_cache(
    path: Path, sha256: str, *, sampling: Sampling, cache: FrameCache
) -> VideoFrames:
    """Put the frames of a video into the cache and return them; UnusableVideo or BadInput."""
    with unchanged(path):
        _refuse_changed(path, sha256)
        known = partial(found_scenes, sha256=sha256, folder=cache.folder)
        sampled = sample(path, sampling=sampling, video=sha256[:12], scenes_of=known)
    cache.put(sha256, sampling, sampled)
    return sampled.frames


def splice_into_cache(
    splice: Splice | FilmPlan, files: Mapping[str, Path], *, sampling: Sampling, cache: FrameCache
) -> VideoFrames:
    """Put the frames of a clip or film into the cache; UnusableVideo if unclear or changed."""
    with _the_very(splice, files):
        if isinstance(splice, Splice):
            sampled = sample_splice(splice, files, sampling=sampling)
        else:
            sampled = sample_film(splice, files, sampling=sampling)
    cache.put(splice.sha256, sampling, sampled)
    return sampled.frames


def make_film(plan: FilmPlan, files: Mapping[str, Path], to: Path | None) -> Film:
    """Return what is in a film, written to `to` if any; raises as `encode` does, or if changed."""
    with _the_very(plan, files):
        return encode(plan, files, to).film if to else film_of(plan, files)


@contextmanager
def _the_very(splice: Splice | FilmPlan, files: Mapping[str, Path]) -> Iterator[None]:
    """Raise UnusableVideo where a file has other bytes than its video, before or by the end."""
    with ExitStack() as stack:
        for sha256 in splice.videos:
            path = files[sha256]
            # The caller of a clip knows which file it is; a film may be made of many, so it is
            # named.
            with named(path) if isinstance(splice, FilmPlan) else nullcontext():
                stack.enter_context(unchanged(path))
                _refuse_changed(path, sha256)
        yield


def describe(folder: Path, name: str) -> Video:
    """Return the record of a file in `folder`; UnusableVideo for no video, or one that changes."""
    path = folder / name
    with unchanged(path) as identity:
        if not identity.size_bytes and not trouble(os.fspath(path)):
            raise UnusableVideo("is empty")
        shape = probe(path)
        sha256 = sha256_of(path)
    known = {"id": sha256[:12], "sha256": sha256, "path": name, "size_bytes": identity.size_bytes}
    return Video(**known, **shape._asdict())


def _refuse_changed(path: Path, sha256: str) -> None:
    try:
        actual = sha256_of(path)
    except OSError as error:
        raise UnusableVideo(f"cannot be read: {error.strerror}") from None
    if actual != sha256:
        raise UnusableVideo("has changed since it was found")


def _frames(ask: Request) -> Reply:
    """Return the frames of one video; asked with path, sha256, sampling, cache."""
    frames = decode_into_cache(
        Path(ask["path"]),
        ask["sha256"],
        sampling=Sampling.model_validate(ask["sampling"]),
        cache=FrameCache(Path(ask["cache"])),
    )
    return {"frames": frames.model_dump()}


def _splice(ask: Request) -> Reply:
    """Return the frames of a spliced clip or a film; asked with splice, files, sampling, cache."""
    frames = splice_into_cache(
        TypeAdapter[Splice | FilmPlan](Splice | FilmPlan).validate_python(ask["splice"]),
        _files(ask),
        sampling=Sampling.model_validate(ask["sampling"]),
        cache=FrameCache(Path(ask["cache"])),
    )
    return {"frames": frames.model_dump()}


def _film(ask: Request) -> Reply:
    """Return what is in a film, and write its file if asked for; asked with plan, files, to."""
    to = Path(ask["to"]) if ask["to"] else None
    return {"film": make_film(FilmPlan.model_validate(ask["plan"]), _files(ask), to).model_dump()}


def _files(ask: Request) -> dict[str, Path]:
    return {sha256: Path(path) for sha256, path in ask["files"].items()}


def _scenes(ask: Request) -> Reply:
    """Put the scenes of one video into the cache; asked with path, sha256, cache."""
    path = Path(ask["path"])
    sha256 = ask["sha256"]
    with unchanged(path):
        _refuse_changed(path, sha256)
        found = found_scenes(path, read_index(path), sha256=sha256, folder=Path(ask["cache"]))
    return {"scenes": len(found)}


ANSWERS: dict[str, Callable[[Request], Reply]] = {
    "frames": _frames,
    "splice": _splice,
    "film": _film,
    "scenes": _scenes,
    # The record of a file that was found: folder, name.
    "video": lambda ask: {"video": describe(Path(ask["folder"]), ask["name"]).model_dump()},
    # When the first frame is shown: path.
    "clock": lambda ask: {"first_s": first_shown_s(Path(ask["path"]))},
}
"""Kinds of request, by the name under "want". Answers are JSON of at most `LONGEST_REPLY` bytes."""


def reply_to(line: bytes) -> bytes:
    """Return the answer to one request, or why there is none."""
    ask = json.loads(line)
    try:
        if "cwd" in ask:
            os.chdir(ask["cwd"])
        reply = ANSWERS[ask["want"]](ask)
    except (UnusableVideo, BadInput) as error:
        reply = {type(error).__name__: str(error)}
    except MemoryError:
        reply = {DecoderLost.__name__: f"takes more memory than the {MOST_BYTES >> 20} MB it may"}
    except Exception as error:  # noqa: BLE001 - what hostile bytes lead to costs their video alone
        # The kind of error and its line; its message could hold text that a file has chosen.
        *_, last = traceback.extract_tb(error.__traceback__)
        where = f"{type(error).__name__}, {os.path.basename(last.filename)}:{last.lineno}"
        reply = {DecoderLost.__name__: f"brought the decoder down ({where})"}
    return json.dumps(reply).encode()


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        with _alarm(json.loads(line).get("deadline_s")):
            reply = reply_to(line)
        # Frames that were asked for their side data form circles, and the next video needs the
        # room.
        gc.collect()
        try:
            replies.write(reply + b"\n")
            replies.flush()
        except BrokenPipeError:
            return


@contextmanager
def _alarm(deadline_s: float | None) -> Iterator[None]:
    """End the process well past its deadline, in case its parent was killed and cannot do so."""
    if deadline_s is None:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, deadline_s + GRACE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Serve on the standard streams; Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The default action ends the process; a Python handler would wait until libav returns.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # Native libraries may print text of a file, which must reach neither the replies nor a
    # terminal.
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    confine(MOST_BYTES)
    # What is loaded by now is never garbage, and need not be searched after each request.
    gc.freeze()
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    # The first line tells the parent that the worker has started.
    replies.write(b"{}\n")
    replies.flush()
    serve(sys.stdin.buffer, replies)
