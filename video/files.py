"""A file on disk before anything is known of it: may it be opened, and does it stay as it is?"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from memory.errors import UnusableVideo

KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a link to a folder, which is not followed"),
)


class Identity(NamedTuple):
    """What changes when a file is written to or another takes its place."""

    device: int
    inode: int
    size_bytes: int
    modified_ns: int


def trouble(path: str) -> str:
    """Return why a path leads to no regular file, or nothing; the file is not opened."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        is_link = os.path.islink(path)
        return "a link that leads nowhere" if is_link else f"not readable: {error.strerror}"
    return kind_of(mode)


def kind_of(mode: int) -> str:
    """Return what a file is that is no regular one, or nothing."""
    if stat.S_ISREG(mode):
        return ""
    return next((kind for matches, kind in KINDS if matches(mode)), "no regular file")


@contextmanager
def regular(path: Path) -> Iterator[BufferedReader]:
    """Yield a regular file, open for reading; opening never waits, whatever lies there by now.

    Raises:
        UnusableVideo: it is a pipe, a device or the like.
        OSError: it cannot be opened.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(handle, "rb", closefd=True) as file:
        if kind := kind_of(os.fstat(handle).st_mode):
            raise UnusableVideo(f"is {kind}")
        yield file


def sha256_of(path: Path) -> str:
    """Return the digest of a file's bytes, read as a stream.

    Raises:
        UnusableVideo, OSError: as `regular` does.
    """
    with regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity_of(path: Path) -> Identity:
    """Return what a file is known by without being read."""
    about = path.stat()
    return Identity(about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)


@contextmanager
def unchanged(path: Path) -> Iterator[Identity]:
    """Yield a file's identity, and refuse what was read of it where that has changed by the end.

    Raises:
        UnusableVideo: it cannot be read, or it was changed, replaced or removed meanwhile.
    """
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
