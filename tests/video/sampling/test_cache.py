"""The frame cache: what was put comes back byte for byte, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Frame, Sampling, VideoFrames
from videoautoarena.video.sampling.cache import FrameCache, NotCached, default_folder, how_sampled
from videoautoarena.video.sampling.policies import EARLIER, SAMPLER, Sampled

SHA = digest("a video")
SAMPLING = Sampling()
_FIRST = {"fit": "keep", "frames": 128, "quality": 85, "size_px": 512}
"""Its settings when there were no others."""


def sampled(*jpegs: bytes) -> Sampled:
    frames = tuple(Frame(time_s=float(i), digest=digest(j)) for i, j in enumerate(jpegs))
    return Sampled(VideoFrames(video=SHA[:12], width_px=4, height_px=2, frames=frames), jpegs)


THREE = sampled(b"one", b"two", b"one")


@pytest.fixture
def cache(tmp_path: Path) -> FrameCache:
    cache = FrameCache(tmp_path / "frames")
    cache.put(SHA, SAMPLING, THREE)
    return cache


def entry_of(cache: FrameCache) -> Path:
    (path,) = (path for path in cache.folder.rglob("*") if path.is_file())
    return path


def test_frames_come_back_as_they_were_put(cache: FrameCache) -> None:
    assert cache.get(SHA, SAMPLING) == THREE.frames
    wanted = [digest(b"two"), digest(b"one")]
    assert cache.jpegs(SHA, SAMPLING, wanted) == [b"two", b"one"]


def test_equal_pictures_are_kept_once(cache: FrameCache) -> None:
    assert entry_of(cache).read_bytes().count(b"one") == 1


@pytest.mark.parametrize(
    "sampling",
    [
        *(Sampling(frames=64), Sampling(quality=80), Sampling(fit="stretch")),
        *(Sampling(policy="fps", fps=1.0), Sampling(decoder="decord")),
    ],
)
def test_another_sampling_is_another_entry(cache: FrameCache, sampling: Sampling) -> None:
    assert cache.get(SHA, sampling) is None


def test_a_setting_as_it_was_before_there_was_one_makes_no_other_entry(cache: FrameCache) -> None:
    how = digest(canonical_json([SAMPLER, _FIRST]))[:16]
    assert entry_of(cache).name == f"{SHA}-{how}.frames"


def test_another_version_of_the_sampler_looks_for_other_entries(
    cache: FrameCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("videoautoarena.video.sampling.cache.SAMPLER", "another")
    assert cache.get(SHA, SAMPLING) is None


def test_what_an_earlier_version_kept_is_good_to_a_run_that_has_shown_it_and_to_no_other(
    cache: FrameCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("videoautoarena.video.sampling.cache.SAMPLER", EARLIER[0])
    cache.put(digest("old"), SAMPLING, THREE)
    monkeypatch.undo()
    assert cache.get(digest("old"), SAMPLING) is None
    assert cache.jpegs(digest("old"), SAMPLING, [digest(b"two")]) == [b"two"]


def test_what_was_kept_beside_text_that_was_read_is_good_to_the_run_that_has_shown_it(
    cache: FrameCache,
) -> None:
    read = SAMPLING.model_copy(update={"ocr": True})
    how = [SAMPLER, {**_FIRST, "ocr": True}]
    plain = entry_of(cache)
    plain.rename(plain.with_name(f"{SHA}-{digest(canonical_json(how))[:16]}.frames"))
    assert cache.jpegs(SHA, read, [digest(b"two")]) == [b"two"]
    assert cache.get(SHA, read) is None
    with pytest.raises(NotCached):
        cache.jpegs(SHA, SAMPLING, [digest(b"two")])


def test_what_is_kept_now_never_stands_where_text_that_was_read_belongs(cache: FrameCache) -> None:
    read = SAMPLING.model_copy(update={"ocr": True})
    cache.put(SHA, read, THREE)
    assert entry_of(cache).name == f"{SHA}-{how_sampled(SAMPLING)}.frames"
    assert cache.jpegs(SHA, read, [digest(b"one")]) == [b"one"]


def test_another_video_is_another_entry(cache: FrameCache) -> None:
    assert cache.get(digest("another"), SAMPLING) is None
    with pytest.raises(NotCached):
        cache.jpegs(digest("another"), SAMPLING, [])


def test_a_digest_that_was_never_put_is_not_cached(cache: FrameCache) -> None:
    with pytest.raises(NotCached):
        cache.jpegs(SHA, SAMPLING, [digest(b"three")])


def test_any_changed_byte_is_noticed_and_the_entry_removed(cache: FrameCache) -> None:
    path = entry_of(cache)
    good = path.read_bytes()
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert cache.get(SHA, SAMPLING) is None
        assert not path.exists()


def test_any_cut_is_noticed(cache: FrameCache) -> None:
    path = entry_of(cache)
    good = path.read_bytes()
    for length in range(len(good)):
        path.write_bytes(good[:length])
        assert cache.get(SHA, SAMPLING) is None


def test_a_damaged_entry_is_made_good_by_the_next_put(cache: FrameCache) -> None:
    entry_of(cache).write_bytes(b"")
    cache.put(SHA, SAMPLING, THREE)
    assert cache.get(SHA, SAMPLING) == THREE.frames


def test_many_writers_leave_one_whole_entry(cache: FrameCache) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: cache.put(SHA, SAMPLING, THREE), range(64)))
    assert entry_of(cache)
    assert cache.get(SHA, SAMPLING) == THREE.frames


def test_a_failed_write_leaves_nothing(cache: FrameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(BadInput, match="cannot be written: No space left on device"):
        cache.put(SHA, Sampling(frames=2), THREE)
    assert entry_of(cache)


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        FrameCache(tmp_path / "file").put(SHA, SAMPLING, THREE)


def test_frames_are_kept_where_xdg_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setenv: Callable[[str, str], None] = monkeypatch.setenv
    setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "videoautoarena" / "frames"
    setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert default_folder() == Path.home() / ".cache" / "videoautoarena" / "frames"
    assert FrameCache().folder == default_folder()


def test_the_oldest_entries_are_pruned_and_the_latest_stay(tmp_path: Path) -> None:
    cache = FrameCache(tmp_path)
    shas = [digest(f"video {number}") for number in range(4)]
    for number, sha in enumerate(shas):
        cache.put(sha, SAMPLING, THREE)
        [path] = tmp_path.glob(f"*/{sha}*")
        os.utime(path, ns=(number, number))
    size = cache.size()[1] // 4
    cache.prune(2 * size, idle_s=0.0)
    assert [cache.get(sha, SAMPLING) is not None for sha in shas] == [False, False, True, True]
    cache.prune(0, idle_s=0.0)
    assert cache.size() == (0, 0)
