"""Frames of some stretches of a video: on their own clock, kept in the run, sent by their id."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.clips import draw_clip
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Cue, Sampling, Subtitles, VideoFrames
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.frames import RunFrames, spoken_in
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

SPANS = ((1.0, 2.0), (4.0, 5.5))
SAMPLING = Sampling(frames=8, size_px=64)


async def seen(folder: Path, store: Store, *, decode: bool) -> tuple[VideoFrames, list[bytes]]:
    [video] = find_videos(folder).videos
    if decode:
        store.add_videos([video])
    async with Decoders(FrameCache()) as decoders:
        run_frames = RunFrames(
            store,
            decoders if decode else None,
            files={video.id: folder / video.path},
            sampling=SAMPLING,
            videos={video.id: video},
        )
        frames = await run_frames.frames(video.id, SPANS)
        assert run_frames.has(video.id, SPANS)
        assert not run_frames.has(video.id)
        wanted = [frame.digest for frame in frames.frames]
        return frames, await run_frames.jpegs(frames.video, wanted) if decode else []


def test_frames_of_a_part_are_on_its_own_clock_and_known_again_without_the_video(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    draw_clip(folder / "clip.mp4", 1)
    with Store.create(tmp_path / "calls.sqlite", {"schema": 1}) as store:
        frames, jpegs = asyncio.run(seen(folder, store, decode=True))
        assert frames.frames[0].time_s == 0.0
        # The gap between the stretches is kept, and nothing of it is shown.
        times = [frame.time_s for frame in frames.frames]
        assert not [time_s for time_s in times if 1.0 <= time_s < 3.0]
        assert 3.0 < times[-1] < 4.5
        assert [digest(jpeg) for jpeg in jpegs] == [frame.digest for frame in frames.frames]
        again, _ = asyncio.run(seen(folder, store, decode=False))
        assert again == frames


def test_a_stretch_behind_the_end_costs_nothing_but_itself(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    draw_clip(folder / "clip.mp4", 1)
    [video] = find_videos(folder).videos

    async def look(store: Store) -> VideoFrames:
        async with Decoders(FrameCache()) as decoders:
            run_frames = RunFrames(
                store,
                decoders,
                files={video.id: folder / video.path},
                sampling=SAMPLING,
                videos={video.id: video},
            )
            with pytest.raises(UnusableVideo, match="has no stretch from 90 s"):
                await run_frames.frames(video.id, [(90.0, 91.0)])
            return await run_frames.frames(video.id)

    with Store.create(tmp_path / "calls.sqlite", {"schema": 1}) as store:
        store.add_videos([video])
        assert len(asyncio.run(look(store)).frames) == SAMPLING.frames


def test_a_preset_keeps_its_frames_apart_from_the_usual_ones(tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    draw_clip(folder / "clip.mp4", 1)
    [video] = find_videos(folder).videos
    looks = {None: SAMPLING, "paper": SAMPLING.model_copy(update={"frames": 4, "size_px": 32})}

    async def look(store: Store, preset: str | None, *, decode: bool) -> list[VideoFrames]:
        async with Decoders(FrameCache()) as decoders:
            run_frames = RunFrames(
                store,
                decoders if decode else None,
                files={video.id: folder / video.path},
                sampling=looks[preset],
                videos={video.id: video},
                preset=preset,
            )
            return [await run_frames.frames(video.id, spans) for spans in ((), SPANS)]

    with Store.create(tmp_path / "calls.sqlite", {"schema": 1}) as store:
        store.add_videos([video])
        found = {p: asyncio.run(look(store, p, decode=True)) for p in looks}
        assert [len(one.frames) for one in found[None]] == [8, 8]
        assert [(len(one.frames), one.width_px) for one in found["paper"]] == [(4, 32), (4, 32)]
        assert len({one.video for known in found.values() for one in known}) == 4
        for preset, known in found.items():
            assert asyncio.run(look(store, preset, decode=False)) == known


def test_a_video_that_gives_no_frames_is_known_by_that_whatever_part_was_wanted(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    draw_clip(folder / "clip.mp4", 1)
    [video] = find_videos(folder).videos
    (folder / video.path).write_bytes(b"no video")

    async def look(store: Store) -> bool:
        async with Decoders(FrameCache()) as decoders:
            run_frames = RunFrames(
                store,
                decoders,
                files={video.id: folder / video.path},
                sampling=SAMPLING,
                videos={video.id: video},
            )
            with pytest.raises(UnusableVideo):
                await run_frames.frames(video.id, SPANS)
            return run_frames.is_quarantined(video.id)

    with Store.create(tmp_path / "calls.sqlite", {"schema": 1}) as store:
        store.add_videos([video])
        assert asyncio.run(look(store))


def test_subtitles_of_a_part_are_those_said_in_it_on_its_clock() -> None:
    cues = tuple(Cue(start_s=at, end_s=at + 1, text=f"{at:g}") for at in (0.5, 2.5, 4.2, 7.0))
    said = Subtitles(path="a.srt", sha256="0" * 64, code="0" * 16, cues=cues)
    found = spoken_in(said, SPANS)
    assert found is not None
    assert [(cue.text, cue.start_s, round(cue.end_s, 3)) for cue in found.cues] == [
        ("0.5", 0.0, 0.5),
        ("4.2", 3.2, 4.2),
    ]
    assert spoken_in(said, [(5.4, 6.9)]) is None
    # What ends with the scene before is said in that one.
    assert spoken_in(said, [(1.5, 2.5)]) is None
    assert spoken_in(said, [(3.5, 4.2)]) is None
