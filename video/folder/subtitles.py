"""Subtitle files beside a video: which of them is used, and the cues that its bytes hold."""

from __future__ import annotations

import codecs
import html
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import UnusableSubtitles, UnusableVideo
from videoautoarena.memory.records.records import Cue, SkippedFile, Video
from videoautoarena.video.decode.container import regular, trouble
from videoautoarena.video.folder.find import patience_s
from videoautoarena.video.workers.pool import ask

Row = tuple[float, float, tuple[str, ...]]
LONGEST_CUE = 2000
"""Most characters of one cue; longer ones are cut."""
MOST_TEXT = 200_000
"""Most characters of all cues of one video, those of a talk of four hours."""

_CLOCK = r"(-?)(?:([0-9]{1,4}):)?([0-9]{1,3}):([0-9]{1,2})(?:[.,]([0-9]{1,3}))?"
_TIMING = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}(?=\s|$)")
_NUMBER = re.compile(r"\s*[0-9]+\s*")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^<>]+)>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|</>|<[0-9][0-9:.,]*>|\{\\[^{}]*\}")
_ROLLING = re.compile(r"<[0-9:.]+><c>")
"""A word with its own time, by which captions of speech recognition are known."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Marks that turn the direction of writing, and the byte order mark."""


def parse(text: str) -> tuple[Cue, ...]:
    """Return the cues of a subtitle file in the order of time, each in one line of plain text.

    Times are the file's own and may be negative. A cue that ends before it starts is an instant.
    Equal cues count once, cues without text not at all. UnusableSubtitles where none is left.
    """
    is_rolling = _ROLLING.search(text) is not None
    rows = {
        (start, max(start, end), said)
        for start, end, lines in _blocks(_LINE_END.split(text))
        if (said := _said(lines, is_rolling=is_rolling))
    }
    if not rows:
        raise UnusableSubtitles("holds no subtitles in the form of SubRip or WebVTT")
    lines = _unrolled(sorted(rows)) if is_rolling else sorted(rows)
    return tuple(Cue(start_s=start, end_s=end, text=" ".join(said)) for start, end, said in lines)


def align(cues: Iterable[Cue], *, first_s: float, duration_s: float) -> tuple[Cue, ...]:
    """Return the cues that overlap the video, counted from its first frame.

    `first_s` is when the first frame is shown on the clock of the cues. Raises UnusableSubtitles
    where no cue overlaps the video, or all of them are too much to be sent.
    """
    placed = []
    for cue in cues:
        start_s = cue.start_s - first_s
        end_s = cue.end_s - first_s
        if start_s < duration_s and end_s >= 0:
            ends = {
                "start_s": round(max(0.0, start_s), 3),
                "end_s": round(min(duration_s, end_s), 3),
            }
            placed.append(cue.model_copy(update=ends))
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
    """Return the plain lines of a cue: joined to one, or kept apart where captions roll."""
    parts = lines if is_rolling else [" ".join(lines)]
    return tuple(said for part in parts if (said := plain(part)))


def _unrolled(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows without those first lines that the row before showed already.

    Captions made by machines show each line twice: as a new one, and above the next.
    """
    before: tuple[str, ...] = ()
    until_s = 0.0
    for start, end, said in rows:
        standing = before if start <= until_s + 0.05 else ()
        most = min(len(said), len(standing))
        same = next((n for n in range(most, 0, -1) if said[:n] == standing[-n:]), 0)
        if said[same:]:
            yield start, end, said[same:]
        before = said
        until_s = end


def _is_unsafe(char: str) -> bool:
    return char in _TURNS or unicodedata.category(char) in ("Cc", "Cs")


def _blocks(lines: list[str]) -> Iterator[tuple[float, float, list[str]]]:
    """Yield each timing line's times and the lines below it, up to an empty one or the next."""
    timings = [(place, found) for place, line in enumerate(lines) if (found := _timing(line))]
    ends = [place for place, _ in timings[1:]] + [len(lines)]
    for (place, (start, end)), stop in zip(timings, ends, strict=False):
        below = lines[place + 1 : stop]
        # Without an empty line between them, the next cue's number ends up in this cue's text.
        if stop < len(lines) and below and _NUMBER.fullmatch(below[-1]):
            below.pop()
        empty = next((n for n, line in enumerate(below) if not line), len(below))
        yield start, end, below[:empty]


def _timing(line: str) -> tuple[float, float] | None:
    # The cheap test first: a hostile line may be megabytes long, and no timing line is.
    found = _TIMING.match(line) if "-->" in line[:100] else None
    if found is None:
        return None
    return _seconds(*found.groups()[:5]), _seconds(*found.groups()[5:])


def _seconds(sign: str, hours: str | None, minutes: str, seconds: str, part: str | None) -> float:
    whole = 3600 * int(hours or 0) + 60 * int(minutes) + int(seconds)
    # `.5` is half a second and not five thousandths.
    thousandths = 1000 * whole + int((part or "0").ljust(3, "0"))
    return (-thousandths if sign else thousandths) / 1000


LARGEST = 4 << 20
KINDS = (".srt", ".vtt")
# "clip.en.srt" and "clip.pt-BR.forced.srt" belong to "clip.mp4", "clip.part2.srt" does not.
_TAGS = re.compile(r"(?:\.[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*)?(?:\.(?:forced|sdh|cc|hi))?")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16, whose mark is the beginning of this one.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
Rank = tuple[bool, bool, bool, str, str]
_LEGACY_ENCODINGS = """
cp1252 cp1251 cp1253 cp1254 cp1255 cp1256 cp932 euc_jp gb18030 big5 cp949 koi8_r tis_620
"""
LEGACY = tuple(_LEGACY_ENCODINGS.split())
"""Encodings among which is guessed where a file is not Unicode.

One for each script: of several for Latin letters the guess is wrong even for long texts.
"""


class SubtitleTrack(NamedTuple):
    """The subtitles of one video."""

    path: str
    """Relative to the folder of videos."""
    sha256: str
    encoding: str
    cues: tuple[Cue, ...]
    """On the clock of the frames."""


class SubtitleChoice(NamedTuple):
    """What stands beside one video."""

    track: SubtitleTrack | None
    skipped: list[SkippedFile]
    """Files that come before it and cannot be used."""
    unused: list[str]
    """Files that come after the one that is used."""


class SubtitleFolder:
    """Finds the subtitle files beside the videos of one folder; each folder is listed once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listing = cache(self._names)

    def names(self, video: str) -> list[str]:
        """Return the paths of a video's subtitle files, the one that is wanted most first.

        The order is: the video's own name with .srt, then with .vtt; then English; then by name.
        """
        parent, name = os.path.split(video)
        stem = os.path.splitext(name)[0]
        found = self._listing(parent).get(stem, [])
        return [os.path.join(parent, other) for _, other in sorted(found)]

    def beside(self, video: Video, copies: Sequence[str] = ()) -> SubtitleChoice:
        """Return the first usable subtitle file of a video. Reads the video's index.

        Files beside its `copies`, paths with the same bytes, come after its own.
        """
        names = [name for path in (video.path, *copies) for name in self.names(path)]
        skipped = list[SkippedFile]()
        for place, name in enumerate(names):
            try:
                return SubtitleChoice(self._read(name, video), skipped, names[place + 1 :])
            except UnusableSubtitles as error:
                skipped.append(SkippedFile(path=name, reason=str(error)))
        return SubtitleChoice(None, skipped, [])

    def has(self, path: str, sha256: str) -> bool:
        """Return whether the file at `path` still has these bytes."""
        try:
            return digest(self._bytes(path)) == sha256
        except UnusableSubtitles:
            return False

    def _read(self, name: str, video: Video) -> SubtitleTrack:
        data = self._bytes(name)
        text, encoding = decode_text(data)
        cues = parse(text)
        path = self._folder / video.path
        try:
            reply = ask("clock", {"path": os.fspath(path)}, deadline_s=patience_s(path))
        except UnusableVideo as error:
            raise UnusableSubtitles(f"stands beside a video that {error}") from None
        placed = align(cues, first_s=reply["first_s"], duration_s=video.duration_s)
        return SubtitleTrack(name, digest(data), encoding, placed)

    def _bytes(self, name: str) -> bytes:
        path = self._folder / name
        if why := "a folder" if path.is_dir() else trouble(os.fspath(path)):
            raise UnusableSubtitles(f"is {why}")
        try:
            with regular(path) as file:
                # One byte more than allowed tells a file that is too large, whatever its size says
                # meanwhile.
                data = file.read(LARGEST + 1)
        except UnusableVideo as error:
            raise UnusableSubtitles(str(error)) from None
        except OSError as error:
            raise UnusableSubtitles(f"cannot be read: {error.strerror}") from None
        if not data:
            raise UnusableSubtitles("is empty")
        if len(data) > LARGEST:
            raise UnusableSubtitles(f"is larger than {LARGEST >> 20} MiB")
        return data

    def _names(self, parent: str) -> dict[str, list[tuple[Rank, str]]]:
        found: dict[str, list[tuple[Rank, str]]] = {}
        try:
            listing = os.listdir(self._folder / parent)
        except OSError:
            return found
        for name in listing:
            for stem, rank in _stems(name):
                found.setdefault(stem, []).append((rank, name))
        return found


def decode_text(data: bytes) -> tuple[str, str]:
    """Return the text of a file and its encoding: marked, else UTF-8, else guessed."""
    for encoding in _unicodes(data):
        try:
            return data.decode(encoding), encoding.removesuffix("-sig")
        except UnicodeDecodeError:
            continue
    if b"\0" in data:
        raise UnusableSubtitles("is no text")
    # Imported here: only files that are not Unicode need it.
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=list(LEGACY)).best()
    encoding = best.encoding if best else "cp1252"
    return data.decode(encoding, errors="replace"), encoding


def _unicodes(data: bytes) -> Iterable[str]:
    """Yield the Unicode encodings that the bytes may have: one where a mark names it."""
    marked = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if marked:
        return [marked]
    # A timing line is ASCII, so in UTF-16 every other of its bytes is zero.
    if b"-\0-\0>\0" in data:
        return ["utf-16-le" if data.index(b"-\0-\0>\0") % 2 == 0 else "utf-16-be"]
    return [] if b"\0" in data else ["utf-8"]


def _stems(name: str) -> Iterator[tuple[str, Rank]]:
    """Yield the names of videos whose subtitles a file may hold, and how well it fits each."""
    base, kind = os.path.splitext(name)
    if kind.lower() not in KINDS:
        return
    # A language and a kind at most, hence two dots.
    dots = [place for place, char in enumerate(base) if char == "."][-2:]
    for cut in (*dots, len(base)):
        tags = base[cut:].lower()
        if _TAGS.fullmatch(tags):
            is_other = re.match(r"\.eng?\b", tags) is None
            yield base[:cut], (tags != "", "forced" in tags, is_other, tags, kind.lower())
