"""Decoding in workers: frames come, bad files cost only themselves, nobody is left behind."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.stamped import read_stamp
from videoautoarena.memory.records.errors import BadInput, DecoderLost, FramesChanged, UnusableVideo
from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.workers import pool, worker
from videoautoarena.video.workers.decoders import Decoders

FEW = Sampling(frames=8)


def described(path: Path) -> Video:
    sha256 = sha256_of(path)
    return Video(
        id=sha256[:12],
        sha256=sha256,
        path=path.name,
        size_bytes=path.stat().st_size,
        duration_s=2.0,
        width_px=320,
        height_px=180,
        fps=25.0,
        codec="h264",
    )


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


def test_workers_give_the_frames_that_sampling_gives(clip, tmp_path: Path) -> None:
    paths = [clip("two seconds"), clip("vp9"), clip("h264 in ts")]
    videos = [described(path) for path in paths]

    async def look() -> list[Any]:
        async with Decoders(FrameCache(tmp_path), workers=2) as decoders:
            asked = (decoders.frames(p, v, FEW) for p, v in zip(paths, videos, strict=True))
            return await asyncio.gather(*asked)

    assert run(look()) == [
        sample(path, sampling=FEW, video=video.id).frames
        for path, video in zip(paths, videos, strict=True)
    ]


def test_a_second_look_needs_no_decoder(clip, tmp_path: Path) -> None:
    video = described(clip("two seconds"))
    FrameCache(tmp_path).put(
        video.sha256, FEW, sample(clip("two seconds"), sampling=FEW, video=video.id)
    )

    async def look() -> list[bytes]:
        async with Decoders(FrameCache(tmp_path)) as decoders:
            frames = await decoders.frames(Path("gone.mp4"), video, FEW)
            digests = [frame.digest for frame in frames.frames[::-1]]
            return await decoders.jpegs(Path("gone.mp4"), video, sampling=FEW, digests=digests)

    assert [read_stamp(jpeg) for jpeg in run(look())] == [49, 42, 35, 28, 21, 14, 7, 0]


def test_lost_pictures_are_made_again(clip, tmp_path: Path) -> None:
    path = clip("two seconds")
    cache = FrameCache(tmp_path)
    video = described(path)
    sampled = sample(path, sampling=FEW, video=video.id)
    digests = [frame.digest for frame in sampled.frames.frames]

    async def look() -> list[bytes]:
        async with Decoders(cache, workers=1) as decoders:
            return await decoders.jpegs(path, video, sampling=FEW, digests=digests)

    assert run(look()) == list(sampled.jpegs)


def test_pictures_no_decoder_gives_are_said_to_have_changed(clip, tmp_path: Path) -> None:
    path = clip("two seconds")

    async def look() -> None:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            await decoders.jpegs(path, described(path), sampling=FEW, digests=["0" * 64])

    with pytest.raises(FramesChanged, match="no longer gives the frames"):
        run(look())


def test_a_file_that_has_changed_is_not_decoded(clip, tmp_path: Path) -> None:
    video = described(clip("vp9"))

    async def look() -> None:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            await decoders.frames(clip("two seconds"), video, FEW)

    with pytest.raises(UnusableVideo, match="has changed since it was found"):
        run(look())


def test_a_cache_that_cannot_be_written_is_bad_input(clip, tmp_path: Path) -> None:
    path = clip("two seconds")
    (tmp_path / "file").touch()

    async def look() -> None:
        async with Decoders(FrameCache(tmp_path / "file"), workers=1) as decoders:
            await decoders.frames(path, described(path), FEW)

    with pytest.raises(BadInput, match="cannot be written"):
        run(look())


@pytest.fixture
def lone() -> Iterator[None]:
    """Let one worker at most be there: whoever is asked is that one, or new."""
    for extra in pool._idle[1:]:
        pool._idle.remove(extra)
        extra.end()
    yield
    for left in pool._idle:
        os.kill(left.process.pid, signal.SIGCONT)


def idle_worker() -> int:
    (worker,) = pool._idle
    return worker.process.pid


@pytest.mark.usefixtures("lone")
def test_a_video_past_its_deadline_costs_only_itself(clip, tmp_path: Path) -> None:
    path = clip("two seconds")

    async def look() -> int:
        async with Decoders(FrameCache(tmp_path), workers=1, deadline_s=0.05) as decoders:
            pool.ask("clock", {"path": os.fspath(path)}, deadline_s=60.0)
            os.kill(idle_worker(), signal.SIGSTOP)
            with pytest.raises(DecoderLost, match=r"within 0\.05 s"):
                await decoders.frames(path, described(path), FEW)
            decoders._deadline_s = 60.0
            return len((await decoders.frames(path, described(path), FEW)).frames)

    assert run(look()) == 8


@pytest.mark.usefixtures("lone")
def test_what_a_worker_dies_of_is_asked_of_a_new_one(clip, tmp_path: Path) -> None:
    path = clip("two seconds")

    async def look() -> int:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            await decoders.frames(path, described(path), FEW)
            victim = idle_worker()
            os.kill(victim, signal.SIGSTOP)
            stuck = asyncio.create_task(decoders.frames(clip("vp9"), described(clip("vp9")), FEW))
            while pool._idle:
                await asyncio.sleep(0)
            os.kill(victim, signal.SIGKILL)
            return len((await stuck).frames)

    assert run(look()) == 8


def test_of_a_new_worker_nobody_says_that_it_is_worn(clip) -> None:
    asked = {"path": os.fspath(clip("two seconds"))}
    worker = pool.DecodingWorker()
    worker._await_start()
    os.kill(worker.process.pid, signal.SIGKILL)
    with pytest.raises(DecoderLost, match="brought the decoder down") as lost:
        worker.ask("clock", asked, deadline_s=60)
    assert not isinstance(lost.value, pool.WornWorker)


@pytest.mark.usefixtures("lone")
def test_a_worker_that_died_idle_is_replaced(clip, tmp_path: Path) -> None:
    path = clip("two seconds")

    async def look() -> bool:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            await decoders.frames(path, described(path), FEW)
            dead = idle_worker()
            pool._idle[0].kill()
            await decoders.frames(path, described(path), Sampling(frames=4))
            return idle_worker() != dead

    assert run(look())


@pytest.mark.usefixtures("lone")
def test_giving_up_in_the_middle_leaves_no_process(clip, tmp_path: Path) -> None:
    path = clip("two seconds")

    async def look() -> int:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            await decoders.frames(path, described(path), FEW)
            victim = idle_worker()
            os.kill(victim, signal.SIGSTOP)
            stuck = asyncio.create_task(decoders.frames(clip("vp9"), described(clip("vp9")), FEW))
            while pool._idle:
                await asyncio.sleep(0)
            stuck.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stuck
            return victim

    with pytest.raises(ProcessLookupError):
        os.kill(run(look()), 0)


@pytest.mark.usefixtures("lone")
def test_workers_leave_ctrl_c_to_the_parent(clip, tmp_path: Path) -> None:
    path = clip("two seconds")

    async def look() -> None:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            await decoders.frames(path, described(path), FEW)
            before = idle_worker()
            os.kill(before, signal.SIGINT)
            await decoders.frames(path, described(path), Sampling(frames=4))
            assert idle_worker() == before

    run(look())


@pytest.mark.usefixtures("lone")
def test_one_decode_serves_all_who_ask_at_once(clip, tmp_path: Path) -> None:
    path = clip("two seconds")

    async def look() -> int:
        async with Decoders(FrameCache(tmp_path), workers=2) as decoders:
            asked = (decoders.frames(path, described(path), FEW) for _ in range(5))
            assert len(set(await asyncio.gather(*asked))) == 1
            return len(pool._idle)

    assert run(look()) == 1


def request(path: Path, sha256: str, cache: Path) -> bytes:
    how = {"sampling": {"frames": 4}, "cache": str(cache)}
    ask = {"want": "frames", "path": str(path), "sha256": sha256, **how}
    return json.dumps(ask).encode() + b"\n"


def test_a_worker_answers_line_by_line(clip, tmp_path: Path) -> None:
    path = clip("two seconds")
    asked = request(path, sha256_of(path), tmp_path) + request(tmp_path / "gone", "0", tmp_path)
    replies = io.BytesIO()
    worker.serve(io.BytesIO(asked), replies)
    good, bad = map(json.loads, replies.getvalue().splitlines())
    assert len(good["frames"]["frames"]) == 4
    assert bad == {"UnusableVideo": "is not there any more"}


def test_a_worker_whose_parent_is_gone_ends_in_silence(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    requests = io.BytesIO(request(tmp_path / "gone", "0", tmp_path) * 2)
    with os.fdopen(writer, "wb", buffering=0) as replies:
        worker.serve(requests, replies)
    assert requests.readline()  # it stopped at the first reply that nobody took


def test_found_videos_can_be_looked_at_as_they_are(clip, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"odd \xff name")
    folder.mkdir()
    (folder / "a.mp4").write_bytes(clip("two seconds").read_bytes())
    (video,) = find_videos(folder).videos

    async def look() -> int:
        async with Decoders(FrameCache(folder / "cache"), workers=1) as decoders:
            return len((await decoders.frames(folder / video.path, video, FEW)).frames)

    assert run(look()) == 8


def test_frames_that_are_cleared_away_before_they_are_read_are_made_again(
    clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = clip("two seconds")
    video = described(path)
    read = FrameCache.jpegs
    left = [3]

    def cleared(self: FrameCache, *asked: Any) -> list[bytes]:
        if left[0]:
            left[0] -= 1
            for entry in self.entries():
                entry.path.unlink()
        return read(self, *asked)

    monkeypatch.setattr(FrameCache, "jpegs", cleared)

    async def look() -> list[bytes]:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            frames = await decoders.frames(path, video, FEW)
            digests = [frame.digest for frame in frames.frames]
            return await decoders.jpegs(path, video, sampling=FEW, digests=digests)

    assert len(run(look())) == 8
    assert left == [0]


class Quick:
    """A worker that has answered before anybody listens."""

    def __init__(self) -> None:
        self.has_answered = threading.Event()
        self.ways = list[str]()

    def ask(self, _want: str, _fields: object, *, deadline_s: float) -> dict[str, Any]:
        assert deadline_s > 0
        self.has_answered.set()
        return {}

    def kill(self) -> None:
        self.ways.append("killed")

    def end(self) -> None:
        self.ways.append("ended")


def test_a_worker_that_answers_somebody_who_gave_up_is_ended_and_its_pipes_closed() -> None:
    quick = Quick()

    async def give_up() -> None:
        async with Decoders(FrameCache()) as decoders:
            asked = decoders._ask(
                cast("pool.DecodingWorker", quick), want="frames", fields={}, deadline_s=1.0
            )
            task = asyncio.create_task(asked)
            await asyncio.sleep(0)
            # The loop stands still until then, and hears of the cancelling first.
            assert quick.has_answered.wait(10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(give_up())
    assert quick.ways == ["killed", "ended"]
