"""Files of what this machine learnt, by the XDG rules; nobody else may write them."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_BYTES = 16_000_000
"""What a larger file holds was not written here."""


def state_file(name: str) -> Path:
    """Return where a file of this machine's state lies; RuntimeError without a home."""
    base = os.environ.get("XDG_STATE_HOME", "")
    # XDG has paths that are not absolute ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"
    return root / "videoautoarena" / name


def read_state(file: Path) -> bytes:
    """Return what a file of the state holds; OSError if it is not there, or others may write it."""
    with file.open("rb") as opened:
        status = os.fstat(opened.fileno())
        # Of the open file and not of its name, which could be another file by then.
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise PermissionError(f"{file} may be written by others")
        if status.st_size > MOST_BYTES:
            raise OSError(f"{file} is too large")
        return opened.read()


@contextmanager
def rewriting(file: Path) -> Iterator[Path]:
    """Yield a new file that replaces one of the state when the block ends.

    Its owner alone may read it. One process at a time, so that nothing another one writes is lost.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A file of its own: the state is replaced, and a lock on what was replaced keeps nobody out.
    with open(file.with_suffix(".lock"), "a", opener=_private) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # In the same folder, since a rename works within one file system.
        number, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.stem}-")
        os.close(number)
        try:
            yield Path(name)
            os.replace(name, file)
        finally:
            Path(name).unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
