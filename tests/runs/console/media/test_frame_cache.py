"""`arena cache`: what it holds is told by video, and what goes is what was meant."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.typed import Terminal
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Frame, Sampling, VideoFrames
from videoautoarena.runs.console.media.frame_cache import (
    SHOWN,
    CachedVideo,
    CacheHoldings,
    age_text,
    bytes_text,
    seconds_of,
)
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.sampling.policies import Sampled

DAY_S = 86400.0
SHAS = [digest(f"video {number}") for number in range(3)]
IDS = [sha[:12] for sha in SHAS]


def sampled(size: int) -> Sampled:
    jpeg = bytes(size)
    frames = (Frame(time_s=0.0, digest=digest(jpeg)),)
    return Sampled(VideoFrames(video="v", width_px=4, height_px=2, frames=frames), (jpeg,))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FrameCache:
    """Three videos used a day apart, the last now and sampled twice; a spliced clip of long ago."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = FrameCache()
    for age, sha in zip((2, 1, 0), SHAS, strict=True):
        cache.put(sha, Sampling(), sampled(1000))
        used = time.time() - age * DAY_S
        os.utime(cache._path(sha, Sampling()), (used, used))
    cache.put(SHAS[2], Sampling(frames=8), sampled(500))
    spliced = FrameCache(cache.folder / "spliced")
    spliced.put(digest("a clip"), Sampling(), sampled(700))
    os.utime(spliced._path(digest("a clip"), Sampling()), (0, 0))
    return cache


def listed(terminal: Terminal) -> dict[str, Any]:
    said = terminal.arena("cache", "--json")
    assert (said.code, said.err) == (0, "")
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_it_is_told_by_video_what_was_used_last_first(
    cache: FrameCache, terminal: Terminal
) -> None:
    found = listed(terminal)
    assert [row["video"] for row in found["videos"]] == IDS[::-1]
    assert [row["entries"] for row in found["videos"]] == [2, 1, 1]
    assert (found["entries"], found["bytes"]) == cache.size()
    assert found["spliced"]["entries"] == 1
    assert 0 < found["bytes"] < found["most_bytes"]


def test_a_person_is_told_the_same(cache: FrameCache, terminal: Terminal) -> None:
    said = terminal.arena("cache")
    assert said.code == 0
    assert f"frame cache: {cache.folder}" in said.out
    assert "3 videos" in said.out
    assert max(map(len, said.out.splitlines()[1:])) < 80
    assert [line.split()[0] for line in said.out.splitlines()[-3:]] == IDS[::-1]
    assert said.out.splitlines()[-1].endswith("2 days ago")


def test_the_doctor_counts_as_many_videos(cache: FrameCache, terminal: Terminal) -> None:
    held = json.loads(terminal.arena("doctor", "--json").out)["cache"]
    assert (held["videos"], held["entries"]) == (3, cache.size()[0])
    assert held["bytes"] == listed(terminal)["bytes"]
    # The folder's path decides where the line is broken.
    assert "3 videos" in " ".join(terminal.arena("doctor").out.split())


def test_an_empty_cache_is_no_error(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nowhere"))
    assert listed(terminal)["videos"] == []
    assert "0 videos, 0 bytes" in terminal.arena("cache").out
    assert terminal.arena("cache", "clear").out == "removed 0 files, 0 bytes\n"


def test_a_long_list_is_cut_for_a_person_and_says_so() -> None:
    many = [CachedVideo(f"{n:012x}", 1, 1024, 0.0) for n in range(SHOWN + 5)]
    lines = list(CacheHoldings("folder\x1b[2J", 1 << 30, many, []).as_lines(now=0.0))
    assert lines[-1] == "  and 5 more; --json lists them all"
    assert "\x1b" not in lines[0]


def test_clearing_takes_everything_and_spliced_clips_too(
    cache: FrameCache, terminal: Terminal
) -> None:
    said = terminal.arena("cache", "clear", "--yes", "--json")
    told = json.loads(said.out)
    assert told["removed"] == 5
    assert told["bytes"] > 4200
    assert cache.size() == (0, 0)
    assert FrameCache(cache.folder / "spliced").size() == (0, 0)


def test_only_what_was_not_used_for_long_may_go(cache: FrameCache, terminal: Terminal) -> None:
    assert terminal.arena("cache", "clear", "--older-than", "36h", "--yes").code == 0
    assert [row["video"] for row in listed(terminal)["videos"]] == IDS[:0:-1]
    assert listed(terminal)["spliced"]["entries"] == 0


def test_only_the_videos_that_are_named_go(cache: FrameCache, terminal: Terminal) -> None:
    assert terminal.arena("cache", "clear", IDS[2], IDS[0][:6], "-y").code == 0
    assert [row["video"] for row in listed(terminal)["videos"]] == [IDS[1]]
    assert cache.size()[0] == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "would remove all frames: 5 files"),
        (["--older-than", "soon", "--yes"], "not an age"),
        (["../../etc", "--yes"], "not a video id"),
        (["abc", "--yes"], "not a video id"),
        (["0000000000", "--yes"], "has no frames of 0000000000"),
    ],
)
def test_what_cannot_be_meant_removes_nothing_and_is_one_line(
    cache: FrameCache, terminal: Terminal, words: list[str], reason: str
) -> None:
    said = terminal.arena("cache", "clear", *words)
    assert said.code == 1
    assert reason in said.err
    assert said.err.count("\n") == 1
    assert cache.size()[0] == 4


def test_a_cap_that_is_no_size_is_one_line(
    cache: FrameCache, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDEOAUTOARENA_CACHE_GB", "lots")
    said = terminal.arena("cache")
    assert (said.code, cache.size()[0]) == (1, 4)
    assert "VIDEOAUTOARENA_CACHE_GB is 'lots'" in said.err


@pytest.mark.parametrize(("age", "seconds"), [("90m", 5400), ("1.5h", 5400), ("2w", 14 * DAY_S)])
def test_ages_are_read(age: str, seconds: float) -> None:
    assert seconds_of(age) == seconds


@pytest.mark.parametrize("age", ["", "30", "d", "-1d", "1y", "1d2h", "nan d"])
def test_what_is_no_age_is_refused(age: str) -> None:
    with pytest.raises(BadInput, match="write 30d"):
        seconds_of(age)


def test_sizes_and_ages_are_told_in_words() -> None:
    assert [bytes_text(n) for n in (0, 1023, 1536, 5 << 30)] == [
        *("0 bytes", "1,023 bytes", "1.5 KiB", "5.0 GiB")
    ]
    assert [age_text(s) for s in (-1, 59, 60, 7200, DAY_S)] == [
        *("just now", "just now", "1 minute ago", "2 hours ago", "1 day ago")
    ]
