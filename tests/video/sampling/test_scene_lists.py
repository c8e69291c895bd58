"""Scenes on disk: found once, told again, and never believed when they are damaged."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clips import draw_clip
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.folder.find import read_video
from videoautoarena.video.sampling.cache import FrameCache, found_scenes, keep_scenes, kept_scenes
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.sampling.scenes import SceneSpan
from videoautoarena.video.workers.decoders import Decoders
from videoautoarena.video.workers.worker import decode_into_cache

SHA = "ab" * 32


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", seed=3)


def ask(clip: Path, folder: Path, *, later_s: float = 0.0, **changed: Any) -> tuple[SceneSpan, ...]:
    """Return what a worker says of the clip's scenes where all else has no time at all."""
    video = read_video(clip.parent, clip.name).model_copy(update={"duration_s": later_s, **changed})
    deadline_s = 1e-6 if later_s else 300.0

    async def whole() -> tuple[SceneSpan, ...]:
        async with Decoders(FrameCache(folder), workers=1, deadline_s=deadline_s) as decoders:
            return await decoders.scenes(clip, video)

    return asyncio.run(whole())


def listed(folder: Path) -> Path:
    (file,) = folder.rglob("*.scenes")
    return file


def test_a_worker_finds_the_scenes_and_the_next_one_is_not_asked(
    clip: Path, tmp_path: Path
) -> None:
    found = ask(clip, tmp_path)
    assert len(found) == 3
    # What is kept is told: these are not the clip's, so nobody has looked again.
    keep_scenes(tmp_path, sha256_of(clip), [SceneSpan(0, 1), SceneSpan(1, 6)])
    assert ask(clip, tmp_path) == ((0, 1), (1, 6))


def test_a_long_video_has_more_time_for_its_scenes(clip: Path, tmp_path: Path) -> None:
    # Long enough that no worker is done before whoever waits for it looks at the clock.
    long = draw_clip(tmp_path / "long.mp4", seed=3, seconds=20.0)
    with pytest.raises(UnusableVideo, match="within"):
        ask(long, tmp_path, later_s=1e-6)
    assert len(ask(clip, tmp_path, later_s=300.0)) == 3


def test_frames_go_by_the_scenes_that_were_kept(clip: Path, tmp_path: Path) -> None:
    sha256 = sha256_of(clip)
    index = read_index(clip)
    cache = FrameCache(tmp_path)
    by_scenes = Sampling(policy="scenes", frames=3)
    # Not the clip's: one long scene and a last one of a single frame.
    keep_scenes(tmp_path, sha256, [SceneSpan(0, 5.8), SceneSpan(5.8, index.duration_s)])
    kept = decode_into_cache(clip, sha256, sampling=by_scenes, cache=cache).frames
    assert kept != sample(clip, sampling=by_scenes).frames.frames
    assert read_index(clip).seconds(index.shown[-1]) == pytest.approx(kept[-1].time_s, abs=0.01)


def test_scenes_of_other_bytes_than_were_asked_for_are_refused(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(UnusableVideo, match="has changed"):
        ask(clip, tmp_path, sha256=SHA)


def test_a_list_of_another_length_than_the_video_is_made_anew(clip: Path, tmp_path: Path) -> None:
    index = read_index(clip)
    keep_scenes(tmp_path, SHA, [SceneSpan(0, 99)])
    assert found_scenes(clip, index, sha256=SHA, folder=tmp_path)[-1].end_s == index.duration_s
    assert kept_scenes(tmp_path, SHA) == found_scenes(clip, index, sha256=SHA, folder=tmp_path)


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=20, unique=True).map(sorted))
@settings(max_examples=20)
def test_what_was_kept_comes_back_to_the_last_digit(
    tmp_path_factory: pytest.TempPathFactory, ends: list[float]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "digits"
    scenes = tuple(SceneSpan(*two) for two in zip([0.0, *ends], ends, strict=False))
    keep_scenes(folder, SHA, scenes)
    assert kept_scenes(folder, SHA) == scenes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        '"ab"',
        "[[0]]",
        '[["a", "b"]]',
        "[[1, 2]]",
        "[[0, 2], [3, 4]]",
        "[[0, 2], [2, 2]]",
        "[[0, NaN]]",
        "[[0, Infinity]]",
        "[[0, null]]",
    ],
)
def test_a_damaged_list_counts_as_none(tmp_path: Path, text: str) -> None:
    keep_scenes(tmp_path, SHA, [SceneSpan(0, 1)])
    listed(tmp_path).write_text(text)
    assert kept_scenes(tmp_path, SHA) is None


def test_a_list_holds_nothing_but_times(tmp_path: Path) -> None:
    keep_scenes(tmp_path, SHA, [SceneSpan(0, 1.5)])
    assert json.loads(listed(tmp_path).read_text()) == [[0, 1.5]]
    assert not list(tmp_path.rglob("*.part"))


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="XDG_CACHE_HOME"):
        keep_scenes(tmp_path / "file", SHA, [SceneSpan(0, 1)])
