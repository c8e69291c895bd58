"""What a file is that has the name of a video or table and is none, as its first bytes tell.

No message repeats text of a file, since it was chosen by whoever wrote the file.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

HEAD = 4096
"""Bytes from the start of a file that are looked at."""

_LFS = re.compile(r"\s*version https?://(?:git-lfs|hawser)\.github\.com/spec/")
_ANNEX = re.compile(r"\s*/?(?:\.\./)*(?:\.git/)?annex/objects/")
_XET = re.compile(r"\s*#\s*xet version")
_DVC = re.compile(r"\s*outs:\s*\n\s*-\s*(?:md5|etag|hash)\b")
POINTERS = (
    (_LFS, "is a pointer of Git LFS, not the file itself; fetch it with git lfs pull"),
    (_ANNEX, "is a pointer of git-annex, not the file itself; fetch it with git annex get"),
    (_XET, "is a pointer of Xet, not the file itself; fetch it with git xet checkout"),
    (_DVC, "is a pointer of DVC, not the file itself; fetch it with dvc pull"),
)
"""What repositories keep in place of a large file that was not fetched."""

_BEFORE = r"\s*+(?:<\?xml[^<>]{0,200}>\s*+)?+(?><!--.{0,2000}?-->\s*+)*+"
"""What may stand before the first element. Atomic groups: a file could be made to backtrack for
ever."""
_PAGE = re.compile(
    rf"{_BEFORE}<(?:!doctype\s+html|html|head|body|title|meta|script|iframe|h1|center)\b",
    re.IGNORECASE | re.DOTALL,
)
_DASH = re.compile(rf"{_BEFORE}<MPD\b", re.DOTALL)
_XML = re.compile(r"\s*<(?:\?xml\b|[A-Za-z][\w:.-]{0,60}(?:\s[^<>]{0,300})?/?>)")
_JSON = re.compile(r'\s*(?:\{\s*(?:"|\})|\[\s*(?:[\[{"\]]|-?[0-9]))')
_PLAYLIST = re.compile(r"\s*(?:#EXTM3U|ffconcat version|\[playlist\]|\[Reference\])", re.IGNORECASE)
_WORDS = (
    (_PAGE, "is an HTML page, not a video; check the address it came from"),
    (_DASH, "is a playlist (DASH), not a video; download what it names"),
    (_PLAYLIST, "is a playlist, not a video; download what it names"),
    (_XML, "is an XML document, such as a server's error message, not a video"),
    (_JSON, "is JSON, such as a server's error message, not a video"),
)

_ARCHIVE = "is an archive ({}), not a video; unpack it"
_PICTURE = "is a picture ({}), not a video"
_SOUND = "holds only sound ({}), no video stream"
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PK\x03\x04", _ARCHIVE.format("zip")),
    (0, b"PK\x05\x06", _ARCHIVE.format("zip")),
    (0, b"\x1f\x8b", _ARCHIVE.format("gzip")),
    (0, b"7z\xbc\xaf\x27\x1c", _ARCHIVE.format("7z")),
    (0, b"Rar!\x1a\x07", _ARCHIVE.format("RAR")),
    (0, b"BZh", _ARCHIVE.format("bzip2")),
    (0, b"\xfd7zXZ\0", _ARCHIVE.format("xz")),
    (0, b"\x28\xb5\x2f\xfd", _ARCHIVE.format("Zstandard")),
    (257, b"ustar", _ARCHIVE.format("tar")),
    (0, b"\x89PNG\r\n\x1a\n", _PICTURE.format("PNG")),
    (0, b"\xff\xd8\xff", _PICTURE.format("JPEG")),
    (0, b"GIF8", _PICTURE.format("GIF")),
    (8, b"WEBP", _PICTURE.format("WebP")),
    (4, b"ftypheic", _PICTURE.format("HEIC")),
    (4, b"ftypmif1", _PICTURE.format("HEIF")),
    (4, b"ftypavif", _PICTURE.format("AVIF")),
    (0, b"ID3", _SOUND.format("MP3")),
    (0, b"\xff\xfb", _SOUND.format("MP3")),
    (0, b"\xff\xf1", _SOUND.format("AAC")),
    (0, b"fLaC", _SOUND.format("FLAC")),
    (8, b"WAVE", _SOUND.format("WAV")),
    (0, b"%PDF-", "is a PDF document, not a video"),
    (0, b"\x7fELF", "is a program, not a video"),
    (0, b"d8:announce", "is a torrent, not a video; download what it names"),
)
"""An offset, the bytes there, and what a file with them is."""
_ZEROS = "begins with nothing but zeros: a download that never came, or a damaged disk"
_TEXT = "is a text, not a video"


def pointer_in(head: bytes) -> str | None:
    """Return which pointer to a large file begins so, and how to fetch it; None if none does.

    Pointers are small: a file longer than HEAD is none.
    """
    text = _text(head) if len(head) <= HEAD else None
    return _first(POINTERS, text) if text is not None else None


def what_it_is(head: bytes) -> str | None:
    """Return in one clause what a file is that begins so and is no video; None if unknown."""
    if pointer := pointer_in(head):
        return pointer
    for at, magic, what in _MAGIC:
        if head.startswith(magic, at):
            return what
    if len(head) >= HEAD and not any(head):
        return _ZEROS
    text = _text(head)
    if text is None:
        return None
    is_plain = all(char >= " " or char in "\t\n\r\f" for char in text)
    return _first(_WORDS, text) or (_TEXT if is_plain else None)


def _first(kinds: Iterable[tuple[re.Pattern[str], str]], text: str) -> str | None:
    return next((what for marks, what in kinds if marks.match(text)), None)


def _text(head: bytes) -> str | None:
    """Return bytes as text, without a mark of byte order; None where they are no text."""
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        # Incremental, since the last character of the head may be cut in two.
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        text = head.decode("latin-1")
        # latin-1 decodes anything; text in an old 8-bit encoding is still mostly ASCII.
        if 4 * sum(char.isascii() for char in text) < 3 * len(text):
            return None
    text = text.lstrip("\ufeff")
    return text if text.strip() else None
