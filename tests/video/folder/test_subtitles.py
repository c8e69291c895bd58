"""Which files beside a video are its subtitles, in what encoding, and on which clock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.stamped import RECIPES, Recipe, encode, x264
from tests.support.titles import cue, titled, write_titles
from videoautoarena.memory.records.errors import UnusableSubtitles
from videoautoarena.memory.records.records import Frame, Video, VideoFrames
from videoautoarena.video.decode.index import first_shown_s
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.folder.subtitles import (
    LARGEST,
    SubtitleChoice,
    SubtitleFolder,
    decode_text,
)
from videoautoarena.video.sampling.thinning import thin

HELLO = cue(0.5, 1.5, "Hello.")
SPOKEN = "1\n00:00:01,000 --> 00:00:03,000\n{}\n"


def video(path: str = "clip.mp4", *, duration_s: float = 2.0) -> Video:
    return Video(
        id="0" * 12,
        sha256="0" * 64,
        path=path,
        size_bytes=1,
        duration_s=duration_s,
        width_px=1,
        height_px=1,
        fps=25.0,
        codec="h264",
    )


@pytest.fixture
def folder(clip: Callable[[str], Path], tmp_path: Path) -> Path:
    shutil.copy(clip("two seconds"), tmp_path / "clip.mp4")
    return tmp_path


def beside(folder: Path) -> SubtitleChoice:
    return SubtitleFolder(folder).beside(video())


def test_a_file_of_the_same_name_is_read(folder: Path) -> None:
    write_titles(folder / "clip.vtt", HELLO)
    found = beside(folder)
    assert found.track is not None
    assert (found.track.path, found.track.cues, found.unused) == ("clip.vtt", (HELLO,), [])


def test_of_several_files_the_choice_is_always_the_same(tmp_path: Path) -> None:
    best_first = [
        *("clip.srt", "clip.vtt", "clip.en.srt", "clip.en-US.srt", "clip.eng.vtt"),
        *("clip.de.srt", "clip.pt-BR.VTT", "clip.sdh.srt", "clip.en.forced.srt"),
    ]
    others = ["clip.part2.srt", "clip2.srt", "other.srt", "clip.txt", "clip.mp4.srt"]
    for name in [*best_first, *others]:
        (tmp_path / name).touch()
    assert SubtitleFolder(tmp_path).names("clip.mp4") == best_first


def test_only_files_in_the_same_folder_count(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "clip.srt").touch()
    assert SubtitleFolder(tmp_path).names("clip.mp4") == []
    assert SubtitleFolder(tmp_path).names("deep/clip.mp4") == ["deep/clip.srt"]
    assert SubtitleFolder(tmp_path).names("gone/clip.mp4") == []


def test_names_of_any_bytes_are_found(tmp_path: Path) -> None:
    stem = os.fsdecode(b"-a \xff'\n\"%d")
    (tmp_path / f"{stem}.srt").touch()
    assert SubtitleFolder(tmp_path).names(f"{stem}.mkv") == [f"{stem}.srt"]


def test_what_cannot_be_used_is_named_and_the_next_is_taken(folder: Path) -> None:
    (folder / "clip.srt").touch()
    os.mkfifo(folder / "clip.vtt")
    (folder / "clip.en.srt").write_text("<html>not found</html>")
    (folder / "clip.en.vtt").symlink_to("gone")
    (folder / "clip.fr.srt").mkdir()
    (folder / "clip.hu.srt").write_bytes(b"\0\1\2" * 9)
    (folder / "clip.it.srt").write_bytes(b" " * (LARGEST + 1))
    write_titles(folder / "clip.nl.srt", cue(7, 8, "too late"))
    write_titles(folder / "clip.pl.srt", HELLO)
    write_titles(folder / "clip.sv.srt", HELLO)
    found = beside(folder)
    assert found.track is not None
    assert (found.track.path, found.unused) == ("clip.pl.srt", ["clip.sv.srt"])
    assert {skipped.path: skipped.reason for skipped in found.skipped} == {
        "clip.srt": "is empty",
        "clip.vtt": "is a named pipe",
        "clip.en.srt": "holds no subtitles in the form of SubRip or WebVTT",
        "clip.en.vtt": "is a link that leads nowhere",
        "clip.fr.srt": "is a folder",
        "clip.hu.srt": "is no text",
        "clip.it.srt": "is larger than 4 MiB",
        "clip.nl.srt": "says nothing within the video's 2.00 s",
    }


def test_a_video_that_went_away_has_no_subtitles(tmp_path: Path) -> None:
    write_titles(tmp_path / "clip.srt", HELLO)
    (skipped,) = beside(tmp_path).skipped
    assert skipped.reason == "stands beside a video that is not there any more"


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8", "Grüße 視"),
        ("utf-8-sig", "Grüße 視"),
        ("utf-16", "Grüße 視"),
        ("utf-16-le", "Grüße 視"),
        ("utf-16-be", "Grüße 視"),
        ("utf-32", "Grüße 視"),
        ("latin-1", "He went to the café by the river."),
        ("latin-1", "Cela a été très difficile, même après Noël."),
        ("cp1252", "It’s “fine” – really."),
        ("cp1252", "¿Dónde está el niño? ¡Mañana será otro día!"),
        ("cp1251", "Привет, как дела? Сегодня хорошая погода."),
        ("cp1253", "Καλημέρα, τι κάνεις; Είμαι πολύ καλά σήμερα."),
        ("cp932", "こんにちは、お元気ですか。今日はいい天気ですね。"),
        ("gb18030", "你好，今天天气很好，我们一起去公园散步吧。"),
        ("big5", "你好，今天天氣很好，我們一起去公園散步吧。"),
        ("cp949", "안녕하세요, 오늘 날씨가 참 좋네요. 같이 산책해요."),
    ],
)
def test_several_encodings_are_read(encoding: str, words: str) -> None:
    text = SPOKEN.format(words)
    assert decode_text(text.encode(encoding))[0].lstrip("\ufeff") == text


@given(st.binary() | st.text().map(lambda text: text.encode("utf-16", "surrogatepass")))
def test_no_bytes_raise_anything_but_the_refusal(data: bytes) -> None:
    try:
        text, encoding = decode_text(data)
    except UnusableSubtitles:
        return
    assert isinstance(text, str)
    assert encoding


@pytest.mark.parametrize(
    "name", ["h264, short groups", "h264 in matroska", "h264 in ts", "mpeg4 in avi", "vp9"]
)
def test_a_clock_that_starts_anywhere_is_no_offset(clip: Callable[[str], Path], name: str) -> None:
    assert first_shown_s(clip(name)) == pytest.approx(0.0, abs=2 / RECIPES[name].rate + 0.001)


def test_cues_follow_a_video_that_starts_late(tmp_path: Path) -> None:
    late = Recipe("mkv", "libx264", x264(12), ticks=range(75, 125))
    encode(tmp_path / "clip.mkv", late)
    write_titles(tmp_path / "clip.srt", cue(1, 2, "before"), cue(3.5, 4.5, "Hello."))
    (found,) = find_videos(tmp_path).videos
    track = SubtitleFolder(tmp_path).beside(found).track
    assert track is not None
    assert track.cues == (HELLO,)


def spaced(count: int, *, step_s: float = 1.0) -> VideoFrames:
    frames = tuple(Frame(time_s=n * step_s, digest=f"{n}") for n in range(count))
    return VideoFrames(video="v", width_px=1, height_px=1, frames=frames)


def shown(frames: VideoFrames, count: int) -> list[str]:
    subtitles = thin(frames, count).subtitles
    return [cue.text for cue in subtitles.cues] if subtitles else []


def test_cues_are_thinned_with_the_frames() -> None:
    spoken = titled(spaced(9), *(cue(n + 0.2, n + 0.8, str(n)) for n in range(9)))
    assert shown(spoken, 9) == list("012345678")
    assert shown(spoken, 3) == list("048")
    assert shown(spoken, 2) == list("08")
    assert shown(spoken, 1) == ["0"]
    assert shown(spoken, 0) == []


def test_a_cue_is_shown_if_it_overlaps_the_stretch_of_a_frame_that_is_kept() -> None:
    # Of frames at 0, 1, ... 8 those at 0, 4 and 8 are kept: [0, 1), [4, 5) and [8, on).
    spoken = titled(
        spaced(9),
        cue(0.9, 2.0, "ends within another"),
        cue(2.0, 4.0, "over as the frame appears"),
        cue(3.0, 4.1, "reaches into it"),
        cue(4.0, 4.0, "an instant"),
        cue(5.0, 8.0, "between"),
        cue(9.5, 9.9, "after the last"),
    )
    told = ["ends within another", "reaches into it", "an instant", "after the last"]
    assert shown(spoken, 3) == told


@given(
    st.integers(1, 40),
    st.integers(0, 50),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 9))),
)
def test_nobody_reads_what_the_whole_set_of_frames_does_not_hold(
    total: int, count: int, spans: list[tuple[int, int]]
) -> None:
    cues = tuple(cue(s / 2, s / 2 + long / 2, str(n)) for n, (s, long) in enumerate(sorted(spans)))
    frames = titled(spaced(total), *cues)
    kept = shown(frames, count)
    ordered = [c.text for c in cues]
    assert kept == [text for text in ordered if text in set(kept)]
    if count >= total:
        assert kept == ordered
