"""Room to decode in: large videos fit whatever the machine and whatever was decoded before."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import av
import numpy as np
import pytest

from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.container import opened, sha256_of
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.workers import pool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
FEW = Sampling(frames=4)
Find = Callable[[str], Path]
UHD = (3840, 2160)
STARVED = """
import sys
from pathlib import Path
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.workers.pool import confine
from videoautoarena.video.sampling.policies import sample
confine(int(sys.argv[2]) << 20)
try:
    sample(Path(sys.argv[1]), sampling=Sampling(frames=4))
except MemoryError:
    print("lacks memory")
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("large") / "4k.mp4", UHD, count=2)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of whole pictures; the decoder of H.264 hides that it lacks memory."""
    path = tmp_path_factory.mktemp("studio") / "4k.mov"
    return write(path, UHD, count=3, codec="prores_ks", pixels="yuv422p10le")


@pytest.fixture
def worker() -> Iterator[pool.DecodingWorker]:
    one = pool.DecodingWorker()
    yield one
    one.end()


def grey(size: tuple[int, int], number: int) -> av.VideoFrame:
    frame = av.VideoFrame(*size, "yuv420p")
    for plane, value in zip(frame.planes, (40 * number, 128, 128), strict=True):
        plane.update(bytes([value]) * plane.buffer_size)
    return frame


def noise(size: tuple[int, int], number: int) -> av.VideoFrame:
    """Return coarse noise that moves."""
    width, height = size
    tiles = np.random.default_rng(1).integers(0, 255, (height // 16, width // 16 + 99), np.uint8)
    moved = tiles[:, number : number + width // 16].repeat(16, 0).repeat(16, 1)
    return av.VideoFrame.from_ndarray(np.ascontiguousarray(moved), "gray").reformat(
        format="yuv420p"
    )


def write(
    path: Path,
    size: tuple[int, int],
    *,
    count: int = 4,
    codec: str = "libx264",
    pixels: str = "yuv420p",
    picture: Callable[[tuple[int, int], int], av.VideoFrame] = grey,
) -> Path:
    with av.open(str(path), "w") as output:
        options = {"preset": "ultrafast", "bf": "2"} if codec == "libx264" else {}
        stream = output.add_stream(codec, rate=25, options=options)
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        for number in range(count):
            output.mux(stream.encode(picture(size, number)))
        output.mux(stream.encode())
    return path


def request(path: Path, cache: Path) -> dict[str, Any]:
    return {
        "path": os.fspath(path),
        "sha256": sha256_of(path),
        "sampling": FEW.model_dump(),
        "cache": os.fspath(cache),
    }


def threads_of(worker: pool.DecodingWorker) -> int:
    said = Path(f"/proc/{worker.process.pid}/status").read_text()
    return int(said.split("Threads:")[1].split()[0])


def test_a_worker_starts_no_thread_for_each_core(
    worker: pool.DecodingWorker, clip: Find, tmp_path: Path
) -> None:
    worker.ask("frames", request(clip("two seconds"), tmp_path), deadline_s=60)
    assert threads_of(worker) == 1


def test_one_thread_decodes_a_video_however_large_and_whatever_the_cores(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    with opened(large) as (_, stream):
        stream.codec_context.open()
        assert stream.codec_context.thread_count == 1


def test_no_more_workers_than_fit_into_memory_or_may_run(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = {"SC_PHYS_PAGES": 2 << 20, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", memory.__getitem__)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    assert pool.hands() == 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert pool.hands() == 1


@pytest.mark.slow
def test_a_damaged_large_video_gives_the_same_frames_each_time(tmp_path: Path) -> None:
    path = write(tmp_path / "damaged.mp4", (2560, 1440), count=24, picture=noise)
    data = bytearray(path.read_bytes())
    chance = Random(7)
    for _ in range(30):
        data[chance.randrange(len(data) // 10, len(data) * 9 // 10)] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    seen = [sample(path, sampling=Sampling(frames=24)) for _ in range(2)]
    assert seen[0].frames.damaged
    assert seen[0] == seen[1]


def test_a_worker_holds_little_once_a_large_video_is_done(
    worker: pool.DecodingWorker, large: Path, tmp_path: Path
) -> None:
    reply = worker.ask("frames", request(large, tmp_path), deadline_s=60)
    assert (len(reply["frames"]["frames"]), reply["frames"]["damaged"]) == (2, 0)
    before = worker.held_bytes
    worker.ask("frames", request(large, tmp_path), deadline_s=60)
    assert worker.held_bytes < before + (10 << 20)
    assert worker.held_bytes < 140 << 20


@pytest.mark.slow
@pytest.mark.parametrize("room_mb", [100, 110, 120])
def test_lack_of_memory_is_not_taken_for_damage(studio: Path, room_mb: int) -> None:
    alone = {**os.environ, **pool.ALONE, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", STARVED, os.fspath(studio), str(room_mb)]
    told = subprocess.run(command, env=alone, capture_output=True, text=True, check=False)
    assert told.stdout == "lacks memory\n", told.stderr


@pytest.mark.slow
def test_what_a_worn_worker_has_no_room_for_a_new_one_decodes(
    worker: pool.DecodingWorker, clip: Find, studio: Path, tmp_path: Path
) -> None:
    asked = request(studio, tmp_path)
    worker.ask("frames", request(clip("two seconds"), tmp_path), deadline_s=60)
    room = worker.held_bytes + (40 << 20)
    resource.prlimit(worker.process.pid, resource.RLIMIT_DATA, (room, room))
    with pytest.raises(pool.WornWorker, match="memory"):
        worker.ask("frames", asked, deadline_s=60)
    pool.dismiss()
    pool._idle.append(worker)
    assert len(pool.ask("frames", asked, deadline_s=60)["frames"]["frames"]) == 3
    assert worker in pool._idle
    pool._idle.remove(worker)


class Halves:
    """A worker's process that says half of what it has to say, and the rest once that is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, stop_s: float) -> None:
        self.now_s = 0.0
        self.stop_s = stop_s
        self.looks = 0
        self.line = b"x" * 50_000 + b"\n"
        reader, self._writer = os.pipe()
        self.stdout = os.fdopen(reader, "rb")
        monkeypatch.setattr(pool.select, "poll", lambda: self)
        monkeypatch.setattr(pool.time, "monotonic", lambda: self.now_s)

    def register(self, _handle: int, _events: int) -> None:
        """Have one handle."""

    def poll(self, wait_ms: float) -> list[int]:
        """Return whether something is there, after as long as nothing was."""
        assert wait_ms >= 0
        self.looks += 1
        if self.looks == 3:
            # The process is stopped while it waits; the worker goes on.
            self.now_s += self.stop_s
            os.write(self._writer, self.line[:30_000])
            return [1]
        if self.looks == 5:
            os.write(self._writer, self.line[30_000:])
            return [1]
        self.now_s += wait_ms / 1000
        if self.looks == 20:
            # What comes at the last moment is heard of a moment later.
            self.now_s += 0.001
            os.write(self._writer, b"x")
            return [1]
        return []

    def close(self) -> None:
        """Let go of the pipe."""
        self.stdout.close()
        os.close(self._writer)


@pytest.mark.parametrize("stop_s", [0.0, 75.0])
def test_what_a_worker_said_while_this_process_was_stopped_is_read(
    stop_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Halves(monkeypatch, stop_s=stop_s)
    asked = pool.DecodingWorker.__new__(pool.DecodingWorker)
    monkeypatch.setattr(asked, "process", process, raising=False)
    assert asked._line(8.0) == process.line
    for looks, patience_s in ((10, 8.0), (19, 0.5)):
        process.looks = looks
        with pytest.raises(TimeoutError):
            asked._line(patience_s)
    process.close()
