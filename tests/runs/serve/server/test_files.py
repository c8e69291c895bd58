"""Of all files of the machine a server gives out the run's videos, and those only as they were."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from tests.support.runfiles import video as video_record
from tests.support.served import Answer, Site, site
from videoautoarena.memory.records.records import Video
from videoautoarena.runs.serve.server import files as module
from videoautoarena.runs.serve.server.files import VideoFiles, VideoGone

FILM = b"\x00\x00\x00\x18ftypisom" + bytes(range(256)) * 400


@dataclass(frozen=True)
class Cinema:
    """A folder of videos, and a server that gives out the one that is asked for by number."""

    folder: Path
    site: Site
    videos: list[Video]

    def add(self, name: str, content: bytes = FILM) -> str:
        """Take a file for a video of the run, and return where it is given out."""
        record = video_record(name).model_copy(
            update={"sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content)}
        )
        self.videos.append(record)
        return f"/{len(self.videos) - 1}"

    def film(self, name: str = "a.mp4", content: bytes = FILM) -> str:
        """Put a file into the folder, and take it for a video."""
        (self.folder / name).write_bytes(content)
        return self.add(name, content)

    def ask(self, path: str, **headers: str) -> Answer:
        return self.site.ask(path, **headers)


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Site, list[Video], list[Path]]]:
    videos: list[Video] = []
    folders: list[Path] = []
    files: list[VideoFiles] = []

    async def film(request: Request) -> Response:
        if not files:
            files.append(VideoFiles())
        try:
            return await files[0].response(videos[request.path_params["k"]], folders[-1])
        except VideoGone as gone:
            return PlainTextResponse(str(gone), status_code=410)

    with site(Router([Route("/{k:int}", film)])) as opened:
        yield opened, videos, folders


@pytest.fixture
def cinema(running: tuple[Site, list[Video], list[Path]], tmp_path: Path) -> Cinema:
    opened, videos, folders = running
    folder = tmp_path / "videos"
    folder.mkdir()
    folders.append(folder)
    return Cinema(folder, opened, videos)


def test_a_video_is_given_out_whole_and_in_ranges(cinema: Cinema) -> None:
    path = cinema.film()
    whole = cinema.ask(path)
    assert (whole.status, whole.body) == (200, FILM)
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-type"] == "video/mp4"
    size = len(FILM)
    for asked, (first, last) in {
        "bytes=0-9": (0, 9),
        "bytes=1000-": (1000, size - 1),
        "bytes=-500": (size - 500, size - 1),
        f"bytes=0-{size * 2}": (0, size - 1),
    }.items():
        part = cinema.ask(path, Range=asked)
        assert (part.status, part.body) == (206, FILM[first : last + 1])
        assert part.headers["content-range"] == f"bytes {first}-{last}/{size}"
    beyond = cinema.ask(path, Range=f"bytes={size}-")
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{size}")
    assert cinema.ask(path, Range="bytes=9-3").status in (400, 416)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x00\x00\x00\x18ftypisom", "video/mp4"),
        (b"\x00\x00\x00\x14ftypqt  ", "video/quicktime"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01B\x82\x84webm", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01B\x82\x88matroska", "video/x-matroska"),
        (b"RIFF\x00\x00\x00\x00AVI LIST", "video/x-msvideo"),
        (b"OggS\x00\x02", "video/ogg"),
        (b"<html><script>", "application/octet-stream"),
    ],
)
def test_what_a_file_is_called_follows_from_its_bytes(
    cinema: Cinema, head: bytes, kind: str
) -> None:
    answer = cinema.ask(cinema.film("page.html", head + bytes(100)))
    assert (answer.status, answer.headers["content-type"]) == (200, kind)
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_file_that_changed_is_not_given_out(cinema: Cinema) -> None:
    path = cinema.film()
    file = cinema.folder / "a.mp4"
    assert cinema.ask(path).status == 200
    about = file.stat()
    file.write_bytes(FILM[:-1] + b"!")
    # As whoever wants to hide it would.
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    changed = cinema.ask(path)
    assert (changed.status, changed.text) == (410, "this file has changed since the run saw it")
    file.write_bytes(FILM + b"!")
    assert cinema.ask(path, Range="bytes=0-9").status == 410
    file.write_bytes(FILM)
    assert cinema.ask(path).status == 200
    file.unlink()
    assert cinema.ask(path).status == 410


def test_a_file_is_read_once_to_see_that_it_is_the_one(
    cinema: Cinema, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cinema.film("once.mp4")
    whole = module._sha256
    read: list[int] = []

    def counted(handle: int) -> str:
        read.append(handle)
        return whole(handle)

    monkeypatch.setattr(module, "_sha256", counted)
    for _ in range(3):
        assert cinema.ask(path, Range="bytes=0-9").status == 206
    assert len(read) == 1


def test_no_link_and_no_name_leads_out_of_the_folder(cinema: Cinema, tmp_path: Path) -> None:
    secret = tmp_path / "secret.mp4"
    secret.write_bytes(FILM)
    (cinema.folder / "link.mp4").symlink_to(secret)
    (cinema.folder / "above").symlink_to(tmp_path)
    (cinema.folder / "round").symlink_to(cinema.folder / "round")
    outside = "this file lies outside of the folder of videos"
    for name in ("link.mp4", "above/secret.mp4", "../secret.mp4", str(secret)):
        refused = cinema.ask(cinema.add(name))
        assert (refused.status, refused.text) == (410, outside)
    for name in ("round", "none.mp4", "a\0b", "", "x" * 300):
        assert cinema.ask(cinema.add(name)).status == 410
    (cinema.folder / "real.mp4").write_bytes(FILM)
    (cinema.folder / "inside.mp4").symlink_to("real.mp4")
    assert cinema.ask(cinema.add("inside.mp4")).status == 200


def test_a_pipe_or_a_folder_in_its_place_keeps_nobody_waiting(cinema: Cinema) -> None:
    os.mkfifo(cinema.folder / "pipe.mp4")
    (cinema.folder / "folder.mp4").mkdir()
    for name in ("pipe.mp4", "folder.mp4"):
        refused = cinema.ask(cinema.add(name))
        assert (refused.status, refused.text) == (410, "this is no file any more")


def _open() -> Iterator[Path]:
    for place in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            yield Path(os.readlink(f"/proc/self/fd/{place}"))


def test_no_file_is_left_open(cinema: Cinema) -> None:
    path = cinema.film()
    cinema.ask(path)
    for asked in ("bytes=0-9", "bytes=999999999-", "bytes=x"):
        cinema.ask(path, Range=asked)
    (cinema.folder / "a.mp4").write_bytes(FILM[::-1])
    assert cinema.ask(path).status == 410
    shutil.rmtree(cinema.folder)
    cinema.ask(path)
    # Whatever else this process has open is another's.
    assert not [file for file in _open() if file.is_relative_to(cinema.folder.resolve())]
