"""Subtitle files beside a video: which of them is used, and what its bytes say."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from memory.digests import digest
from memory.errors import UnusableSubtitles, UnusableVideo
from memory.records import Cue, Skipped, Video
from video.crew import ask
from video.cues import align, parse
from video.files import regular, trouble
from video.find import patience_s

LARGEST = 4 << 20
"""Bytes of a file that is read."""
KINDS = (".srt", ".vtt")
# "clip.en.srt" and "clip.pt-BR.forced.srt" belong to "clip.mp4", "clip.part2.srt" does not.
_TAGS = re.compile(r"(?:\.[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*)?(?:\.(?:forced|sdh|cc|hi))?")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
Rank = tuple[bool, bool, bool, str, str]
LEGACY = (
    *("cp1252", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "koi8_r", "tis_620"),
)
"""Encodings that are guessed among where a file is no Unicode.

One a script: of several for Latin letters the guess takes the wrong one even for long texts.
"""


class Track(NamedTuple):
    """The subtitles of one video."""

    path: str
    """Relative to the folder of videos."""
    sha256: str
    encoding: str
    cues: tuple[Cue, ...]
    """On the clock of the frames."""


class Beside(NamedTuple):
    """What stands beside one video."""

    track: Track | None
    skipped: list[Skipped]
    """Files that had come first and cannot be used."""
    unused: list[str]
    """Files that come after the one that is used."""


class Shelf:
    """Finds the subtitle files beside the videos of one folder; each folder is listed once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listing = cache(self._names)

    def names(self, video: str) -> list[str]:
        """Return the paths of a video's subtitle files, the one that is wanted most first.

        That is the video's own name with .srt, then with .vtt; then English, then by name.
        """
        parent, name = os.path.split(video)
        stem = os.path.splitext(name)[0]
        found = self._listing(parent).get(stem, [])
        return [os.path.join(parent, other) for _, other in sorted(found)]

    def beside(self, video: Video, copies: Sequence[str] = ()) -> Beside:
        """Return the first usable subtitle file of a video. Reads the video's index.

        Args:
            video: as it was found.
            copies: paths with the same bytes; what stands beside them comes after its own.
        """
        names = [name for path in (video.path, *copies) for name in self.names(path)]
        skipped = list[Skipped]()
        for place, name in enumerate(names):
            try:
                return Beside(self._read(name, video), skipped, names[place + 1 :])
            except UnusableSubtitles as error:
                skipped.append(Skipped(path=name, reason=str(error)))
        return Beside(None, skipped, [])

    def has(self, path: str, sha256: str) -> bool:
        """Return whether the file at `path` still has these bytes."""
        try:
            return digest(self._bytes(path)) == sha256
        except UnusableSubtitles:
            return False

    def _read(self, name: str, video: Video) -> Track:
        data = self._bytes(name)
        text, encoding = decode_text(data)
        cues = parse(text)
        path = self._folder / video.path
        try:
            reply = ask("clock", {"path": os.fspath(path)}, deadline_s=patience_s(path))
        except UnusableVideo as error:
            raise UnusableSubtitles(f"stands beside a video that {error}") from None
        placed = align(cues, first_s=reply["first_s"], duration_s=video.duration_s)
        return Track(name, digest(data), encoding, placed)

    def _bytes(self, name: str) -> bytes:
        path = self._folder / name
        if why := "a folder" if path.is_dir() else trouble(os.fspath(path)):
            raise UnusableSubtitles(f"is {why}")
        try:
            with regular(path) as file:
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
        """Return the subtitle files of a folder by the names they can stand for."""
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
    """Return the text of a file, and its encoding: as marked, else UTF-8, else guessed.

    Raises:
        UnusableSubtitles: it is text in no encoding known here.
    """
    for encoding in _unicodes(data):
        try:
            return data.decode(encoding), encoding.removesuffix("-sig")
        except UnicodeDecodeError:
            continue
    if b"\0" in data:
        raise UnusableSubtitles("is no text")
    encoding = _guess(data)
    return data.decode(encoding, errors="replace"), encoding


def _unicodes(data: bytes) -> Iterable[str]:
    """Yield what the bytes can be: one encoding where a mark names it."""
    marked = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if marked:
        return [marked]
    # A timing line is ASCII, so that in UTF-16 every other byte of it is zero.
    if b"-\0-\0>\0" in data:
        return ["utf-16-le" if data.index(b"-\0-\0>\0") % 2 == 0 else "utf-16-be"]
    return [] if b"\0" in data else ["utf-8"]


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=list(LEGACY)).best()
    return best.encoding if best else "cp1252"


def _stems(name: str) -> Iterator[tuple[str, Rank]]:
    """Yield the names that a file can hold the subtitles of, and how well it fits each."""
    base, kind = os.path.splitext(name)
    if kind.lower() not in KINDS:
        return
    dots = [place for place, char in enumerate(base) if char == "."][-2:]
    for cut in (*dots, len(base)):
        tags = base[cut:].lower()
        if _TAGS.fullmatch(tags):
            is_other = re.match(r"\.eng?\b", tags) is None
            yield base[:cut], (tags != "", "forced" in tags, is_other, tags, kind.lower())
