"""Files that are written whole or not at all, and replace nothing unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from memory.errors import BadInput


def refuse_existing(file: Path, *, force: bool) -> None:
    """Refuse a file that cannot be made, or is there and not to be replaced.

    Raises:
        BadInput: it is.
    """
    if file.is_dir():
        raise BadInput(f"{file} is a folder; pass the name of a file")
    if file.exists() and not force:
        raise BadInput(f"{file} is there already; pass another name, or --force to replace it")


def write_whole(to: Path, content: bytes) -> None:
    """Write a file next to `to`, then give it the name: a reader sees all of it or nothing.

    Raises:
        BadInput: it cannot be written.
    """
    with whole_file(to) as file:
        file.write(content)


@contextmanager
def whole_file(to: Path) -> Iterator[BinaryIO]:
    """Give a file next to `to` to be filled: at the end it has the name, after an error it is gone.

    Raises:
        BadInput: it cannot be written.
    """
    draft = None
    try:
        number, name = tempfile.mkstemp(dir=to.parent, prefix=f".{to.name[:40]}-")
        draft = Path(name)
        with os.fdopen(number, "wb") as file:
            yield file
        draft.chmod(0o644)  # mkstemp keeps it to its owner
        draft.replace(to)
    except OSError as wrong:
        raise BadInput(f"{to} cannot be written: {wrong.strerror}") from wrong
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
