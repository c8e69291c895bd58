"""Subtitle files as they lie beside videos, written by hand or out of cues."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from videoautoarena.memory.records.records import Cue, Subtitles, VideoFrames

Kind = Literal["srt", "vtt"]


def render(cues: Iterable[Cue], kind: Kind = "srt") -> str:
    """Return the text of a subtitle file that holds these cues."""
    blocks = [
        f"{number}\n{_clock(one.start_s, kind)} --> {_clock(one.end_s, kind)}\n"
        f"{_escaped(one.text)}\n"
        for number, one in enumerate(cues, start=1)
    ]
    return "\n".join((["WEBVTT\n"] if kind == "vtt" else []) + blocks)


def cue(start_s: float, end_s: float, text: str) -> Cue:
    """Return a cue."""
    return Cue(start_s=start_s, end_s=end_s, text=text)


def titled(frames: VideoFrames, *cues: Cue, code: str = "c0de" * 4) -> VideoFrames:
    """Return the frames with these cues beside them."""
    subtitles = Subtitles(path="clip.srt", sha256="5" * 64, code=code, cues=cues)
    return frames.model_copy(update={"subtitles": subtitles})


def write_titles(path: Path, *cues: Cue, encoding: str = "utf-8") -> Path:
    """Write a subtitle file."""
    path.write_bytes(render(cues, "vtt" if path.suffix == ".vtt" else "srt").encode(encoding))
    return path


def _clock(time_s: float, kind: Kind) -> str:
    thousandths = round(abs(time_s) * 1000)
    minutes, left = divmod(thousandths, 60_000)
    sign = "-" if time_s < 0 else ""
    point = "." if kind == "vtt" else ","
    clock = f"{minutes // 60:02d}:{minutes % 60:02d}:{left // 1000:02d}"
    return f"{sign}{clock}{point}{left % 1000:03d}"


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("{", "&#123;")
