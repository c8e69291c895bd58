"""What is no ordinary file is never replaced by one, not even with --force."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.files import refuse_existing, write_whole


def special(kind: str, folder: Path) -> Path:
    """Make what is no ordinary file in a folder, and return where it is."""
    place = folder / kind
    if kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(place))
    else:
        os.mkfifo(place)
    return place


@pytest.mark.parametrize("kind", ["socket", "pipe"])
def test_a_pipe_or_socket_is_not_replaced(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # The path of a socket is short.
    place = special(kind, Path())
    link = Path("link")
    link.symlink_to(place)
    for to in (place, link):
        with pytest.raises(BadInput, match=f"^{to} is no ordinary file; pass another name$"):
            refuse_existing(to, force=True)
        with pytest.raises(BadInput, match=f"^{to} is no ordinary file; pass another name$"):
            write_whole(to, b"mine")
    assert not place.is_file()
    assert link.is_symlink()
    assert sorted(path.name for path in Path().iterdir()) == sorted([kind, "link"])


def test_an_ordinary_file_is_replaced_and_a_new_one_made(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / "old").write_bytes(b"old")
        refuse_existing(tmp_path / name, force=True)
        write_whole(tmp_path / name, b"mine")
        assert (tmp_path / name).read_bytes() == b"mine"
