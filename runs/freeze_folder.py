"""Writing the folder of a bench: whole or not at all, and never over something else."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from memory.errors import BadInput
from runs.console import safe
from runs.sealing import RESULTS

CHUNK = 1 << 20


class Copy(NamedTuple):
    """A file that is copied into the folder, with what it must be."""

    source: Path
    sha256: str


Files = Mapping[str, bytes | Copy]
"""Path below the folder, with `/`, to what is to be there."""


def put(files: Files, to: Path) -> bool:
    """Write the folder `to` in one step; True when it held exactly these files already.

    Raises:
        BadInput: it holds something else or cannot be made, or a copied file has changed.
    """
    # A folder cannot be renamed onto a link, even one that leads to an empty folder.
    to = Path(os.path.realpath(to))
    try:
        if to.is_dir() and any(to.iterdir()):
            if _holds(to, files):
                return True
            raise BadInput(f"{to} holds something else; pass a new folder")
        to.parent.mkdir(parents=True, exist_ok=True)
        _write_beside(files, to)
    except OSError as wrong:
        raise BadInput(f"{to} cannot be written: {wrong.strerror}") from wrong
    return False


def _holds(folder: Path, files: Files) -> bool:
    """Return whether the folder holds these files and, beside them, at most results."""
    inside = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    }
    mine = {name for name in inside if not name.startswith(f"{RESULTS}/")}
    return mine == set(files) and all(_is(folder / name, what) for name, what in files.items())


def _is(path: Path, what: bytes | Copy) -> bool:
    if isinstance(what, bytes):
        return path.is_file() and path.read_bytes() == what
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == what.sha256


def _write_beside(files: Files, to: Path) -> None:
    """Fill a folder next to `to`, then give it the name: a reader sees all of it or nothing."""
    draft = Path(tempfile.mkdtemp(dir=to.parent, prefix=".bench-"))
    try:
        for name, what in files.items():
            (draft / name).parent.mkdir(exist_ok=True)
            with (draft / name).open("wb") as file:
                if isinstance(what, bytes):
                    file.write(what)
                else:
                    _copy(what, file)
                file.flush()
                os.fsync(file.fileno())
        draft.chmod(0o755)  # mkdtemp keeps it to its owner; a bench is made to be shared
        draft.rename(to)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _copy(what: Copy, to: BinaryIO) -> None:
    seen = hashlib.sha256()
    with what.source.open("rb") as source:
        while chunk := source.read(CHUNK):
            seen.update(chunk)
            to.write(chunk)
    if seen.hexdigest() != what.sha256:
        raise BadInput(
            f"{safe(str(what.source))} is not the file that the run saw; pass the folder that has "
            "it with --videos"
        )
