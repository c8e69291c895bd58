"""What a cache folder holds, and what goes first when it is too much."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Frame, Sampling, VideoFrames
from videoautoarena.video.sampling.cache import (
    LARGEST,
    OLD_S,
    FrameCache,
    said_bytes,
    share_of_disk,
    sweep,
)
from videoautoarena.video.sampling.policies import Sampled

SAMPLING = Sampling()
HOUR_S = 3600.0
SHAS = [digest(f"video {number}") for number in range(4)]


def sampled(size: int = 1000) -> Sampled:
    jpeg = bytes(size)
    frames = (Frame(time_s=0.0, digest=digest(jpeg)),)
    return Sampled(VideoFrames(video="v", width_px=4, height_px=2, frames=frames), (jpeg,))


@pytest.fixture
def cache(tmp_path: Path) -> FrameCache:
    """Four entries, each used an hour after the one before, the last an hour ago."""
    cache = FrameCache(tmp_path / "frames")
    for number, sha in enumerate(SHAS):
        cache.put(sha, SAMPLING, sampled())
        used = time.time() - (len(SHAS) - number) * HOUR_S
        os.utime(cache._path(sha, SAMPLING), (used, used))
    return cache


def held(cache: FrameCache) -> list[str]:
    return [entry.video for entry in cache.entries()]


def ids(*numbers: int) -> list[str]:
    return [SHAS[number][:12] for number in numbers]


def test_what_was_used_longest_ago_goes_first(cache: FrameCache) -> None:
    half = cache.size()[1] // 2
    assert [entry.video for entry in cache.prune(half)] == ids(0, 1)
    assert held(cache) == ids(2, 3)


def test_to_read_an_entry_is_to_use_it(cache: FrameCache) -> None:
    assert cache.get(SHAS[0], SAMPLING)
    assert cache.jpegs(SHAS[1], SAMPLING, [digest(bytes(1000))])
    cache.prune(cache.size()[1] // 2)
    assert set(held(cache)) == set(ids(0, 1))


def test_what_a_run_may_be_at_stays_however_much_it_is(cache: FrameCache) -> None:
    assert cache.get(SHAS[2], SAMPLING)
    cache.prune(0)
    assert held(cache) == ids(2)
    os.utime(cache._path(SHAS[2], SAMPLING), (0, time.time() - OLD_S - 1))
    cache.prune(0)
    assert cache.size() == (0, 0)


def test_what_was_written_under_a_clock_ahead_goes_once_there_is_no_room(cache: FrameCache) -> None:
    ahead = time.time() + 1000 * HOUR_S
    for sha in SHAS[:2]:
        os.utime(cache._path(sha, SAMPLING), (ahead, ahead))
    assert cache.get(SHAS[0], SAMPLING)
    cache.prune(0)
    assert held(cache) == ids(0)


def test_half_a_file_of_a_clock_ahead_is_swept(cache: FrameCache) -> None:
    part = cache.folder / SHAS[0][:2] / ".old.part"
    part.write_bytes(b"half")
    ahead = time.time() + 1000 * HOUR_S
    os.utime(part, (ahead, ahead))
    assert sweep(cache.folder) == 1


def test_a_cache_within_its_cap_loses_nothing(cache: FrameCache) -> None:
    assert cache.prune(cache.size()[1]) == []
    assert cache.prune() == []


def test_the_scenes_kept_beside_frames_count_and_go_with_the_rest(cache: FrameCache) -> None:
    beside = cache.folder / SHAS[0][:2] / f"{SHAS[0]}-1.scenes"
    beside.write_bytes(bytes(5000))
    os.utime(beside, (0, 0))
    before = cache.size()
    assert [entry.path for entry in cache.prune(before[1] - 1)] == [beside]
    assert cache.size() == (before[0] - 1, before[1] - 5000)


def test_nothing_but_entries_is_counted_or_removed(cache: FrameCache, tmp_path: Path) -> None:
    mine = cache.folder / "ab"
    aside = tmp_path / "aside.frames"
    mine.mkdir(exist_ok=True)
    others = [cache.folder / "notes.frames", mine / "notes.txt", aside]
    for path in others:
        path.write_text("mine")
        os.utime(path, (0, 0))
    (mine / "link.frames").symlink_to(aside)
    (cache.folder / "zz").symlink_to(tmp_path)
    before = cache.size()
    assert before[0] == 4
    cache.prune(0)
    assert all(path.exists() for path in others)
    assert (mine / "link.frames").is_symlink()


def test_files_left_half_written_go_once_nobody_can_be_writing_them(cache: FrameCache) -> None:
    fresh, old = (cache.folder / SHAS[0][:2] / name for name in (".fresh.part", ".old.part"))
    for path in (fresh, old):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert sweep(cache.folder) == 1
    assert (fresh.exists(), old.exists()) == (True, False)
    cache.prune()
    assert fresh.exists()


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    cache = FrameCache(tmp_path / "nowhere")
    assert cache.entries() == []
    assert cache.prune() == []


def test_the_cap_is_what_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said_bytes() is None
    assert 0 < share_of_disk(tmp_path / "nowhere") <= LARGEST
    monkeypatch.setenv("VIDEOAUTOARENA_CACHE_GB", "0.5")
    assert FrameCache(tmp_path).most_bytes() == 512 * 1024**2


@pytest.mark.parametrize("said", ["much", "-1", "nan", "inf", "1e12", "20GB"])
def test_a_cap_that_is_no_size_is_refused(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEOAUTOARENA_CACHE_GB", said)
    with pytest.raises(BadInput, match="such as 20"):
        FrameCache()


def full_for(times: int) -> Callable[..., Any]:
    """Return what stands where `os.replace` stands on a disk that is full so many times."""
    left = [times]
    move = os.replace

    def replace(*paths: Path) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        move(*paths)

    return replace


def test_on_a_full_disk_old_entries_make_room(
    cache: FrameCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.replace", full_for(1))
    cache.put(digest("new"), SAMPLING, sampled())
    assert held(cache) == [digest("new")[:12]]


def test_a_disk_that_stays_full_is_one_line_with_what_to_do(
    cache: FrameCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.replace", full_for(2))
    with pytest.raises(BadInput, match=r"arena cache clear.*nothing is lost") as told:
        cache.put(digest("new"), SAMPLING, sampled())
    assert "\n" not in str(told.value)
    assert not list(cache.folder.rglob("*.part"))


ONE = """
import sys
from pathlib import Path
from tests.video.sampling.test_eviction import SAMPLING, sampled
from videoautoarena.memory.records.digests import digest
from videoautoarena.video.sampling.cache import FrameCache

cache = FrameCache(Path(sys.argv[1]))
for turn in range(60):
    sha = digest(f"video {turn % 7}")
    cache.put(sha, SAMPLING, sampled(3000))
    found = cache.get(sha, SAMPLING)
    assert found in (None, sampled(3000).frames)
    cache.prune(4000, idle_s=0.0)
"""


@pytest.mark.slow
def test_processes_that_write_read_and_evict_at_once_never_see_half_an_entry(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", ONE, str(tmp_path)]
    here = Path(__file__).parents[3]
    together = [subprocess.Popen(command, cwd=here) for _ in range(2)]
    assert [process.wait() for process in together] == [0, 0]
    assert not list(tmp_path.rglob("*.part"))
    assert all(entry.size_bytes > 3000 for entry in FrameCache(tmp_path).entries())
