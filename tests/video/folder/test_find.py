"""What a folder holds: usable videos by content, and a reason for all else that claims to be."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image

from tests.support.stamped import sound
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.video.decode.av import probe
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.workers.worker import describe


def reasons(folder: Path) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in find_videos(folder).skipped}


def test_videos_are_found_by_content_in_folders_below(clip, tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    shutil.copy(clip("vp9"), deep / "no suffix")
    shutil.copy(clip("two seconds"), tmp_path / "z.txt")
    found = find_videos(tmp_path)
    assert [(v.path, v.codec) for v in found.videos] == [
        ("a/b/no suffix", "vp9"),
        ("z.txt", "h264"),
    ]
    assert found.skipped == []


def test_a_video_is_described_as_it_is_shown(clip) -> None:
    shape = probe(clip("two seconds"))
    assert shape == (pytest.approx(2.0), 320, 180, pytest.approx(25.0), "h264", 0, ())
    assert probe(clip("one frame")).duration_s == pytest.approx(0.04)


def test_equal_bytes_are_one_video(clip, tmp_path: Path) -> None:
    for name in ("b.mp4", "a.mp4", "c.mov"):
        shutil.copy(clip("two seconds"), tmp_path / name)
    found = find_videos(tmp_path)
    assert [video.path for video in found.videos] == ["a.mp4"]
    assert found.duplicates == [("b.mp4", "a.mp4"), ("c.mov", "a.mp4")]


def test_a_file_linked_to_is_found_once(clip, tmp_path: Path) -> None:
    shutil.copy(clip("two seconds"), tmp_path / "b.mp4")
    (tmp_path / "a.mp4").symlink_to("b.mp4")
    found = find_videos(tmp_path)
    assert [video.path for video in found.videos] == ["a.mp4"]
    assert found.duplicates == [("b.mp4", "a.mp4")]


def test_names_of_any_bytes_are_usable(clip, tmp_path: Path) -> None:
    name = os.fsdecode(b"line\nbreak \xff\xfe \xe8\xa6\x96.mp4")
    shutil.copy(clip("two seconds"), tmp_path / name)
    shutil.copy(clip("vp9"), tmp_path / "-dash %d 'quote'.webm")
    assert [v.path for v in find_videos(tmp_path).videos] == ["-dash %d 'quote'.webm", name]


def test_files_that_claim_to_be_videos_are_named_with_the_reason(clip, tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "page.mp4").write_text("<html>404 not found</html>\n" * 100)
    (tmp_path / "cut.mp4").write_bytes(clip("two seconds").read_bytes()[:3000])
    Image.new("RGB", (64, 64)).save(tmp_path / "picture.png")
    (tmp_path / "picture.png").rename(tmp_path / "picture.MP4")
    sound(tmp_path / "sound.mp4")
    assert reasons(tmp_path) == {
        "cut.mp4": "is damaged, cut short or in no video format known here",
        "empty.mp4": "is empty",
        "page.mp4": "is an HTML page, not a video; check the address it came from",
        "picture.MP4": "is a picture (PNG), not a video",
        "sound.mp4": "holds only sound, no video stream",
    }


def test_other_files_are_passed_over_in_silence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhello\n")
    (tmp_path / "subtitles.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhello\n")
    (tmp_path / "data.json").write_text("{}")
    Image.new("RGB", (64, 64)).save(tmp_path / "picture.png")
    sound(tmp_path / "song.m4a")
    assert find_videos(tmp_path) == ([], [], [])


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    (tmp_path / "nowhere.mp4").symlink_to(tmp_path / "gone")
    (tmp_path / "loop.mp4").symlink_to("loop.mp4")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "up").symlink_to(tmp_path)
    assert reasons(tmp_path) == {
        "loop.mp4": "a link that leads nowhere",
        "nowhere.mp4": "a link that leads nowhere",
        "null": "a device",
        "pipe.mp4": "a named pipe",
        "up": "a link to a folder, which is not followed",
    }


@pytest.mark.parametrize(
    "text",
    [
        "ffconcat version 1.0\nfile '{clip}'\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:2,\n{clip}\n#EXT-X-ENDLIST\n",
    ],
)
def test_a_playlist_cannot_pull_in_another_file(clip, tmp_path: Path, text: str) -> None:
    path = tmp_path / "list.mp4"
    path.write_text(text.format(clip=clip("two seconds")))
    with pytest.raises(UnusableVideo, match="is a playlist"):
        probe(path)


def test_cover_art_is_no_video(tmp_path: Path) -> None:
    path = sound(tmp_path / "album.mp4", cover=True)
    with pytest.raises(UnusableVideo, match="only sound"):
        probe(path)


def test_a_header_without_decodable_frames_is_refused(clip, tmp_path: Path) -> None:
    path = tmp_path / "hollow.mp4"
    data = bytearray(clip("two seconds").read_bytes())
    start = data.index(b"mdat") + 4
    end = data.index(b"moov") - 4
    data[start:end] = bytes(end - start)
    path.write_bytes(data)
    with pytest.raises(UnusableVideo, match="holds no frame that can be decoded"):
        probe(path)


@contextmanager
def as_anybody() -> Iterator[None]:
    """Let go of root's right to read everything."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_that_may_not_be_read_is_said_so(
    clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(clip("two seconds"), tmp_path / "a.mp4")
    (tmp_path / "a.mp4").chmod(0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    # In this process: only here can root let go of its rights.
    with as_anybody(), pytest.raises(UnusableVideo, match=r"^may not be read by this user$"):
        describe(Path(), "a.mp4")


def test_a_folder_below_that_may_not_be_read_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut").chmod(0)
    find_videos(tmp_path)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with as_anybody():
        told = reasons(Path())
    assert told == {"shut": "a folder that cannot be read: Permission denied"}


def test_a_folder_that_may_not_be_read_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut").chmod(0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with as_anybody(), pytest.raises(BadInput, match="'shut' cannot be read: Permission denied"):
        find_videos(Path("shut"))


def test_a_folder_that_is_misspelt_is_guessed(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    with pytest.raises(BadInput, match=r"did you mean '.*clips'\? else pass a folder"):
        find_videos(tmp_path / "clipz")


def test_no_folder_is_bad_input_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file\n.mp4").touch()
    with pytest.raises(BadInput, match=r"there is no folder '.*gone'; pass a folder"):
        find_videos(tmp_path / "gone")
    with pytest.raises(BadInput, match=r"^[^\n]*is a file; pass the folder that holds it$"):
        find_videos(tmp_path / "file\n.mp4")
