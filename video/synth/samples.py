"""Twelve clips the project makes itself, so that a first run needs nobody's videos."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import av
import numpy as np
from av.codec.context import Flags

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.video.decode.container import Unreadable
from videoautoarena.video.synth.drawing import (
    Plane,
    Planes,
    Sprite,
    draw_caption,
    draw_scene,
    draw_sprite,
    split,
)
from videoautoarena.video.synth.film import whole_or_not
from videoautoarena.video.synth.scripts import CLIPS, Clip, Shot, write_script

RECIPE = "1"
"""Goes up whenever the drawing changes; a kept clip says which one it was made by."""
PAN_WIDTHS = 2
"""How many pictures wide a scene is through which the camera moves."""
DIP = 0.35
"""What is left of the light during a dip."""


def make_samples(folder: Path, on_done: Callable[[Path], None] = lambda _: None) -> list[Path]:
    """Return the twelve clips in `folder`, made where they are not there yet, `on_done` for each.

    A clip appears whole or not at all; the same version of av makes the same bytes. BadInput where
    the folder cannot be written to, or holds another file by a sample's name.
    """
    paths = {clip: folder / f"{clip.name}.mp4" for clip in CLIPS}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        missing = [clip for clip in CLIPS if not _is_kept(paths[clip], clip)]
        for clip in CLIPS:
            if clip not in missing:
                on_done(paths[clip])
        for clip in _encode_all(missing, paths):
            on_done(paths[clip])
    except OSError as error:
        shown = f"{os.fspath(folder)!a}: {error.strerror}"
        raise BadInput(f"samples cannot be written to {shown}") from None
    return list(paths.values())


def _is_kept(path: Path, clip: Clip) -> bool:
    """Return whether this very clip is there already; raise where something else is."""
    if not os.path.lexists(path):
        return False
    try:
        with av.open(f"file:{path}", options={"protocol_whitelist": "file"}) as container:
            is_ours = container.metadata.get("comment") == _mark(clip)
    except Unreadable:
        is_ours = False
    if not is_ours:
        other = f"{os.fspath(path)!a} is there already and is not this version's sample"
        raise BadInput(f"{other}; pass an empty folder")
    return True


def _mark(clip: Clip) -> str:
    return f"videoautoarena sample {digest(canonical_json([RECIPE, *clip]))[:16]}"


def _encode_all(clips: list[Clip], paths: dict[Clip, Path]) -> Iterator[Clip]:
    """Yield each clip once it is there; the largest are begun first, so that none is left over."""
    if not clips:
        return
    by_work = sorted(clips, key=lambda c: -c.seconds * c.fps * c.width_px * c.height_px)
    workers = min(len(clips), os.cpu_count() or 1)
    # Forking a process that has threads (the event loop's, libav's) may deadlock.
    quiet = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=quiet) as pool:
        try:
            with _deaf_to_ctrl_c():
                jobs = {pool.submit(encode_clip, clip, paths[clip]): clip for clip in by_work}
            for job in as_completed(jobs):
                job.result()
                yield jobs[job]
        finally:
            # Waiting here: the pool's own exit would take back that the rest is called off.
            pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Hear Ctrl-C only at the end, and start processes meanwhile that never hear it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    # Blocking alone is not enough: a library's thread takes the signal, and Python raises here.
    handler = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if heard:
        signal.raise_signal(signal.SIGINT)


def encode_clip(clip: Clip, path: Path) -> None:
    """Draw and encode one clip; a file already there is replaced only when all is written."""
    exact = {"fflags": "+bitexact"}
    with whole_or_not(path) as part, av.open(part, "w", format="mp4", options=exact) as container:
        container.metadata["comment"] = _mark(clip)
        stream = container.add_stream("libx264", rate=clip.fps)
        stream.width = clip.width_px
        stream.height = clip.height_px
        stream.pix_fmt = "yuv420p"
        # One thread: x264's rate control, and so its bytes, depend on how many there are.
        stream.codec_context.thread_count = 1
        stream.codec_context.flags |= Flags.bitexact
        # Faster presets only: x264's macroblock tree gave other bytes one time in ten.
        stream.options = {"preset": "ultrafast", "crf": "23", "g": str(2 * clip.fps)}
        for number, picture in enumerate(draw_clip(clip)):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts = number
            frame.time_base = Fraction(1, clip.fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def draw_clip(clip: Clip) -> Iterator[Plane]:
    """Yield each picture as one buffer of shape (3 * height / 2, width); it is used again."""
    size = (clip.width_px, clip.height_px)
    shots = write_script(clip)
    flat = np.empty((clip.height_px * 3 // 2, clip.width_px), np.uint8)
    planes = split(flat, *size)
    scene = cache(draw_scene)
    sprite = cache(draw_sprite)
    caption = cache(draw_caption)
    number = 0
    for index in range(clip.seconds * clip.fps):
        now_s = index / clip.fps
        while now_s >= shots[number].end_s and number + 1 < len(shots):
            number += 1
        shot = shots[number]
        canvas = scene(shot.scene, colour=shot.colour, detail=shot.detail, size=_room(shot, size))
        _crop(canvas, planes, moved=shot.pan * (now_s - shot.start_s) * clip.width_px)
        for thing in shot.sprites:
            _paste(sprite(thing, size), planes, at=_place(thing, now_s - shot.start_s))
        _light(planes, shot, now_s)
        if shot.caption:
            _caption(caption(shot.caption, size), planes)
        yield flat


def _room(shot: Shot, size: tuple[int, int]) -> tuple[int, int]:
    return (size[0] * PAN_WIDTHS, size[1]) if shot.pan else size


def _bounce(x: float, room: float) -> float:
    """Return where a point that has gone x is when it turns back at 0 and at `room`."""
    if not room:
        return 0.0
    x %= 2 * room
    return min(x, 2 * room - x)


def _crop(canvas: Planes, out: Planes, *, moved: float) -> None:
    width = out.y.shape[1]
    left = int(_bounce(moved, canvas.y.shape[1] - width)) // 2 * 2
    out.y[:] = canvas.y[:, left : left + width]
    for source, target in ((canvas.u, out.u), (canvas.v, out.v)):
        target[:] = source[:, left // 2 : (left + width) // 2]


def _place(sprite: Sprite, shot_s: float) -> tuple[float, float]:
    x, y = (
        _bounce(at + speed * shot_s, 1.0) for at, speed in zip(sprite.at, sprite.speed, strict=True)
    )
    return x, y


def _paste(drawn: tuple[Planes, Planes], out: Planes, *, at: tuple[float, float]) -> None:
    side = drawn[0].y.shape[0]
    height, width = out.y.shape
    left, top = (
        int(part * (room - side)) // 2 * 2 for part, room in zip(at, (width, height), strict=True)
    )
    for source, mask, target in zip(*drawn, out, strict=True):
        scale = height // target.shape[0]
        rows = slice(top // scale, (top + side) // scale)
        columns = slice(left // scale, (left + side) // scale)
        np.copyto(target[rows, columns], source, where=mask.astype(bool))


def _light(out: Planes, shot: Shot, now_s: float) -> None:
    """Change luma and chroma through tables, as the light of the moment wants it."""
    part = (now_s - shot.start_s) / (shot.end_s - shot.start_s)
    level = shot.light[0] + part * (shot.light[1] - shot.light[0])
    if shot.dip and shot.dip[0] <= now_s < shot.dip[1]:
        level *= DIP
    values = np.arange(256)
    luma = np.clip(16 + (values - 16) * level, 16, 235).astype(np.uint8)
    out.y[:] = luma[out.y]
    for plane, drift in zip((out.u, out.v), shot.tint, strict=True):
        chroma = np.clip(128 + (values - 128) * level + drift * part, 16, 240).astype(np.uint8)
        plane[:] = chroma[plane]


def _caption(strip: Planes, out: Planes) -> None:
    for source, target in zip(strip, out, strict=True):
        gap = target.shape[0] // 16
        bottom = target.shape[0] - gap
        target[bottom - source.shape[0] : bottom] = source
