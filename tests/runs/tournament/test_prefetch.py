"""Decoding ahead: in the order of the turns, never far, and nothing is different for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_clip
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.tournament.schedule import AHEAD, Ahead
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

VIDEOS = [f"v{number}" for number in range(3 * AHEAD)]


class Reel:
    """Notes what is decoded; lets everything else go on in between."""

    def __init__(self, broken: str = "") -> None:
        self.decoded: list[str] = []
        self._broken = broken

    async def decode(self, video: str) -> None:
        await asyncio.sleep(0)
        self.decoded.append(video)
        if video == self._broken:
            raise UnusableVideo("is damaged")


async def settle() -> None:
    for _ in range(8 * AHEAD):
        await asyncio.sleep(0)


def watched(
    play: Callable[[Ahead], Coroutine[Any, Any, None]],
    *,
    broken: str = "",
    is_over: Callable[[], bool] = lambda: False,
) -> list[str]:
    """Return what was decoded ahead while `play` noted turns."""
    reel = Reel(broken)

    async def whole() -> None:
        ahead = Ahead(reel.decode)
        async with ahead.over(VIDEOS, is_over):
            await settle()
            await play(ahead)
            await settle()

    asyncio.run(whole())
    return reel.decoded


async def first_turn(ahead: Ahead) -> None:
    ahead.note("v0")


async def no_turn(_ahead: Ahead) -> None:
    """Let nobody's turn come."""


def test_a_block_beyond_the_furthest_turn_is_decoded_in_order() -> None:
    assert watched(first_turn) == VIDEOS[1 : 1 + AHEAD]


def test_nothing_is_decoded_before_the_first_turn() -> None:
    assert watched(no_turn) == []


def test_it_follows_the_turns_and_passes_over_what_they_decode_themselves() -> None:
    async def far(ahead: Ahead) -> None:
        for video in reversed(VIDEOS[: AHEAD + 1]):
            ahead.note(video)

    assert watched(far) == VIDEOS[AHEAD + 1 : 2 * AHEAD + 1]


def test_it_ends_with_the_last_video() -> None:
    async def all_but_one(ahead: Ahead) -> None:
        ahead.note(VIDEOS[-2])

    assert watched(all_but_one) == VIDEOS[-1:]


def test_a_video_that_is_none_does_not_keep_it_from_the_next() -> None:
    assert watched(first_turn, broken="v1") == VIDEOS[1 : 1 + AHEAD]


def test_once_nothing_more_is_needed_nothing_is_decoded() -> None:
    assert watched(first_turn, is_over=lambda: True) == []


def test_a_video_that_is_no_part_of_it_moves_nothing() -> None:
    async def foreign(ahead: Ahead) -> None:
        ahead.note("another")

    assert watched(foreign) == []


def test_whoever_leaves_does_not_wait_for_a_decode_under_way() -> None:
    async def whole() -> bool:
        begun = asyncio.Event()

        async def forever(_video: str) -> None:
            begun.set()
            await asyncio.Event().wait()

        ahead = Ahead(forever)
        async with ahead.over(VIDEOS, lambda: False):
            ahead.note("v0")
            await begun.wait()
        return len(asyncio.all_tasks()) == 1

    assert asyncio.run(whole())


def test_a_bug_in_it_is_not_lost() -> None:
    async def whole() -> None:
        async def wrong(_video: str) -> None:
            raise ZeroDivisionError

        ahead = Ahead(wrong)
        async with ahead.over(VIDEOS, lambda: False):
            ahead.note("v0")
            await settle()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(whole())


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    folder = tmp_path / "videos"
    folder.mkdir()
    draw_clip(folder / "clip.mp4", 1, seconds=3)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    manifest = resolve(RunRequest()).config.manifest("0", PromptSet.load(None).digests)
    with Store.create(tmp_path / "run.sqlite", manifest) as store:
        yield store


def reel_of(store: Store, decoders: Decoders, folder: Path) -> tuple[RunFrames, str]:
    """Return the footage of the one video in a folder, and its id."""
    (video,) = find_videos(folder).videos
    sampling = resolve(RunRequest()).config.sampling
    files = {video.id: folder / video.path}
    store.add_videos([video])
    run_frames = RunFrames(
        store, decoders, files=files, sampling=sampling, videos={video.id: video}
    )
    return run_frames, video.id


def test_foreseen_frames_need_no_file_when_their_turn_comes(
    store: Store, videos: Path, tmp_path: Path
) -> None:
    async def whole() -> None:
        async with Decoders(FrameCache(tmp_path / "cache")) as decoders:
            run_frames, video = reel_of(store, decoders, videos)
            await run_frames.foresee(video)
            assert not run_frames.has(video)
            (videos / "clip.mp4").unlink()
            frames = await run_frames.frames(video)
            assert run_frames.has(video)
            assert await run_frames.jpegs(video, [frames.frames[0].digest])

    asyncio.run(whole())


def test_what_is_wrong_with_a_foreseen_video_is_told_at_its_turn(
    store: Store, videos: Path, tmp_path: Path
) -> None:
    async def whole() -> None:
        async with Decoders(FrameCache(tmp_path / "cache")) as decoders:
            run_frames, video = reel_of(store, decoders, videos)
            os.rename(videos / "clip.mp4", tmp_path / "aside.mp4")
            await run_frames.foresee(video)
            assert not run_frames.is_quarantined(video)
            os.rename(tmp_path / "aside.mp4", videos / "clip.mp4")
            with pytest.raises(UnusableVideo, match="is not there"):
                await run_frames.frames(video)
            assert run_frames.is_quarantined(video)

    asyncio.run(whole())
