"""Cues out of the text of a subtitle file: SubRip or WebVTT, well formed or not."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator

from memory.errors import UnusableSubtitles
from memory.records import Cue

Row = tuple[float, float, tuple[str, ...]]
"""Start and end in seconds, and the lines between."""
LONGEST_CUE = 2000
"""Characters of one cue; what is beyond is cut off."""
MOST_TEXT = 200_000
"""Characters of one video's cues together, those of a talk of four hours."""

_CLOCK = r"(-?)(?:([0-9]{1,4}):)?([0-9]{1,3}):([0-9]{1,2})(?:[.,]([0-9]{1,3}))?"
_TIMING = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}(?=\s|$)")
_NUMBER = re.compile(r"\s*[0-9]+\s*")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|</>|<[0-9][0-9:.,]*>|\{\\[^{}]*\}")
_ROLLING = re.compile(r"<[0-9:.]+><c>")
"""A word with its own time: what captions of automatic speech recognition are made of."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Marks that turn the direction of writing, and the mark of byte order."""


def parse(text: str) -> tuple[Cue, ...]:
    """Return the cues of a subtitle file in the order of time, each in one line of plain text.

    Times are the file's own and may be negative. A cue that ends before it starts is an instant.
    Equal cues are one, cues without text none; what is no cue is passed over.

    Raises:
        UnusableSubtitles: it holds no cue.
    """
    is_rolling = _ROLLING.search(text) is not None
    rows = {
        (start, max(start, end), said)
        for start, end, lines in _blocks(_LINE_END.split(text))
        if (said := _said(lines, is_rolling=is_rolling))
    }
    if not rows:
        raise UnusableSubtitles("holds no subtitles in the form of SubRip or WebVTT")
    told = _unrolled(sorted(rows)) if is_rolling else sorted(rows)
    return tuple(Cue(start_s=start, end_s=end, text=" ".join(said)) for start, end, said in told)


def align(cues: Iterable[Cue], *, first_s: float, duration_s: float) -> tuple[Cue, ...]:
    """Return the cues that overlap the video, counted from its first frame.

    Args:
        cues: as `parse` returns them.
        first_s: when the first frame is shown, on the clock of the cues.
        duration_s: how long the video is, from its first frame.

    Raises:
        UnusableSubtitles: none overlaps the video, or all of them are too much to be sent.
    """
    placed = [
        Cue(
            start_s=round(max(0.0, cue.start_s - first_s), 3),
            end_s=round(min(duration_s, cue.end_s - first_s), 3),
            text=cue.text,
        )
        for cue in cues
        if cue.start_s - first_s < duration_s and cue.end_s - first_s >= 0
    ]
    if not placed:
        raise UnusableSubtitles(f"says nothing within the video's {duration_s:.2f} s")
    size = sum(len(cue.text) for cue in placed)
    if size > MOST_TEXT:
        raise UnusableSubtitles(f"holds {size:,} characters; {MOST_TEXT:,} are sent at most")
    return tuple(sorted(placed, key=lambda cue: (cue.start_s, cue.end_s, cue.text)))


def plain(text: str) -> str:
    """Return `text` in one line, without tags, control characters and marks of direction."""
    named = _TAG.sub("", _VOICE.sub(r"\1: ", text))
    spoken = html.unescape(named)
    kept = "".join(" " if c.isspace() else c for c in spoken if c.isspace() or not _is_unsafe(c))
    return " ".join(kept.split())[:LONGEST_CUE].rstrip()


def _said(lines: list[str], *, is_rolling: bool) -> tuple[str, ...]:
    """Return the plain lines of a cue: one, or as they stand where they roll."""
    parts = lines if is_rolling else [" ".join(lines)]
    return tuple(said for part in parts if (said := plain(part)))


def _unrolled(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows without the lines at their head that the row before has left standing.

    Captions made by machines show each line twice: new, and as the upper one of the next.
    """
    before: tuple[str, ...] = ()
    until_s = 0.0
    for start, end, said in rows:
        standing = before if start <= until_s + 0.05 else ()
        most = min(len(said), len(standing))
        same = next((n for n in range(most, 0, -1) if said[:n] == standing[-n:]), 0)
        if said[same:]:
            yield start, end, said[same:]
        before, until_s = said, end


def _is_unsafe(char: str) -> bool:
    return char in _TURNS or unicodedata.category(char) in ("Cc", "Cs")


def _blocks(lines: list[str]) -> Iterator[tuple[float, float, list[str]]]:
    """Yield each timing line's times and the lines below it, up to an empty one or the next."""
    timings = [(place, found) for place, line in enumerate(lines) if (found := _timing(line))]
    ends = [place for place, _ in timings[1:]] + [len(lines)]
    for (place, (start, end)), stop in zip(timings, ends, strict=False):
        below = lines[place + 1 : stop]
        # Where the empty line is missing, the next cue's number hangs on to this one's text.
        if stop < len(lines) and below and _NUMBER.fullmatch(below[-1]):
            below.pop()
        empty = next((n for n, line in enumerate(below) if not line), len(below))
        yield start, end, below[:empty]


def _timing(line: str) -> tuple[float, float] | None:
    # Cheap first: a line of a megabyte is no timing line.
    found = _TIMING.match(line) if "-->" in line[:100] else None
    if found is None:
        return None
    return _seconds(*found.groups()[:5]), _seconds(*found.groups()[5:])


def _seconds(sign: str, hours: str | None, minutes: str, seconds: str, part: str | None) -> float:
    whole = 3600 * int(hours or 0) + 60 * int(minutes) + int(seconds)
    thousandths = 1000 * whole + int((part or "0").ljust(3, "0"))
    return (-thousandths if sign else thousandths) / 1000
