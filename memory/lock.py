"""One process per run: a lock that the kernel lets go of when its process dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import ClassVar

from memory.errors import RunLocked, StoreError


class RunLock:
    """The right to write one run, held from construction until `release`.

    Raises:
        RunLocked: somebody holds it; the message names the process.
        StoreError: no lock file can be made there.
    """

    # A process is never refused its own POSIX lock, and loses it when it closes any descriptor of
    # the file; so what this process holds is known before the file is opened. flock would be
    # refused, but a forked child would go on holding it after its parent was killed.
    _held: ClassVar[set[tuple[int, int]]] = set()

    def __init__(self, path: Path) -> None:
        self._refuse_own(path)
        self._file = _take(path)
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        self._identity = _identity(os.fstat(self._file))
        self._held.add(self._identity)
        self._is_held = True

    def release(self) -> None:
        """Let the next process in; the file stays: removing it could split the lock in two."""
        if self._is_held:
            self._is_held = False
            self._held.remove(self._identity)
            os.close(self._file)

    @classmethod
    def _refuse_own(cls, path: Path) -> None:
        try:
            known = _identity(path.stat()) in cls._held
        except FileNotFoundError:
            return
        if known:
            raise _locked(path, str(os.getpid()))


def _take(path: Path) -> int:
    """Return a descriptor through which this process holds the lock."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(file, 32, 0).decode("ascii", "replace").strip()
        os.close(file)
        raise _locked(path, holder) from error
    except OSError as error:
        reason = f"{path} cannot be locked ({error.strerror}); use a folder you may write"
        raise StoreError(reason) from error
    return file


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _locked(path: Path, holder: str) -> RunLocked:
    who = f"process {holder}" if holder.isdigit() else "another process"
    return RunLocked(f"{path.parent} is being run by {who}; wait for it to end, or stop it")
