"""Telling whether anybody opens a file, by inotify; on Linux only."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IS_POSSIBLE = sys.platform == "linux"
OPENED = 0x20
NONBLOCK = os.O_NONBLOCK


class Canary:
    """A watched file."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def has_sung(self) -> bool:
        """Return whether any process has opened the file since this was last asked."""
        try:
            return bool(os.read(self._handle, 1 << 16))
        except BlockingIOError:
            return False


@contextmanager
def watched(path: Path) -> Iterator[Canary]:
    """Yield what knows whether the file is opened."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(NONBLOCK)
    try:
        assert libc.inotify_add_watch(handle, os.fsencode(path), OPENED) >= 0
        yield Canary(handle)
    finally:
        os.close(handle)
