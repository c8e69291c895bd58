"""Broken and hostile files: frames or one clear reason, and no harm to anything around them."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import av
import pytest

from tests.support import canary, heavy, hostile
from tests.support.stamped import sound
from videoautoarena.memory.records.errors import DecoderLost, UnusableVideo
from videoautoarena.memory.records.records import Sampling, Video, VideoFrames
from videoautoarena.video.decode.container import opened, unchanged
from videoautoarena.video.folder import find
from videoautoarena.video.folder.find import Findings, find_videos, read_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers import pool
from videoautoarena.video.workers.decoders import Decoders
from videoautoarena.video.workers.worker import reply_to

FEW = Sampling(frames=8)
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc or uses inotify")


class Zoo(NamedTuple):
    """What came of a folder of nothing but trouble."""

    bad: dict[str, hostile.Bad]
    odd: dict[str, str]
    found: Findings
    seen: dict[str, VideoFrames | UnusableVideo]
    """By path, what became of those that were found."""
    has_sung: bool
    peaks: list[int]
    """Bytes of memory of each process that opened them, at its most."""

    def outcomes(self) -> dict[str, str]:
        """Return `FRAMES` or the reason for everything in the folder."""
        told = {one.path: one.reason for one in self.found.skipped}
        for path, frames in self.seen.items():
            told[path] = str(frames) if isinstance(frames, UnusableVideo) else hostile.FRAMES
        return told


@pytest.fixture(scope="module")
def good() -> hostile.Goods:
    return hostile.goods()


@pytest.fixture(scope="module")
def zoo(good: hostile.Goods, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    folder = tmp_path_factory.mktemp("zoo")
    aside = tmp_path_factory.mktemp("aside")
    bird = aside / "canary.mp4"
    bird.write_bytes(good.mp4)
    bad = {f"{n}.{file.suffix}": file for n, file in hostile.bad_files(good, bird).items()}
    for name, file in bad.items():
        (folder / name).write_bytes(file.data)
    sound(folder / "sound.mp4")
    sound(folder / "cover.mp4", cover=True)
    odd = hostile.lay_out_odd_things(folder)
    odd |= dict.fromkeys(("sound.mp4", "cover.mp4"), "holds only sound, no video stream")
    pool.dismiss()
    with canary.watched(bird) as watch:
        found = find_videos(folder)
        seen = asyncio.run(look(folder, found.videos, aside / "cache"))
        yield Zoo(bad, odd, found, seen, watch.has_sung(), peaks())
    pool.dismiss()


async def look(
    folder: Path, videos: list[Video], cache: Path, *, deadline_s: float = 60.0
) -> dict[str, VideoFrames | UnusableVideo]:
    async with Decoders(FrameCache(cache), deadline_s=deadline_s) as decoders:
        asked = (decoders.frames(folder / video.path, video, FEW) for video in videos)
        replies = await asyncio.gather(*asked, return_exceptions=True)
    seen: dict[str, VideoFrames | UnusableVideo] = {}
    for video, reply in zip(videos, replies, strict=True):
        assert isinstance(reply, VideoFrames | UnusableVideo), reply
        seen[video.path] = reply
    return seen


def status(pid: int, field: str) -> int:
    """Return a figure of /proc/PID/status, in bytes."""
    (kib,) = re.findall(rf"{field}:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(kib) * 1024


def peaks() -> list[int]:
    pids = [worker.process.pid for worker in pool._idle]
    return [status(pid, "VmHWM") for pid in pids] if sys.platform == "linux" else []


def test_each_of_them_gives_frames_or_its_reason(zoo: Zoo) -> None:
    told = zoo.outcomes()
    expected = {name: file.outcome for name, file in zoo.bad.items()} | zoo.odd
    others = dict(zoo.found.duplicates)
    wrong = {
        name: (told.get(name), want)
        for name, want in expected.items()
        if name not in others and want != hostile.EITHER and not told[name].startswith(want)
    }
    assert wrong == {}
    assert told.keys() | others.keys() == expected.keys()
    assert len(expected) >= 34


def test_every_reason_is_one_short_line_and_no_decoder_was_lost(zoo: Zoo) -> None:
    reasons = [told for told in zoo.outcomes().values() if told != hostile.FRAMES]
    assert all(told.isprintable() and len(told) < 100 for told in reasons)
    assert not [told for told in reasons if "decoder down" in told or "within" in told]


@linux
def test_no_process_that_opened_them_took_a_gigabyte(zoo: Zoo) -> None:
    assert zoo.peaks
    assert max(zoo.peaks) < 1 << 30


@linux
def test_nothing_they_refer_to_was_opened(zoo: Zoo) -> None:
    assert not zoo.has_sung


@linux
def test_plain_libav_does_open_what_they_refer_to(good: hostile.Goods, tmp_path: Path) -> None:
    bird = tmp_path / "canary.mp4"
    bird.write_bytes(good.mp4)
    files = hostile.bad_files(good, bird)
    for name, options in (
        ("list of files", {"safe": "0"}),
        ("external track", {"enable_drefs": "1", "use_absolute_path": "1"}),
    ):
        path = tmp_path / "bad.mp4"
        path.write_bytes(files[name].data)
        with canary.watched(bird) as watch:
            av.open(str(path), options=options).close()
            assert watch.has_sung(), name


def test_names_that_mean_something_elsewhere_are_names(
    good: hostile.Goods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(hostile.NAMES):
        # Other bytes each, or all but one were duplicates.
        (tmp_path / os.fsdecode(name)).write_bytes(good.mp4 + bytes(number))
    monkeypatch.chdir(tmp_path)
    found = find_videos(Path())
    assert {os.fsencode(video.path) for video in found.videos} == set(hostile.NAMES)
    seen = asyncio.run(look(Path(), found.videos, tmp_path / "cache"))
    assert all(isinstance(frames, VideoFrames) for frames in seen.values())


def test_a_pipe_put_in_place_of_a_file_after_a_look_at_it_keeps_nobody_waiting(
    good: hostile.Goods, tmp_path: Path
) -> None:
    (tmp_path / "a.mp4").write_bytes(good.mp4)
    (video,) = find_videos(tmp_path).videos
    (tmp_path / "a.mp4").unlink()
    os.mkfifo(tmp_path / "a.mp4")
    (refused,) = read_videos(tmp_path, ["a.mp4"])
    assert str(refused) == "is a named pipe"
    seen = asyncio.run(look(tmp_path, [video], tmp_path / "cache"))
    assert str(seen["a.mp4"]) == "is a named pipe"


def test_a_file_removed_while_it_is_open_is_read_to_its_end(
    good: hostile.Goods, tmp_path: Path
) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(good.mp4)
    with opened(path) as (container, stream):
        path.unlink()
        assert sum(1 for packet in container.demux(stream) if packet.size) == 25


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (Path.unlink, "is not there any more"),
        (lambda path: path.write_bytes(b"other"), "was changed while it was read"),
        (lambda path: os.truncate(path, 20), "was changed while it was read"),
        (lambda path: path.with_name("b").replace(path), "was changed while it was read"),
    ],
    ids=["removed", "overwritten", "grown", "replaced"],
)
def test_what_was_read_of_a_file_that_did_not_stay_as_it_was_is_thrown_away(
    tmp_path: Path, happens: Callable[[Path], object], reason: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"as it was")
    path.with_name("b").write_bytes(b"as it was")
    with pytest.raises(UnusableVideo, match=reason), unchanged(path):
        happens(path)


def test_a_file_that_overruns_its_time_is_named_whatever_it_is_called(
    good: hostile.Goods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no suffix").write_bytes(good.mp4)
    assert len(find_videos(tmp_path).videos) == 1
    stopped = [worker.process for worker in pool._idle]
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(find, "PATIENCE_S", 0.05)
    (skipped,) = find_videos(tmp_path).skipped
    assert (skipped.path, skipped.reason) == ("no suffix", "could not be decoded within 0.05 s")
    monkeypatch.undo()
    for process in stopped:
        process.kill()
    assert len(find_videos(tmp_path).videos) == 1


def test_this_process_opens_none_of_them(
    good: hostile.Goods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_here: list[str] = []

    def recording(opening: Callable[..., Any]) -> Callable[..., Any]:
        def record(path: Any, *args: Any, **more: Any) -> Any:
            opened_here.append(str(path))
            return opening(path, *args, **more)

        return record

    (tmp_path / "a.mp4").write_bytes(good.mp4)
    for module in (av, io, os):
        monkeypatch.setattr(module, "open", recording(module.open))
    (tmp_path / "a.mp4").read_bytes()
    assert opened_here.pop() == str(tmp_path / "a.mp4")
    found = find_videos(tmp_path)
    seen = asyncio.run(look(tmp_path, found.videos, tmp_path / "cache"))
    assert isinstance(seen["a.mp4"], VideoFrames)
    assert not [path for path in opened_here if "a.mp4" in path or "fd:" in path]


def test_whatever_else_goes_wrong_in_a_worker_costs_the_video_alone() -> None:
    reply = reply_to(b'{"want": "what nobody knows"}').decode()
    assert re.search(r"brought the decoder down \(KeyError, worker.py:\d+\)", reply)
    assert DecoderLost.__name__ in reply


@linux
def test_workers_have_little_room_and_leave_no_dumps(good: hostile.Goods, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(good.mp4)
    find_videos(tmp_path)
    limits = Path(f"/proc/{pool._idle[0].process.pid}/limits").read_text()
    bounds = dict(re.findall(r"^Max ([a-z ]+?) {2,}(\d+) ", limits, re.MULTILINE))
    assert bounds["core file size"] == "0"
    assert int(bounds["data size"]) < 1 << 30
    assert int(bounds["open files"]) <= 256


@linux
def test_more_memory_than_that_is_an_error_and_no_crash() -> None:
    code = (
        "from videoautoarena.video.workers.pool import confine;confine(1 << 28); bytearray(1 << 29)"
    )
    ended = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1] == "MemoryError"


@pytest.mark.slow
def test_files_of_gigabytes_with_nothing_in_them(good: hostile.Goods, tmp_path: Path) -> None:
    for name, start, size in (("hollow.mp4", b"", 1 << 30), ("tail.mp4", good.faststart, 2 << 30)):
        (tmp_path / name).write_bytes(start)
        os.truncate(tmp_path / name, size)
    found = find_videos(tmp_path)
    (hollow,) = found.skipped
    assert hollow.path == "hollow.mp4"
    assert "nothing but zeros" in hollow.reason
    assert [video.path for video in found.videos] == ["tail.mp4"]


@linux
@pytest.mark.slow
def test_large_pictures_in_a_small_file_stay_within_the_memory(tmp_path: Path) -> None:
    heavy.write_large_pictures(tmp_path / "bomb.mov", side_px=8000, count=3)
    pool.dismiss()
    (video,) = find_videos(tmp_path).videos
    asyncio.run(look(tmp_path, [video], tmp_path / "cache"))
    assert max(peaks(), default=0) < 1 << 30


@pytest.mark.slow
def test_a_file_of_endless_frames_ends_at_its_deadline(
    good: hostile.Goods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.mp4").write_bytes(heavy.many_frames(good.mp4, 600_000))
    (tmp_path / "b.mp4").write_bytes(good.mp4)
    monkeypatch.setattr(find, "PATIENCE_S", 2.0)
    found = find_videos(tmp_path)
    assert [video.path for video in found.videos] == ["b.mp4"]
    assert found.skipped[0].reason == "could not be decoded within 2 s"
