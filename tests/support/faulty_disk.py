"""A disk under SQLite that fails on command: at one write it kills the process, or it is full.

It is a VFS over the system's own, put through ctypes into the very library that `sqlite3` is linked
to and made its default; so what is tested is opened as ever, and nothing but Python is needed.
Every write, sync, truncation, deletion and close of a run's files is counted from 1; each can be
the last thing that the process comes to. What was written can be recorded as well, to see later
what would be left if all that was not synced were gone.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

OK = 0
FULL = 13
CANTOPEN = 14
_OPEN_LOG = 0x80000
_Pointer = ctypes.c_void_p
_Int = ctypes.c_int
_Long = ctypes.c_int64
_CLOSE = ctypes.CFUNCTYPE(_Int, _Pointer)
_WRITE = ctypes.CFUNCTYPE(_Int, _Pointer, _Pointer, _Int, _Long)
_TRUNCATE = ctypes.CFUNCTYPE(_Int, _Pointer, _Long)
_SYNC = ctypes.CFUNCTYPE(_Int, _Pointer, _Int)
_MAP = ctypes.CFUNCTYPE(_Int, _Pointer, _Int, _Int, _Int, _Pointer)
# Names are pointers here: settings stand behind them in memory, which a copy would lack.
_OPEN = ctypes.CFUNCTYPE(_Int, _Pointer, _Pointer, _Pointer, _Int, _Pointer)
_DELETE = ctypes.CFUNCTYPE(_Int, _Pointer, _Pointer, _Int)


class _Methods(ctypes.Structure):
    """What SQLite does to an open file: `sqlite3_io_methods`."""

    _fields_ = (
        ("version", _Int),
        ("close", _CLOSE),
        ("read", _Pointer),
        ("write", _WRITE),
        ("truncate", _TRUNCATE),
        ("sync", _SYNC),
        *((f"other_{number}", _Pointer) for number in range(7)),
        ("map", _MAP),
        *((f"more_{number}", _Pointer) for number in range(5)),
    )


class _Vfs(ctypes.Structure):
    """How SQLite comes to files: `sqlite3_vfs`."""

    _fields_ = (
        ("version", _Int),
        ("file_bytes", _Int),
        ("longest_path", _Int),
        ("next", _Pointer),
        ("name", ctypes.c_char_p),
        ("data", _Pointer),
        ("open", _OPEN),
        ("delete", _DELETE),
        *((f"other_{number}", _Pointer) for number in range(14)),
    )


class Op(NamedTuple):
    """One thing that was done to a file, or a promise that was made meanwhile."""

    kind: str
    """`append`, `restart`, `page`, `truncate`, `sync`, `delete`, `close`, `open`, `promise`."""
    file: str
    """Name of the file; of a promise, what was promised."""
    offset: int = 0
    """Where it was written; of a truncation, the new length."""
    data: bytes = b""


@dataclass
class Disk:
    """What is to go wrong; nothing unless said."""

    kill_at: int = 0
    """The process is killed when it comes to this operation; 0 for none."""
    of_kind: str = ""
    """Only operations of this kind are counted; all of them, unless said."""
    is_torn: bool = False
    """Half of a write at which it is killed gets through."""
    room: int | None = None
    """Bytes that all files together may take; a write beyond is refused as by a full disk."""
    unwritable: str | None = None
    """Folder in which the index of a log cannot be made, as where nothing can be written."""
    record: str | None = None
    """File that every operation is written to."""
    count: int = field(default=0, init=False)
    _sizes: dict[str, int] = field(default_factory=dict, init=False)
    _names: dict[int, str] = field(default_factory=dict, init=False)
    _keep: list[Any] = field(default_factory=list, init=False)
    """What C holds on to."""
    _no_index: Any = field(default_factory=lambda: _MAP(lambda *_: CANTOPEN), init=False)
    _out: int | None = field(default=None, init=False)

    def insert(self) -> None:
        """Put it under every SQLite file that this process opens from now on."""
        import _sqlite3

        library = ctypes.CDLL(_sqlite3.__file__)
        library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        system: _Vfs = library.sqlite3_vfs_find(None).contents
        vfs = _Vfs.from_buffer_copy(system)
        vfs.name = b"faulty"
        vfs.open = _OPEN(self._opener(system))
        vfs.delete = _DELETE(self._deleter(system))
        self._keep += [vfs, system, library]
        if library.sqlite3_vfs_register(ctypes.byref(vfs), 1) != OK:
            raise RuntimeError("SQLite takes no VFS")
        if self.record:
            self._out = os.open(self.record, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def promise(self, what: str) -> None:
        """Record that the caller was told something is kept."""
        self._write_down(Op("promise", what))

    def _write_down(self, op: Op) -> None:
        if self._out is not None:
            os.write(self._out, pickle.dumps(op))

    def _opener(self, system: _Vfs) -> Callable[..., int]:
        theirs = system.open

        def open_(vfs: int, name: int | None, file: int, flags: int, told: int) -> int:
            code: int = theirs(vfs, name, file, flags, told)
            methods = ctypes.cast(file, ctypes.POINTER(ctypes.POINTER(_Methods)))
            if code == OK and name and methods[0]:
                path = os.fsdecode(ctypes.string_at(name))
                short = os.path.basename(path)
                self._write_down(Op("open", short))
                self._sizes[short] = os.path.getsize(path)
                self._names[file] = short
                ours = self._methods(methods[0].contents, is_log=bool(flags & _OPEN_LOG))
                if self.unwritable == os.path.dirname(path):
                    ours.map = self._no_index
                methods[0] = ctypes.pointer(ours)
            return code

        return open_

    def _deleter(self, system: _Vfs) -> Callable[..., int]:
        theirs = system.delete

        def delete(vfs: int, name: int, sync: int) -> int:
            path = os.fsdecode(ctypes.string_at(name))
            self._come_to(Op("delete", os.path.basename(path)))
            code: int = theirs(vfs, name, sync)
            return code

        return delete

    def _methods(self, theirs: _Methods, *, is_log: bool) -> _Methods:
        ours = _Methods.from_buffer_copy(theirs)

        def write(file: int, data: int, length: int, offset: int) -> int:
            name = self._names[file]
            kind = "page"
            if is_log:
                kind = "restart" if offset == 0 and self._sizes[name] else "append"
            op = Op(kind, name, offset, ctypes.string_at(data, length))
            if self._come_to(op, lambda: theirs.write(file, data, length // 2, offset)):
                code: int = theirs.write(file, data, length, offset)
                return code
            # As much as there is room for gets through.
            theirs.write(file, data, length // 2, offset)
            return FULL

        def truncate(file: int, size: int) -> int:
            self._come_to(Op("truncate", self._names[file], size))
            self._sizes[self._names[file]] = size
            code: int = theirs.truncate(file, size)
            return code

        def sync(file: int, flags: int) -> int:
            self._come_to(Op("sync", self._names[file]))
            code: int = theirs.sync(file, flags)
            return code

        def close(file: int) -> int:
            self._come_to(Op("close", self._names.pop(file)))
            code: int = theirs.close(file)
            return code

        ours.write = _WRITE(write)
        ours.truncate = _TRUNCATE(truncate)
        ours.sync = _SYNC(sync)
        ours.close = _CLOSE(close)
        self._keep += [ours, theirs]
        return ours

    def _come_to(self, op: Op, half: Callable[[], object] = lambda: None) -> bool:
        """Count an operation, and return whether it may be done."""
        is_counted = self.of_kind in ("", op.kind)
        self.count += is_counted
        if is_counted and self.count == self.kill_at:
            if self.is_torn:
                half()
            os.kill(os.getpid(), signal.SIGKILL)
        if op.data:
            self._sizes[op.file] = max(self._sizes[op.file], op.offset + len(op.data))
            if self.room is not None and sum(self._sizes.values()) > self.room:
                self._sizes[op.file] = op.offset
                return False
        self._write_down(op)
        return True


def recorded(path: Path) -> list[Op]:
    """Return what a disk has recorded."""
    return list(_read(path))


def _read(path: Path) -> Iterator[Op]:
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return
